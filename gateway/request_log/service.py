"""The request log: thirty days of redacted access lines, searched, counted, written as a file."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Final

from gateway.core.access import Staff, requires
from gateway.core.exports import ExportKind, Exports
from gateway.core.permissions import Action
from gateway.core.rights import Area
from gateway.core.windows import Listed
from gateway.payouts.documents import Orderer
from gateway.reports.files import ROWS_A_PAGE, DownloadFile, DownloadPage, DownloadReader
from gateway.request_log import report_file as request_table
from gateway.request_log.model import (
    COUNTED_AT_MOST,
    Cursor,
    LoggedRequest,
    RefusalGroup,
    RequestSearch,
)
from gateway.request_log.store import RequestRecords

_GROUPS_AT_MOST: Final = 100
"""Groups of refusals: more than anybody reads, and every code there is."""


@dataclass(frozen=True, slots=True)
class RequestLog:
    """The requests of companies in scope; ``exports`` counts files and lists of people."""

    records: RequestRecords
    exports: Exports

    @requires(Area.REQUEST_LOG, Action.READ)
    async def search(self, who: Staff, wanted: RequestSearch) -> Listed[LoggedRequest]:
        """
        Search the requests of the last thirty days, newest first.

        Raises:
            ServiceError: ``SVC.GTW.005`` (429) as ``Exports.show``.
        """
        found = await self.records.search(wanted, who.scope)
        await self.exports.show(who, len(found.items))
        return found

    @requires(Area.REQUEST_LOG, Action.READ)
    async def people(self, _who: Staff, ids: Collection[str]) -> Sequence[Orderer]:
        """Return the names of users who made requests that were read here."""
        return await self.records.people(ids)

    @requires(Area.REQUEST_LOG, Action.READ)
    async def summary(self, who: Staff, wanted: RequestSearch) -> Sequence[RefusalGroup]:
        """
        Count the refusals kept in the log by code, reason and credential.

        The 100 most frequent groups.
        """
        return await self.records.summary(wanted, who.scope, _GROUPS_AT_MOST)

    @requires(Area.REQUEST_LOG, Action.READ, also=Area.REPORT)
    async def export(self, who: Staff, wanted: RequestSearch) -> DownloadFile:
        """
        Read every request of a search as a table, newest first.

        Semicolons, decimal commas, time of Brasilia. Every page is read for itself, so nothing is
        locked meanwhile.

        Raises:
            ServiceError: 429 as ``Exports.begin`` and ``Export.take``.
        """
        export = await self.exports.begin(who, ExportKind.REQUESTS)

        async def read(place: Cursor | None) -> DownloadPage[LoggedRequest, Cursor]:
            behind = wanted if place is None else replace(wanted, before=place)
            found = await self.records.export(behind, who.scope, ROWS_A_PAGE)
            is_last = len(found) < ROWS_A_PAGE
            after = None if is_last else Cursor(found[-1].at, found[-1].number)
            return DownloadPage(found, after)

        reader = DownloadReader(read=read, write=request_table.lines, export=export)
        return await reader.file(request_table.HEAD)


def next_of(found: Listed[LoggedRequest]) -> str:
    """Return the position of the next page; empty without one."""
    paging, items = found.paging, found.items
    shown = paging.offset + len(items)
    if not items or len(items) < paging.limit or shown == found.total < COUNTED_AT_MOST:
        return ""
    return str(Cursor(items[-1].at, items[-1].number))
