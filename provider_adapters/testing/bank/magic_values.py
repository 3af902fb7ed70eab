"""
Magic values: amounts and keys that make the bank behave in a certain way.

The README has the table.
"""

from __future__ import annotations

from typing import Final

from provider_adapters.testing.bank.books import Books
from provider_adapters.testing.bank.messages import Code, Fault, FaultKind, Refusal

SETTLES_LATE: Final = 777_01
FAILS_LATER: Final = 777_02
REFUSED: Final = 777_03
NOT_ALLOWED: Final = 777_04
COMES_BACK: Final = 777_09
SETTLES_OTHERWISE: Final = 777_12

LATE_BY: Final = 30_000_000
"""Microseconds of bank clock until a late payout settles."""

KEY_UNKNOWN: Final = "notfound@example.com"
KEY_OF_ANOTHER: Final = "owner@example.com"
KEY_OVER_LIMIT: Final = "limit@example.com"
ACCOUNT_UNKNOWN: Final = "000000-0"
_REFUSED_KEYS: Final = {
    KEY_UNKNOWN: Code.KEY_NOT_FOUND,
    KEY_OF_ANOTHER: Code.OWNER_MISMATCH,
    KEY_OVER_LIMIT: Code.LIMIT_EXCEEDED,
}

_ON_THE_WIRE: Final = {
    777_05: Fault(fault=FaultKind.STATUS, status=500),
    777_06: Fault(fault=FaultKind.HANG_AFTER),
    777_07: Fault(fault=FaultKind.RESET_BEFORE),
    777_08: Fault(fault=FaultKind.MALFORMED),
    777_11: Fault(fault=FaultKind.STATUS, status=429),
}


def on_the_wire(centavos: int) -> Fault | None:
    """Return the fault of a payout of this amount, if any."""
    return _ON_THE_WIRE.get(centavos)


FATES: Final = {"settle_late": SETTLES_LATE, "fail_later": FAILS_LATER}
"""What may be ordered for the payout of one key, each with the amount that does the same."""


def plan(books: Books, centavos: int, at: int) -> tuple[str, int]:
    """Return the next step of an accepted payout or refund, and its time."""
    if centavos == SETTLES_LATE:
        return "settle", at + LATE_BY
    return "fail" if centavos == FAILS_LATER else "settle", at + books.settle_after


def refuse_amount(centavos: int) -> None:
    """Refuse a payout of a magic amount; raises ``REJECTED`` (400) or ``NOT_ALLOWED`` (403)."""
    if centavos == REFUSED:
        raise Refusal(Code.REJECTED, "the payout is refused")
    if centavos == NOT_ALLOWED:
        raise Refusal(Code.NOT_ALLOWED, "this account may not pay out")


def refuse_destination(key: str | None, account: str | None) -> None:
    """Refuse a payout to a magic destination; raises the code in the README's table."""
    code = Code.ACCOUNT_INVALID if account == ACCOUNT_UNKNOWN else _REFUSED_KEYS.get(key or "")
    if code:
        raise Refusal(code, "the bank refuses this recipient")
