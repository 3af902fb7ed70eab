"""A payout's movement in the bank's statement: what proves it where no answer does."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from gateway.domain.bank.capabilities import PortCall
from gateway.domain.bank.providers import Bank, Evidence, Phase, PixReturn, Settled
from gateway.domain.bank.statements import Direction, Entry
from gateway.domain.kernel.windows import LONGEST_DAYS, Window
from gateway.domain.payouts.payouts import Payout
from gateway.domain.payouts.returns import returns_in
from gateway.operations.bank.connections import offered

_CLOCKS_APART = timedelta(hours=1)
"""How far a bank's clock may be behind ours; movements older than that are not looked at."""

# What is looked for is among the newest; a bank may return fewer at once.
_PAGE = 200

# An answer without proof is better than a look that never ends; the next one tries again.
_MOST_PAGES = 50


async def evidence_in_statement(payout: Payout, bank: Bank, now: datetime) -> Settled | None:
    """
    Look for the payout's movement since it was created.

    It is the payout's when the amount is the same and the entry carries our
    provider key or the payout's end-to-end id; where neither can be told, the bank is not asked.
    What came back of it stands before it, for entries come newest first.

    Raises:
        ProviderError: the bank gave no usable answer.
    """
    can = bank.adapter.capabilities
    if not can.statement_proves(payout.e2e_id):
        return None
    oldest = payout.created_at - _CLOCKS_APART
    window, size = _window(oldest, now), min(_PAGE, can.largest_page)
    cursor: str | None = None
    calls = offered(bank, PortCall.LIST_STATEMENT)
    back: tuple[PixReturn, ...] = ()
    for _ in range(_MOST_PAGES):
        page = await calls.list_statement(bank.account, window, cursor, size)
        for entry in page.items:
            if _is_of(entry, payout):
                return replace(_settled(entry), returns=back)
            back += returns_in([entry], payout.provider_key)
            if entry.created_at < oldest:
                return None
        if (cursor := page.next_cursor) is None:
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
