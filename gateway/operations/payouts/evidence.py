"""Evidence of a payout in the bank's statement, where a direct look-up tells nothing."""

from __future__ import annotations

from datetime import datetime, timedelta

from gateway.domain.bank.providers import Bank, Evidence, Phase, Settled
from gateway.domain.bank.statements import Direction, Entry
from gateway.domain.kernel.windows import LONGEST_DAYS, Window
from gateway.domain.payouts.payouts import Payout

_CLOCKS_APART = timedelta(hours=1)
"""How far a bank's clock may be behind ours; movements older than that are not looked at."""

_PAGE = 200
_MOST_PAGES = 50


async def evidence_in_statement(payout: Payout, bank: Bank, now: datetime) -> Settled | None:
    """
    Look for the payout's movement since it was created.

    It is the payout's when the amount is the same and the entry carries our
    provider key or the payout's end-to-end id; an amount alone proves nothing.

    Raises:
        ProviderError: the bank gave no usable answer.
    """
    oldest = payout.created_at - _CLOCKS_APART
    window = _window(oldest, now)
    cursor: str | None = None
    for _ in range(_MOST_PAGES):
        page = await bank.adapter.list_statement(bank.account, window, cursor, _PAGE)
        for entry in page.items:
            if _is_of(entry, payout):
                return _settled(entry)
            if entry.created_at < oldest:
                return None
        cursor = page.next_cursor
        if cursor is None:
            return None
    return None


def _window(since: datetime, now: datetime) -> Window:
    """Cover the days since then, at most as many as a window has."""
    last = max(now.date(), since.date())
    first = max(since.date(), last - timedelta(days=LONGEST_DAYS - 1))
    return Window(first, last)


def _is_of(entry: Entry, payout: Payout) -> bool:
    """Say whether a movement is the payout's."""
    if entry.direction is not Direction.DEBIT or entry.value != payout.value:
        return False
    same_key = entry.provider_key != "" and entry.provider_key == payout.provider_key
    return same_key or (entry.e2e_id != "" and entry.e2e_id == payout.e2e_id)


def _settled(entry: Entry) -> Settled:
    """Read a movement as the settlement it proves."""
    return Settled(
        evidence=Evidence(phase=Phase.ANSWERED, bytes_left=True, reason="statement"),
        value=entry.value,
        provider_id=entry.provider_id,
        e2e_id=entry.e2e_id,
        settled_at=entry.created_at,
    )
