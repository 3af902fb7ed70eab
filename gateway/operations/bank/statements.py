"""The statement of an account, page by page (contract 2.7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from operator import attrgetter

from gateway.domain.bank.capabilities import PortCall
from gateway.domain.bank.providers import Bank, Banks
from gateway.domain.bank.statements import Entry, Statement
from gateway.domain.kernel.single_flight import SingleFlight
from gateway.domain.kernel.windows import Search
from gateway.domain.requests.calls import Caller
from gateway.operations.bank.connections import bank_of, offered
from gateway.operations.bank.pages import every
from gateway.operations.bank.snapshots import Cut, Snapshots, snapshot_key
from gateway.telemetry.ports import Count, Event


class PageFrom(StrEnum):
    """Where a page of a statement came from."""

    WALK = "walk"
    SNAPSHOT = "snapshot"


@dataclass(frozen=True, slots=True)
class Statements:
    """
    Reads statements.

    The whole window is walked at the bank: only then is the total known, since what is not Pix
    is left out and banks give no totals. The first page always walks it; the pages behind it
    come from what that walk found, so that they and their totals agree.

    Attributes:
        count: Counts pages by where they came from, movements left out since they are not
            Pix, and windows too large to keep.
        snapshots: What was walked lately.
        walks: One at a time for a window of an account; callers that come meanwhile share it.
    """

    banks: Banks
    count: Count
    snapshots: Snapshots
    walks: SingleFlight[Sequence[Entry]] = field(default_factory=SingleFlight)

    async def read(self, caller: Caller, search: Search) -> Statement:
        """
        Return a page of Pix movements, newest first, with the balance now.

        Raises:
            NotSupported: the bank does not tell movements, or no balance.
            ProviderError: the bank gave no usable answer, also about the balance.
        """
        bank = bank_of(self.banks, caller.account)
        offered(bank, PortCall.LIST_STATEMENT)
        # First, for its wait would keep hundreds of movements alive for nothing.
        balance = await offered(bank, PortCall.GET_BALANCE).get_balance(bank.account)
        cut = await self._page(bank, search)
        return Statement(
            entries=tuple(cut.entries), paging=search.paging, total=cut.total, balance=balance
        )

    async def _page(self, bank: Bank, search: Search) -> Cut:
        """Cut a page from a snapshot, if it is not the first one and there is one."""
        paging, key = search.paging, snapshot_key(bank, search.window)
        kept = await self.snapshots.page(key, paging) if paging.offset else None
        came_from = PageFrom.WALK if kept is None else PageFrom.SNAPSHOT
        self.count(Event.STATEMENT_PAGE, f"{bank.name}.{came_from.value}")
        if kept is not None:
            return kept
        entries = await self.walks.do(key, lambda: self._walk(bank, search, key))
        return Cut(entries[paging.offset : paging.offset + paging.limit], len(entries))

    async def _walk(self, bank: Bank, search: Search, key: str) -> Sequence[Entry]:
        """
        Read the window whole, leave out what is not Pix, and keep it for later pages.

        Most windows are shown on one page: for those nothing is kept.
        """
        calls, size = offered(bank, PortCall.LIST_STATEMENT), bank.adapter.capabilities.largest_page
        entries = await every(
            lambda cursor: calls.list_statement(bank.account, search.window, cursor, size)
        )
        pix = [entry for entry in entries if entry.is_pix]
        for _ in range(len(entries) - len(pix)):
            self.count(Event.NOT_PIX, bank.name)
        pix.sort(key=attrgetter("created_at"), reverse=True)
        if len(pix) <= search.paging.limit:
            await self.snapshots.forget(key)
        elif not await self.snapshots.keep(key, pix):
            self.count(Event.STATEMENT_TOO_LARGE, bank.name)
        return pix
