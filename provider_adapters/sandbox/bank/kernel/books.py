"""What every part of the bank works on: its file, its clock, its randomness."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from provider_adapters.sandbox.bank.kernel import ledger
from provider_adapters.sandbox.bank.kernel.clock import BankClock, from_micros
from provider_adapters.sandbox.bank.kernel.database import Database

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

ISPB: Final = "99999999"
"""The sandbox bank's number at the central bank; given to no real bank."""
COMPE: Final = "999"
"""The sandbox bank's number in account coordinates."""

_SUFFIX_LENGTH = 11


@dataclass(frozen=True, slots=True, kw_only=True)
class Books:
    """
    The bank's books.

    Attributes:
        random_hex: Gives this many random bytes as hexadecimal text.
        settle_after: Microseconds from accepting a payout to settling it.
    """

    database: Database
    clock: BankClock
    random_hex: Callable[[int], str]
    settle_after: int

    def identifier(self, prefix: str) -> str:
        """Make an identifier of the bank's own: prefix and 16 characters."""
        return f"{prefix}_{self.random_hex(8)}"

    def e2e_id(self, at: int) -> str:
        """Make an end-to-end id: ``E``, ISPB, UTC minute, 11 characters (API Pix 2.9)."""
        suffix = self.random_hex(6)[-_SUFFIX_LENGTH:].upper()
        return f"E{ISPB}{from_micros(at):%Y%m%d%H%M}{suffix}"


def open_books(
    path: str,
    *,
    now: Callable[[], datetime],
    random_hex: Callable[[int], str],
    settle_after_s: float,
) -> Books:
    """Open the books kept in a file, or begin new ones there."""
    database = Database(path)
    ledger.open_house(database)
    return Books(
        database=database,
        clock=BankClock(now),
        random_hex=random_hex,
        settle_after=round(settle_after_s * 1_000_000),
    )
