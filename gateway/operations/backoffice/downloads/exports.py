"""Lists as files: every row of a search, in the order of the list, within a company scope."""

from __future__ import annotations

from dataclasses import dataclass, replace

from gateway.domain.backoffice.payout_search import FoundPayout, PayoutPlace, PayoutQuery
from gateway.domain.backoffice.request_log import (
    Cursor,
    LoggedRequest,
    RequestLog,
    RequestSearch,
)
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
from gateway.reports import requests as request_table


@dataclass(frozen=True, slots=True)
class Exports:
    """
    Writes lists as tables; raises ``StoreUnavailable`` as stores do, also on the way.

    Every page is read for itself, so nothing is locked meanwhile: a row stands in the file
    as it was when its page was read.
    """

    finder: PayoutFinder
    requests: RequestLog
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

    async def logged_requests(
        self, user_id: str, scope: CompanyScope, wanted: RequestSearch
    ) -> DownloadFile:
        """Write the requests of a search; ServiceError (429) where too many files are read."""

        async def read(place: Cursor | None) -> DownloadPage[LoggedRequest, Cursor]:
            behind = wanted if place is None else replace(wanted, before=place)
            found = await self.requests.export(behind, scope, ROWS_A_PAGE)
            is_last = len(found) < ROWS_A_PAGE
            after = None if is_last else Cursor(found[-1].at, found[-1].number)
            return DownloadPage(found, after)

        turn = self.turns.take(user_id)
        reader = DownloadReader(read=read, write=request_table.lines, turn=turn)
        return await reader.file(request_table.HEAD)
