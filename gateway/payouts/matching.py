"""A payout's movement in the bank's statement: what proves it where no answer does."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from gateway.banks.connections import offered
from gateway.banks.port.capabilities import PortCall
from gateway.banks.port.providers import Bank, Evidence, Phase, PixReturn, Settled
from gateway.banks.port.statements import Direction, Entry, MovementKind
from gateway.core.strict import is_e2e_id
from gateway.core.windows import LONGEST_DAYS, Window
from gateway.payouts.model import Payout

_CLOCKS_APART = timedelta(hours=1)
"""How far a bank's clock may be behind ours; movements older than that are not looked at."""

# What is looked for is among the newest; a bank may return fewer at once.
_PAGE = 200

# An answer without proof is better than a look that never ends; the next one tries again.
_MOST_PAGES = 50


CallPlace = Callable[[], AbstractAsyncContextManager[None]]
"""Entered for a call: waits until the bank may be asked, and is there for as long as it answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """
    How long one search may ask a bank, and when.

    Attributes:
        within_s: Seconds that the bank may take for all pages together; waits are not counted.
        ends_at: The loop's time at which the search ends, wherever it is; None for no such time.
        place: Entered for each page.
    """

    within_s: float
    ends_at: float | None = None
    place: CallPlace = nullcontext


class StatementSearch:
    """
    Looks for the movements of an account's payouts since the oldest was created, all in one walk.

    A movement is a payout's when the amount is the same and the entry carries our
    provider key or the payout's end-to-end id; where neither can be told, the bank is not asked.
    What came back of it stands before it, for entries come newest first.

    Attributes:
        found: The settlements seen so far, by provider key. They are proven however the walk
            ends: nothing that stands in a later page takes a movement back.
    """

    def __init__(self, payouts: Sequence[Payout], bank: Bank) -> None:
        """Ask nothing yet."""
        can = bank.adapter.capabilities
        self._bank = bank
        self._sought = _Sought([each for each in payouts if can.statement_proves(each.e2e_id)])

    @property
    def found(self) -> Mapping[str, Settled]:
        """Return what is proven."""
        return self._sought.found

    async def walk(self, now: datetime, asking: Asking) -> None:
        """
        Read the statement until everything is found or nothing more can be.

        Raises:
            ProviderError: the bank gave no usable answer.
            TimeoutError: its time is over.
        """
        if not self._sought.waiting:
            return
        window = _window(self._sought.oldest, now)
        async with asyncio.timeout_at(asking.ends_at):
            await self._read(window, asking)

    async def _read(self, window: Window, asking: Asking) -> None:
        """Read page after page, each in a place of its own."""
        bank, left_s, clock = self._bank, asking.within_s, asyncio.get_running_loop().time
        size = min(_PAGE, bank.adapter.capabilities.largest_page)
        calls, cursor = offered(bank, PortCall.LIST_STATEMENT), None
        for _ in range(_MOST_PAGES):
            async with asking.place():
                asked_at = clock()
                async with asyncio.timeout(left_s):
                    page = await calls.list_statement(bank.account, window, cursor, size)
                left_s -= clock() - asked_at
            cursor = page.next_cursor
            if self._sought.ends_in(page.items) or cursor is None:
                return


class _Sought:
    """
    Payouts whose movements are looked for.

    Attributes:
        waiting: Those not found yet, by provider key.
        found: Settlements of the others, by provider key.
        oldest: Since when movements are looked at.
    """

    def __init__(self, payouts: Sequence[Payout]) -> None:
        self.waiting = {each.provider_key: each for each in payouts}
        self.found: dict[str, Settled] = {}
        self._back: dict[str, list[Entry]] = {}
        self.oldest = self._since()
        self._by_e2e_id: dict[str, list[Payout]] = {}
        for each in payouts:
            if each.e2e_id:
                self._by_e2e_id.setdefault(each.e2e_id, []).append(each)

    def ends_in(self, entries: Iterable[Entry]) -> bool:
        """Look through a page; say whether what follows it shows nothing more."""
        for entry in entries:
            for payout in self._named(entry):
                if _is_of(entry, payout):
                    self._settle(entry, self.waiting.pop(payout.provider_key))
                elif entry.provider_key == payout.provider_key:
                    self._back.setdefault(entry.provider_key, []).append(entry)
            if not self.waiting or entry.created_at < self.oldest:
                return True
        return False

    def _named(self, entry: Entry) -> Sequence[Payout]:
        """Return the payouts, not found yet, that an entry may be of."""
        named = {each.provider_key for each in self._by_e2e_id.get(entry.e2e_id, ())}
        named.add(entry.provider_key)
        return [self.waiting[key] for key in named if key in self.waiting]

    def _settle(self, entry: Entry, payout: Payout) -> None:
        back = returns_in(self._back.pop(payout.provider_key, ()), payout.provider_key)
        self.found[payout.provider_key] = replace(_settled(entry), returns=back)
        self.oldest = self._since()

    def _since(self) -> datetime:
        """Return the instant before which no movement can be one of those that are waited for."""
        created = (each.created_at for each in self.waiting.values())
        return min(created, default=datetime.max.replace(tzinfo=UTC)) - _CLOCKS_APART


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


MOST = 100
"""Returns of one payout that are kept; a receiver sends money back in a few parts at most."""


def returns_in(entries: Iterable[Entry], provider_key: str) -> tuple[PixReturn, ...]:
    """
    Read the returns of a payout from movements of its account.

    A bank's entry is one if it repeats our key and names the return's own id.
    Without that id the same money could not be told from a second return.
    """
    return tuple(
        PixReturn(id=entry.e2e_id, value=entry.value, at=entry.created_at)
        for entry in entries
        if entry.provider_key == provider_key and is_return(entry)
    )


def is_return(entry: Entry) -> bool:
    """Say whether a movement is money of one of our payouts that came back."""
    came_in = entry.direction is Direction.CREDIT and entry.kind is MovementKind.PIX_RETURN
    return came_in and entry.provider_key != "" and is_return_id(entry.e2e_id)


def is_return_id(text: str) -> bool:
    """Say whether a text is a return's own id of the central bank's form."""
    return text.startswith("D") and is_e2e_id(text)
