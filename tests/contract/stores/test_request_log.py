"""The log of requests: filters, pages by place, refusals in groups; within companies."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from gateway.app.store import Store
from gateway.core.company_scope import EVERY_COMPANY
from gateway.core.windows import Paging
from gateway.request_log.model import (
    COUNTED_AT_MOST,
    Cursor,
    LoggedRequest,
    RefusalGroup,
    RequestSearch,
)
from gateway.request_log.store import RequestRecords
from gateway.store.kernel.old_rows import AT_ONCE
from tests.contract.stores.databases import both
from tests.contract.stores.lists import OURS, THEIRS
from tests.world.stores.office import REQUEST
from tests.world.stores.request_log import logged_at
from tests.world.stores.samples import ACCOUNT, COMPANY, NOW

SECOND = timedelta(seconds=1)
SEARCH = RequestSearch(paging=Paging(1, 100), since=NOW, until=NOW + timedelta(days=1))
REFUSED = replace(REQUEST, status=403, code="SVC.AUT.010", reason="scope", at=NOW + SECOND)
CHANGED = replace(
    REQUEST,
    at=NOW + 2 * SECOND,
    route="banking.payout_create",
    method="POST",
    account_id=ACCOUNT,
    duration_us=2_000_000,
)
STRANGER = replace(
    REQUEST, at=NOW + 3 * SECOND, status=401, code="SVC.AUT.010", reason="invalid",
    client_id="", company_id="",
)  # fmt: skip


async def found(store: Store, **filters: Any) -> list[LoggedRequest]:
    listed = await RequestRecords(store.database).search(replace(SEARCH, **filters), EVERY_COMPANY)
    assert listed.total == len(listed.items)
    return list(listed.items)


@both
@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"status_class": 4}, [STRANGER, REFUSED]),
        ({"status_class": 5}, []),
        ({"code": "SVC.AUT.010"}, [STRANGER, REFUSED]),
        ({"reason": "scope"}, [REFUSED]),
        ({"method": "POST"}, [CHANGED]),
        ({"account_id": ACCOUNT}, [CHANGED]),
        ({"client_id": REQUEST.client_id}, [CHANGED, REFUSED, REQUEST]),
        ({"route_text": "payout_"}, [CHANGED]),
        ({"route_text": "payout%"}, []),
        ({"slower_ms": 2_000}, [CHANGED]),
        ({"slower_ms": 2_001}, []),
    ],
)
async def test_requests_are_found_by_their_fields(
    store: Store, filters: dict[str, Any], expected: list[LoggedRequest]
):
    await RequestRecords(store.database).add([REQUEST, REFUSED, CHANGED, STRANGER])

    assert await found(store, **filters) == expected


@both
@pytest.mark.parametrize(
    ("times", "expected"),
    [
        ({}, [STRANGER, CHANGED, REFUSED, REQUEST]),
        ({"since": NOW + SECOND}, [STRANGER, CHANGED, REFUSED]),
        ({"until": NOW + SECOND}, [REQUEST]),
        ({"since": NOW + SECOND, "until": NOW + 3 * SECOND}, [CHANGED, REFUSED]),
    ],
    ids=["all times", "since", "until", "both"],
)
async def test_a_search_without_times_is_not_limited(
    store: Store, times: dict[str, Any], expected: list[LoggedRequest]
):
    await RequestRecords(store.database).add([REQUEST, REFUSED, CHANGED, STRANGER])

    assert await found(store, **{"since": None, "until": None, **times}) == expected


@both
async def test_the_next_page_starts_where_the_previous_page_ended(store: Store):
    """Also among requests of the same instant, and while newer ones arrive."""
    same = [replace(REQUEST, trace_id=str(number)) for number in range(5)]
    await RequestRecords(store.database).add(same)
    search = replace(SEARCH, paging=Paging(1, 2))

    seen: list[str] = []
    for _ in range(3):
        items = (await RequestRecords(store.database).search(search, EVERY_COMPANY)).items
        seen += [each.trace_id for each in items]
        await RequestRecords(store.database).add(
            [replace(REQUEST, trace_id="new", at=NOW + SECOND)]
        )
        place = Cursor(items[-1].at, items[-1].number)
        search = replace(search, before=Cursor.read(str(place)))

    assert seen == ["4", "3", "2", "1", "0"]
    assert (await RequestRecords(store.database).search(search, EVERY_COMPANY)).total == 0


@both
async def test_the_count_ends_at_its_maximum(store: Store, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("gateway.request_log.store.COUNTED_AT_MOST", 3)
    await RequestRecords(store.database).add([REQUEST] * 5)

    first = await RequestRecords(store.database).search(
        replace(SEARCH, paging=Paging(1, 2)), EVERY_COMPANY
    )
    last = await RequestRecords(store.database).search(
        replace(SEARCH, paging=Paging(3, 2)), EVERY_COMPANY
    )

    assert (len(first.items), first.total, len(last.items), last.total) == (2, 3, 1, 3)
    assert COUNTED_AT_MOST == 10_001


@both
async def test_refusals_are_counted_by_code_reason_and_credential(store: Store):
    again = replace(REFUSED, at=NOW + 5 * SECOND)
    await RequestRecords(store.database).add([REQUEST, REFUSED, again, STRANGER])
    log = RequestRecords(store.database)

    every = await log.summary(SEARCH, EVERY_COMPANY, 100)
    one = await log.summary(SEARCH, EVERY_COMPANY, 1)
    earlier = await log.summary(replace(SEARCH, until=again.at), EVERY_COMPANY, 1)

    ours = RefusalGroup(
        code="SVC.AUT.010", reason="scope", client_id=REQUEST.client_id, count=2,
        first_at=REFUSED.at, last_at=again.at,
    )  # fmt: skip
    assert every[0] == ours
    assert [(each.reason, each.count) for each in every] == [("scope", 2), ("invalid", 1)]
    assert list(one) == [ours]
    assert earlier[0].count == 1


@both
async def test_summary_and_export_hold_requests_in_scope_alone(store: Store):
    theirs = replace(REFUSED, company_id=THEIRS_ID, client_id="cli_b", trace_id="theirs")
    await RequestRecords(store.database).add([REFUSED, theirs, STRANGER])
    log = RequestRecords(store.database)

    groups = await log.summary(SEARCH, OURS, 100)
    exported = await log.export(SEARCH, THEIRS, 100)
    cut = await log.export(SEARCH, EVERY_COMPANY, 2)

    assert [(each.client_id, each.count) for each in groups] == [(REQUEST.client_id, 1)]
    assert list(exported) == [theirs]
    assert list(cut) == [STRANGER, theirs]


(THEIRS_ID,) = THEIRS.companies or ()
assert COMPANY != THEIRS_ID


async def test_any_number_of_old_rows_is_deleted(store: Store):
    """On SQLite; on PostgreSQL whole partitions are dropped."""
    await RequestRecords(store.database).add([logged_at(-each) for each in range(1, AT_ONCE + 6)])
    await RequestRecords(store.database).add([logged_at(0), logged_at(1)])

    forgotten = await RequestRecords(store.database).forget(NOW)

    assert forgotten == AT_ONCE + 5
    assert len(await found(store)) == 2


@both
async def test_page_reads_can_be_left_out_of_a_search(store: Store):
    """Except forms of the panel and refused requests."""
    page = replace(REQUEST, surface="panel_pages", route="panel_pages.overview", method="GET")
    read = replace(page, at=NOW + SECOND)
    sent = replace(read, method="POST", status=303, at=NOW + 2 * SECOND)
    refused = replace(read, status=403, at=NOW + 3 * SECOND)
    await RequestRecords(store.database).add([REQUEST, read, sent, refused])

    assert await found(store, pages=False) == [refused, sent, REQUEST]
    assert len(await found(store)) == 4
