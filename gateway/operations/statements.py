"""The movements of an account."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter

from gateway.domain.calls import Caller
from gateway.domain.providers import BadReply, Bank, Banks
from gateway.domain.statements import Entry, Statement
from gateway.domain.windows import Search, Window
from gateway.operations.connections import bank_of

_PAGE = 200
_MOST_PAGES = 500


@dataclass(frozen=True, slots=True)
class Statements:
    """
    Reads statements from the bank.

    Attributes:
        left_out: Told the provider's name for each movement that is not Pix.

    Source: contract 2.7.
    """

    banks: Banks
    left_out: Callable[[str], None]

    async def read(self, caller: Caller, search: Search) -> Statement:
        """
        Return a page of Pix movements, newest first, with the balance now.

        The whole window is read from the bank: only then is the total known,
        since what is not Pix is left out and banks give no totals.

        Raises:
            ProviderError: the bank does not tell, the balance included.
        """
        bank = bank_of(self.banks, caller.account)
        # First, for its wait would keep hundreds of movements alive for nothing.
        balance = await bank.adapter.get_balance(bank.account)
        entries = await self._pix_entries(bank, search.window)
        paging = search.paging
        page = entries[paging.offset : paging.offset + paging.limit]
        return Statement(entries=tuple(page), paging=paging, total=len(entries), balance=balance)

    async def _pix_entries(self, bank: Bank, window: Window) -> list[Entry]:
        """Walk the bank's pages; one that never ends is a bad reply."""
        entries: list[Entry] = []
        cursor: str | None = None
        for _ in range(_MOST_PAGES):
            page = await bank.adapter.list_statement(bank.account, window, cursor, _PAGE)
            pix = [entry for entry in page.items if entry.is_pix]
            entries += pix
            for _ in range(len(page.items) - len(pix)):
                self.left_out(bank.name)
            cursor = page.next_cursor
            if cursor is None:
                return sorted(entries, key=attrgetter("created_at"), reverse=True)
        problem = "endless_statement"
        raise BadReply(problem)
