"""Endpoints: who adds and changes one, and what holds until it answers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import select

from gateway.core.access import Staff
from gateway.core.approvals import Approval, ApprovalState, Outcome
from gateway.core.audit_context import RuleViolation
from gateway.core.errors import ServiceError
from gateway.core.windows import Paging
from gateway.endpoints.model import (
    MOST_OF_COMPANY,
    Endpoint,
    EndpointChange,
    EndpointRotation,
    EndpointSearch,
    EndpointState,
    PauseCause,
)
from gateway.events.model import EventType
from gateway.store.tables.core import endpoints
from tests.unit.gateway.endpoints.conftest import URL, Desk

NEW = "https://elsewhere.example.com/pix"
ABSENT = "0b7d7e4a-9e0e-4a3c-8f5e-3c1f0a9b2c01"
PAID = (EventType.PAYOUT_PAID,)
AT_ONCE = EndpointRotation(overlap_s=0)
DAY = timedelta(hours=24)


async def waiting(ordered: Awaitable[object]) -> Approval:
    order = await ordered
    assert isinstance(order, Approval)
    return order


async def actions(desk: Desk) -> list[str]:
    return [each.action for each in await desk.office.acts() if "endpoint." in each.action]


async def test_one_person_alone_adds_no_endpoint(desk: Desk):
    order = await waiting(desk.endpoints.add(desk.maria, desk.wanted()))

    with pytest.raises(ServiceError):
        await desk.collect(order)
    with pytest.raises(ServiceError):
        await desk.people.approvals.approve(desk.maria, order.id)

    assert await desk.every() == []


async def test_two_people_add_one_and_its_secret_is_collected_once(desk: Desk):
    order = await waiting(desk.endpoints.add(desk.maria, desk.wanted(types=PAID)))
    approved = await desk.people.approve(order)
    with pytest.raises(ServiceError):
        await desk.collect(order, "joao")

    made = await desk.collect(order)

    with pytest.raises(ServiceError):
        await desk.collect(order)
    assert approved.outcome is Outcome.NONE
    assert await desk.every() == [made.endpoint]
    assert (made.endpoint.state, made.endpoint.types) == (EndpointState.PENDING, PAID)
    assert made.endpoint.created_by == "user:maria@example.com"
    assert await desk.records.secrets(made.endpoint.id, desk.office.clock()) == [made.secret]


async def test_an_order_of_an_endpoint_gives_no_credential(desk: Desk):
    order = await waiting(desk.endpoints.add(desk.maria, desk.wanted()))
    await desk.people.approve(order)

    with pytest.raises(ServiceError) as refused:
        await desk.people.collect(order)

    assert refused.value.reason == "no_secret"
    assert await desk.people.every() == []


async def test_a_secret_is_stored_sealed_and_said_nowhere_else(desk: Desk):
    made = await desk.added()
    column = select(endpoints.c.sealed_secret)

    [row] = await desk.office.store.database.rows(column)

    assert made.secret.encode() not in row.sealed_secret
    said = repr(await desk.office.acts()) + repr(await desk.every()) + repr(made)
    assert made.secret not in said + repr(await desk.mails())


async def test_a_change_waits_and_the_second_person_sees_what_it_replaces(desk: Desk):
    before = await desk.active(types=PAID)
    wanted = EndpointChange(url=NEW)

    order = await waiting(desk.endpoints.change(desk.maria, before.id, wanted))

    assert await desk.found(before) == before
    shown = await desk.people.approvals.get(desk.people.staff("joao"), order.id)
    assert shown.order == {
        "endpoint_id": before.id,
        "url": NEW,
        "types": [],
        "account_ids": [],
        "url_before": URL,
        "types_before": ["payout.paid"],
        "account_ids_before": [],
    }
    assert (await desk.people.approve(order)).outcome is Outcome.DONE
    after = await desk.found(before)
    assert (after.url, after.types, after.state) == (NEW, (), EndpointState.PENDING)


async def test_other_types_and_accounts_keep_an_endpoint_active(desk: Desk):
    before = await desk.active()
    account = await desk.office.account(desk.company)
    wanted = EndpointChange(url=URL, types=(*PAID, *PAID), account_ids=(account.id.upper(),))

    after = await desk.endpoints.change(desk.shell, before.id, wanted)

    assert isinstance(after, Endpoint)
    assert (after.state, after.types, after.account_ids) == (
        EndpointState.ACTIVE,
        PAID,
        (account.id,),
    )
    assert await desk.found(before) == after


async def test_an_order_is_void_once_the_endpoint_has_changed(desk: Desk):
    before = await desk.active()
    order = await waiting(desk.endpoints.change(desk.maria, before.id, EndpointChange(url=NEW)))
    await desk.endpoints.change(desk.shell, before.id, EndpointChange(url=URL, types=PAID))

    with pytest.raises(ServiceError):
        await desk.people.approve(order)

    found = await desk.people.approvals.find(desk.maria, order.id)
    assert (found.state, found.reason) == (
        ApprovalState.VOID,
        "The endpoint has been changed since.",
    )
    assert (await desk.found(before)).url == URL


async def test_a_change_to_the_present_values_is_not_ordered(desk: Desk):
    before = await desk.active()

    assert await desk.endpoints.change(desk.maria, before.id, EndpointChange(url=URL)) == before


async def test_a_new_secret_waits_and_both_sign_for_a_day(desk: Desk):
    made = await desk.added()
    order = await waiting(desk.endpoints.rotate(desk.maria, made.endpoint.id, EndpointRotation()))
    await desk.people.approve(order)

    new = await desk.collect(order)

    at = desk.office.clock()
    sign = desk.records.secrets
    assert new.secret != made.secret
    assert await sign(made.endpoint.id, at) == [new.secret, made.secret]
    assert await sign(made.endpoint.id, at + DAY - timedelta(seconds=1)) == [
        new.secret,
        made.secret,
    ]
    assert await sign(made.endpoint.id, at + DAY) == [new.secret]


async def test_a_third_secret_has_no_place_unless_it_ends_both(desk: Desk):
    made = await desk.added()
    await desk.endpoints.rotate(desk.shell, made.endpoint.id, EndpointRotation())

    with pytest.raises(RuleViolation, match="two secrets"):
        await desk.endpoints.rotate(desk.shell, made.endpoint.id, EndpointRotation())
    last = await desk.endpoints.rotate(desk.shell, made.endpoint.id, AT_ONCE)

    assert not isinstance(last, Approval)
    found = await desk.records.secrets(made.endpoint.id, desk.office.clock())
    assert found == [last.secret]


async def test_an_approved_secret_is_not_made_over_another_one(desk: Desk):
    made = await desk.added()
    order = await waiting(desk.endpoints.rotate(desk.maria, made.endpoint.id, AT_ONCE))
    await desk.people.approve(order)
    desk.office.clock.passes(minutes=1)
    other = await desk.endpoints.rotate(desk.shell, made.endpoint.id, AT_ONCE)

    with pytest.raises(RuleViolation, match="changed meanwhile"):
        await desk.collect(order)

    assert not isinstance(other, Approval)
    found = await desk.records.secrets(made.endpoint.id, desk.office.clock())
    assert found == [other.secret]


async def test_a_company_has_ten_endpoints_at_most(desk: Desk):
    order = await waiting(desk.endpoints.add(desk.maria, desk.wanted()))
    await desk.people.approve(order)
    for number in range(MOST_OF_COMPANY):
        await desk.added(f"{URL}/{number}")

    with pytest.raises(RuleViolation) as refused:
        await desk.added()
    with pytest.raises(RuleViolation):
        await desk.collect(order)

    assert refused.value.reason == "endpoints_full"
    assert len(await desk.every()) == MOST_OF_COMPANY


Act = Callable[[Desk, Staff, str], Awaitable[object]]
ACTS: dict[str, Act] = {
    "get": lambda desk, who, one: desk.endpoints.get(who, one),
    "change": lambda desk, who, one: desk.endpoints.change(who, one, EndpointChange(url=NEW)),
    "rotate": lambda desk, who, one: desk.endpoints.rotate(who, one, AT_ONCE),
    "pause": lambda desk, who, one: desk.endpoints.pause(who, one),
    "resume": lambda desk, who, one: desk.endpoints.resume(who, one),
    "remove": lambda desk, who, one: desk.endpoints.remove(who, one),
}


async def test_endpoints_of_other_companies_are_not_there(desk: Desk):
    before = await desk.active()
    stranger = desk.of_another_company()

    found = []
    for name, act in ACTS.items():
        with pytest.raises(ServiceError) as refused:
            await act(desk, stranger, before.id)
        found.append((name, refused.value.reason))
    listed = await desk.endpoints.page(stranger, EndpointSearch(paging=Paging(page=1, limit=10)))

    assert found == [(name, "endpoint") for name in ACTS]
    assert (listed.items, listed.total) == ([], 0)
    assert await desk.found(before) == before


async def test_no_endpoint_is_added_to_another_company_or_its_accounts(desk: Desk):
    theirs = await desk.office.account(desk.people.company)

    with pytest.raises(RuleViolation) as other:
        await desk.endpoints.add(desk.of_another_company(), desk.wanted())
    with pytest.raises(RuleViolation) as foreign:
        await desk.added(account_ids=(theirs.id,))
    with pytest.raises(RuleViolation) as unknown:
        await desk.added(account_ids=(ABSENT,))
    with pytest.raises(RuleViolation) as too_many:
        await desk.added(account_ids=(ABSENT,) * 101)

    assert other.value.reason == "company_unknown"
    assert foreign.value.reason == unknown.value.reason == "account_unknown"
    assert too_many.value.reason == "endpoint_accounts"
    assert await desk.every() == []


async def test_an_endpoint_paused_by_a_person_stays_paused_until_resumed(desk: Desk):
    before = await desk.active()
    paused = await desk.endpoints.pause(desk.maria, before.id)
    with pytest.raises(RuleViolation) as again:
        await desk.endpoints.pause(desk.maria, before.id)

    moved = await desk.endpoints.change(desk.shell, before.id, EndpointChange(url=NEW))
    resumed = await desk.endpoints.resume(desk.maria, before.id)

    assert isinstance(moved, Endpoint)
    assert paused.paused_because is moved.paused_because is PauseCause.OPERATOR
    assert again.value.reason == "endpoint_paused"
    assert (resumed.state, resumed.paused_because) == (EndpointState.PENDING, PauseCause.NONE)
    assert await desk.found(before) == resumed
    assert await actions(desk) == [
        *("endpoint.added", "endpoint.activated", "endpoint.paused"),
        *("endpoint.changed", "endpoint.resumed"),
    ]


async def test_an_address_that_was_given_up_may_be_replaced(desk: Desk):
    before = await desk.active()
    await desk.records.note_failure(before, desk.office.clock())
    await desk.records.pause(before, PauseCause.GAVE_UP, desk.office.clock())

    after = await desk.endpoints.change(desk.shell, before.id, EndpointChange(url=NEW))

    assert isinstance(after, Endpoint)
    assert (after.state, after.failing_since) == (EndpointState.PENDING, None)
    assert await desk.found(before) == after


async def test_a_removed_endpoint_is_gone_with_its_secrets(desk: Desk):
    made = await desk.added()

    await desk.endpoints.remove(desk.maria, made.endpoint.id)

    assert await desk.every() == []
    assert await desk.records.secrets(made.endpoint.id, desk.office.clock()) == ()
    assert await actions(desk) == ["endpoint.added", "endpoint.removed"]


async def test_an_address_is_checked_again_when_the_order_is_approved(desk: Desk):
    """The settings may have changed since."""
    allowing = replace(desk.endpoints, allow_local=True)
    local = desk.wanted("http://127.0.0.1:9000/events")
    order = await waiting(allowing.add(desk.maria, local))

    with pytest.raises(RuleViolation):
        await desk.people.approve(order)

    assert await desk.every() == []
