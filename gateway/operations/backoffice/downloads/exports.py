"""Lists as files: every row of a search, in the order of the list, within a company scope."""

from __future__ import annotations

from dataclasses import dataclass, replace

from gateway.domain.backoffice.payout_search import FoundPayout, PayoutPlace, PayoutQuery
from gateway.domain.kernel.company_scope import CompanyScope
from gateway.operations.backoffice.downloads.files import (
    ROWS_A_PAGE,
    DownloadFile,
    DownloadPage,
    DownloadReader,
    Turns,
)
from gateway.operations.backoffice.payout_finder import PayoutFinder
from gateway.reports import payouts as payout_table


@dataclass(frozen=True, slots=True)
class Exports:
    """
    Writes lists as tables; raises ``StoreUnavailable`` as stores do, also on the way.

    Every page is read for itself, so nothing is locked meanwhile: a row stands in the file
    as it was when its page was read.
    """

    finder: PayoutFinder
    turns: Turns

    async def payouts(self, user_id: str, scope: CompanyScope, wanted: PayoutQuery) -> DownloadFile:
        """Write the payouts of a search; ServiceError (429) where too many files are read."""
        query = replace(self.finder.dated(wanted), limit=ROWS_A_PAGE)

        async def read(place: PayoutPlace | None) -> DownloadPage[FoundPayout, PayoutPlace]:
            page = await self.finder.directory.page(replace(query, after=place), scope)
            return DownloadPage(page.payouts, page.after)

        turn = self.turns.take(user_id)
        reader = DownloadReader(read=read, write=payout_table.lines, turn=turn)
        return await reader.file(payout_table.HEAD)
