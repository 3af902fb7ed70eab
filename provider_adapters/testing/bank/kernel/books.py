"""
What every part of a simulated bank works with: its database, name, clock and randomness.

Amounts are centavos; instants are microseconds since 1970.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from provider_adapters.testing.bank.kernel.clock import BankClock, from_micros
from provider_adapters.testing.bank.kernel.database import Database

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

_SUFFIX_LENGTH = 11


@dataclass(frozen=True, slots=True, kw_only=True)
class BankIdentity:
    """
    Who a simulated bank is.

    Attributes:
        name: As the directory of keys shows it.
        ispb: Eight characters; in every end-to-end id that it makes.
        compe: Three digits.
        host: Of the addresses in its BR Codes; such as ``pix.bank.example``.
    """

    name: str
    ispb: str
    compe: str
    host: str


SANDBOX: Final = BankIdentity(
    name="Banco Sandbox S.A.", ispb="99999999", compe="999", host="pix.sandbox.example"
)
"""No real bank has these numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Books:
    """
    The bank's database with its name, clock and randomness.

    Attributes:
        random_hex: Returns this many random bytes as hexadecimal text.
        settle_after: From accepting a payout to settling it.
    """

    database: Database
    clock: BankClock
    random_hex: Callable[[int], str]
    settle_after: int
    identity: BankIdentity = SANDBOX

    def identifier(self, prefix: str) -> str:
        """Create an identifier: prefix and 16 hexadecimal characters."""
        return f"{prefix}_{self.random_hex(8)}"

    def e2e_id(self, at: int) -> str:
        """Create an end-to-end id: ``E``, ISPB, UTC minute, 11 characters (API Pix 2.9)."""
        suffix = self.random_hex(6)[-_SUFFIX_LENGTH:].upper()
        return f"E{self.identity.ispb}{from_micros(at):%Y%m%d%H%M}{suffix}"


def open_books(
    path: str,
    *,
    now: Callable[[], datetime],
    random_hex: Callable[[int], str],
    settle_after_s: float,
    identity: BankIdentity = SANDBOX,
) -> Books:
    """Open the database file, creating it when missing."""
    return Books(
        database=Database(path),
        clock=BankClock(now),
        random_hex=random_hex,
        settle_after=round(settle_after_s * 1_000_000),
        identity=identity,
    )
