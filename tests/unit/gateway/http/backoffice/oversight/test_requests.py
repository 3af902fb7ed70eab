"""The row of the request log."""

from __future__ import annotations

import pytest

from gateway.domain.backoffice.lists import LoggedRequest
from gateway.domain.identity.errors import VALIDATION_FAILED
from tests.unit.gateway.http.backoffice.registers import AdminWorld, taken
from tests.unit.gateway.http.backoffice.surface import line
from tests.unit.refusals import refusal_of
from tests.unit.standing import NOON


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


def test_the_row_is_the_one_decided():
    assert line("requests") == ("GET", "/requests", "request_log:read", 200)


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
