"""The row of the request log."""

from __future__ import annotations

import pytest

from gateway.domain.backoffice.request_log import COUNTED_AT_MOST, LoggedRequest
from gateway.domain.identity.errors import VALIDATION_FAILED
from gateway.domain.kernel.windows import Paging
from gateway.http.backoffice.oversight.requests import next_of
from gateway.operations.bank.pages import Listed
from tests.unit.gateway.http.backoffice.registers import AdminWorld, taken
from tests.unit.gateway.http.backoffice.surface import line
from tests.unit.refusals import refusal_of
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


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("requests", "/requests"),
        ("requests_summary", "/requests/summary"),
        ("requests_export", "/requests/export"),
    ],
)
def test_the_rows_are_those_decided(name: str, path: str):
    assert line(name) == ("GET", path, "request_log:read", 200)


@pytest.mark.parametrize(
    "query",
    [{"status_class": ["6"]}, {"status_class": ["4xx"]}, {"before": ["x"]}, {"slower_ms": ["-1"]}],
)
@pytest.mark.parametrize("name", ["requests", "requests_summary", "requests_export"])
def test_a_filter_of_another_form_is_refused(name: str, query: dict[str, list[str]]):
    assert refusal_of(lambda: taken(name, query=query)) is VALIDATION_FAILED


def test_the_next_page_is_told_while_there_is_one():
    def listed(shown: int, total: int, page: int = 1) -> Listed[LoggedRequest]:
        return Listed(items=[logged("")] * shown, paging=Paging(page, 2), total=total)

    assert next_of(listed(2, 3))
    assert next_of(listed(2, COUNTED_AT_MOST))
    assert next_of(listed(2, 4, page=2)) == ""
    assert next_of(listed(1, 1)) == next_of(listed(0, 0)) == ""


@pytest.mark.parametrize("status", ["2000", "20", "abc", "-20", "٢٠٠"])
def test_a_status_has_three_digits(status: str):
    assert refusal_of(lambda: taken("requests", query={"status": [status]})) is VALIDATION_FAILED


async def test_who_is_limited_sees_their_companies_requests(admin_world: AdminWorld):
    store = admin_world.office.store.office.requests
    await store.add([logged("ours"), logged("theirs"), logged("")])
    acts, wanted = admin_world.oversight, taken("requests", query={"route": ["banking.balance"]})

    everything = await acts.search_requests(admin_world.staff().scope, wanted)
    mine = await acts.search_requests(admin_world.staff("ours").scope, wanted)

    assert everything.total == 3
    assert [each.company_id for each in mine.items] == ["ours"]
