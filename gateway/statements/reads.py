"""The balance of an account, and its statement page by page (contract 2.3, 2.7)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from operator import attrgetter
from typing import Final

from gateway.banks.connections import bank_of, offered
from gateway.banks.lists import MOST_ITEMS, walked
from gateway.banks.port.capabilities import PortCall
from gateway.banks.port.providers import BadReply, Bank, Banks
from gateway.banks.port.statements import Balance, Entry
from gateway.core.account import Account
from gateway.core.single_flight import SingleFlight
from gateway.core.windows import Paging, Search, Window
from gateway.statements.model import Statement
from gateway.statements.snapshots import Cut, Snapshots, snapshot_key
from gateway.telemetry.ports import Count, Event

_WHOLE: Final = Paging(1, MOST_ITEMS)
_at: Final = attrgetter("created_at")
_FIRST: Final = datetime.min.replace(tzinfo=UTC)
_LAST: Final = datetime.max.replace(tzinfo=UTC)


# Looking a member up by its name costs Python 3.11 a call each time.
_GET_BALANCE: Final = PortCall.GET_BALANCE


async def balance_of(banks: Banks, account: Account) -> Balance:
    """Return the balance, always live; raises ``ProviderError`` without a usable answer."""
    bank = bank_of(banks, account)
    return await offered(bank, _GET_BALANCE).get_balance(bank.account)


def _uncharged() -> None:
    """Charge no quota for a page."""


@dataclass(slots=True)
class _Walk:
    """
    The kept part of a window during a walk; the rest is counted.

    Attributes:
        keep: Positions of the kept movements, from the newest on.
        total: Number of movements.
        ahead: Time of the oldest movement before the kept ones.
        behind: Time of the newest movement after the kept ones.
    """

    keep: range
    entries: list[Entry] = field(default_factory=list)
    total: int = 0
    ahead: datetime = _LAST
    behind: datetime = _FIRST

    def take(self, page: Sequence[Entry]) -> None:
        start, stop = (max(0, end - self.total) for end in (self.keep.start, self.keep.stop))
        self.total += len(page)
        self.entries += page[start:stop]
        self.ahead = min([self.ahead, *map(_at, page[:start])])
        self.behind = max([self.behind, *map(_at, page[stop:])])

    def cut(self) -> Cut:
        """Return the kept movements, newest first; raises ``BadReply`` if out of order."""
        self.entries.sort(key=_at, reverse=True)
        kept = self.entries
        if kept and not (self.ahead >= kept[0].created_at and kept[-1].created_at >= self.behind):
            problem = "not_newest_first"
            raise BadReply(problem)
        return Cut(kept, self.total)


@dataclass(frozen=True, slots=True)
class StatementReads:
    """
    Reads statements.

    The whole window is walked at the bank: only then is the total known, since partners see Pix
    alone and banks report no totals. The first page always walks it; the pages behind it come from
    the result of that walk, so that they and their totals agree. Of a window with more than 100,000
    movements only the newest are held in memory: it is walked for each page, and once more for a
    page behind those, which must come newest first then.

    Attributes:
        count: Counts pages by where they came from, movements that partners are not told
            since they are not Pix, and windows too large to keep.
        snapshots: Recently walked windows.
        walks: One at a time for a window of an account; callers that come meanwhile share it.
    """

    banks: Banks
    count: Count
    snapshots: Snapshots
    walks: SingleFlight[Cut] = field(default_factory=SingleFlight)

    async def read(
        self, account: Account, search: Search, further: Callable[[], None] = _uncharged
    ) -> Statement:
        """
        Return a page of Pix movements, newest first, with the balance now.

        ``further`` is called for each page of the bank that is fetched for this caller behind
        the first of a walk; pages of a walk that another caller began cost nothing.

        Raises:
            NotSupported: the bank lists no movements, or no balance.
            ProviderError: the bank gave no usable answer, also about the balance.
        """
        bank = bank_of(self.banks, account)
        offered(bank, PortCall.LIST_STATEMENT)
        # First, for its wait would keep hundreds of movements alive for nothing.
        balance = await offered(bank, PortCall.GET_BALANCE).get_balance(bank.account)
        cut = await self._page(bank, search, further)
        return Statement(
            entries=tuple(cut.entries), paging=search.paging, total=cut.total, balance=balance
        )

    async def window(self, account: Account, window: Window, *, fresh: bool) -> Sequence[Entry]:
        """
        Return every movement of a window, Pix or not, newest first.

        ``fresh`` queries the bank; otherwise a recent walk serves, if it was kept.

        Raises:
            NotSupported: the bank lists no movements.
            ProviderError: the bank gave no usable answer; ``BadReply`` for a window of more than
                100,000 movements.
        """
        bank = bank_of(self.banks, account)
        offered(bank, PortCall.LIST_STATEMENT)
        key = snapshot_key(bank, window, pix_only=False)
        kept = None if fresh else await self.snapshots.page(key, _WHOLE)
        came_from = "walk" if kept is None else "snapshot"
        self.count(Event.STATEMENT_PAGE, f"{bank.name}.{came_from}")
        if kept is not None:
            return kept.entries
        # one a page, so that what is walked is kept for the pages behind the first
        search = Search(window, Paging(1, 1))
        whole = await self.walks.do(key, lambda: self._walk(bank, search, key, pix_only=False))
        if whole.total > len(whole.entries):
            problem = "too_many_items"
            raise BadReply(problem)
        return whole.entries

    async def _page(self, bank: Bank, search: Search, further: Callable[[], None]) -> Cut:
        """Cut a later page from a snapshot, if there is one."""
        paging, key = search.paging, snapshot_key(bank, search.window, pix_only=True)
        kept = await self.snapshots.page(key, paging) if paging.offset else None
        came_from = "walk" if kept is None else "snapshot"
        self.count(Event.STATEMENT_PAGE, f"{bank.name}.{came_from}")
        if kept is not None:
            return kept
        found = await self.walks.do(key, lambda: self._walk(bank, search, key, further))
        page = range(paging.offset, min(paging.offset + paging.limit, found.total))
        if page.stop <= len(found.entries) or not page:
            return Cut(found.entries[page.start : page.stop], found.total)
        far = f"{key}/{page.start}/{page.stop}"
        return await self.walks.do(far, lambda: self._walked(bank, search.window, page, further))

    async def _walk(
        self,
        bank: Bank,
        search: Search,
        key: str,
        further: Callable[[], None] = _uncharged,
        *,
        pix_only: bool = True,
    ) -> Cut:
        """
        Read the window whole, and keep it for later pages.

        Most windows are shown on one page: for those nothing is kept.
        """
        found = await self._walked(
            bank, search.window, range(MOST_ITEMS), further, pix_only=pix_only
        )
        if found.total <= search.paging.limit:
            await self.snapshots.forget(key)
        elif not await self._keep(key, found):
            self.count(Event.STATEMENT_TOO_LARGE, bank.name)
        return found

    async def _keep(self, key: str, found: Cut) -> bool:
        """Keep a window for later pages; False when it is too large, and then nothing is kept."""
        if found.total == len(found.entries):
            return await self.snapshots.keep(key, found.entries)
        await self.snapshots.forget(key)
        return False

    async def _walked(
        self,
        bank: Bank,
        window: Window,
        keep: range,
        further: Callable[[], None],
        *,
        pix_only: bool = True,
    ) -> Cut:
        """Walk a window, and return the entries at some positions, of all or of Pix."""
        calls, size = offered(bank, PortCall.LIST_STATEMENT), bank.adapter.capabilities.largest_page
        walk = _Walk(keep)
        async for page in walked(
            lambda cursor: calls.list_statement(bank.account, window, cursor, size)
        ):
            taken = [entry for entry in page.items if entry.is_pix or not pix_only]
            for _ in range(len(page.items) - len(taken)):
                self.count(Event.NOT_PIX, bank.name)
            walk.take(taken)
            if page.next_cursor is not None:
                further()
        return walk.cut()
