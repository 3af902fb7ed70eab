"""Requests, searched and written as a file within a scope."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

import pytest

from gateway.core.company_scope import CompanyScope
from gateway.core.windows import Listed, Paging
from gateway.reports.files import ROWS_A_PAGE, DownloadFile
from gateway.request_log.model import COUNTED_AT_MOST, LoggedRequest, RequestSearch
from gateway.request_log.service import RequestLog, next_of
from gateway.request_log.store import RequestRecords
from tests.unit.gateway.http.registers import AdminWorld, taken
from tests.world.acts import reader
from tests.world.exports import exports
from tests.world.standing import NOON


def logged(company_id: str) -> LoggedRequest:
    return LoggedRequest(
        at=NOON,
        trace_id="t",
        surface="banking",
        route="banking.balance",
        status=200,
        code="",
        client_id="",
        user_id="",
        company_id=company_id,
        line="{}",
    )


def test_a_page_has_a_cursor_only_when_there_is_a_next_page():
    def listed(shown: int, total: int, page: int = 1) -> Listed[LoggedRequest]:
        return Listed(items=[logged("")] * shown, paging=Paging(page, 2), total=total)

    assert next_of(listed(2, 3))
    assert next_of(listed(2, COUNTED_AT_MOST))
    assert next_of(listed(2, 4, page=2)) == ""
    assert next_of(listed(1, 1)) == next_of(listed(0, 0)) == ""


async def test_a_user_limited_to_companies_sees_only_their_requests(admin_world: AdminWorld):
    records = RequestRecords(admin_world.office.store.database)
    await records.add([logged("ours"), logged("theirs"), logged("")])
    log = RequestLog(records, exports())
    wanted = taken("requests", query={"route": ["banking.balance"]})["wanted"]

    everything = await log.search(admin_world.staff().staff, wanted)
    mine = await log.search(admin_world.staff("ours").staff, wanted)

    assert everything.total == 3
    assert [each.company_id for each in mine.items] == ["ours"]


@dataclass
class Records:
    """So many requests, one a second, the newest first; notes what was asked."""

    count: int
    asked: list[tuple[RequestSearch, CompanyScope]] = field(default_factory=list)

    async def export(
        self, search: RequestSearch, scope: CompanyScope, most: int
    ) -> Sequence[LoggedRequest]:
        self.asked.append((search, scope))
        first = 0 if search.before is None else search.before.number + 1
        every = range(first, min(first + most, self.count))
        return [
            replace(logged(""), trace_id=f"o-{n}", number=n, at=NOON - timedelta(seconds=n))
            for n in every
        ]


async def read(file: DownloadFile) -> list[str]:
    rest = [] if file.rest is None else [piece async for piece in file.rest]
    text = b"".join([file.first, *rest]).decode("utf-8-sig")
    return [
        each["Rastreio (trace ID)"]
        for each in csv.DictReader(io.StringIO(text, newline=""), delimiter=";")
    ]


@pytest.mark.parametrize("count", [0, 1, ROWS_A_PAGE, ROWS_A_PAGE + 1, 3 * ROWS_A_PAGE])
async def test_an_export_has_every_request_once_in_order(count: int):
    """Each page uses the scope and the filter."""
    records: Any = Records(count)
    search, scope = RequestSearch(paging=Paging(1, 1), since=NOON), CompanyScope(frozenset({"c"}))

    file = await RequestLog(records, exports()).export(reader(scope), search)

    assert await read(file) == [f"o-{number}" for number in range(count)]
    assert {asked_scope for _, asked_scope in records.asked} == {scope}
    assert {replace(asked, before=None) for asked, _ in records.asked} == {search}
