"""The row of callbacks received."""

from __future__ import annotations

from gateway.domain.callbacks import Callback, CallbackKind, CallbackState
from gateway.domain.office_stores import CallbackSearch
from gateway.domain.windows import Paging
from gateway.http.operator.management.webhooks import WebhookActs
from tests.unit.gateway.http.operator.management.stage import Stage, taken, turned_down
from tests.unit.gateway.http.operator.stage import line
from tests.unit.standing import NOON


def test_the_row_is_the_one_decided():
    assert line("webhooks") == ("GET", "/webhooks", "webhook:read", 200)


def test_filters_are_read():
    wanted = taken("webhooks", query={"kind": ["payout"], "state": ["done"], "provider": ["p"]})

    assert wanted == CallbackSearch(
        paging=Paging(1, 25), provider="p", kind=CallbackKind.PAYOUT, state=CallbackState.DONE
    )


async def test_a_page_is_shown_to_people_of_all_companies(stage: Stage):
    acts = WebhookActs(stage.office.store.office.callbacks)
    told = Callback(
        id="1",
        provider="p",
        event="e",
        kind=CallbackKind.OTHER,
        subject="",
        received_at=NOON,
        body=b"\xff",
    )
    await stage.office.store.office.callbacks.add(told)

    page = await acts.search(stage.staff(), CallbackSearch(paging=Paging(1, 25)))

    assert (page.total, list(page.items)) == (1, [told])
    refused = acts.search(stage.staff("c"), CallbackSearch(paging=Paging(1, 25)))
    assert await turned_down(refused) == "403 FORBIDDEN"
