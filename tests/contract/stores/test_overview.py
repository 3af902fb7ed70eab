"""Figures of payouts by hour and open work, on both databases."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from sqlalchemy import select, update

from gateway.app.store import Store
from gateway.callbacks.store import CallbackRecords
from gateway.companies.service import add_company
from gateway.core.access import Staff
from gateway.core.approvals import ApprovalKind, ApprovalState
from gateway.core.audit_context import AuditContext
from gateway.core.caller_rules import ANYWHERE, UNDECIDED
from gateway.core.company_scope import EVERY_COMPANY, CompanyScope, StopScope, scope_of
from gateway.core.money import Money, Sum
from gateway.core.permissions import UNLIMITED, CredentialLimits, Permission
from gateway.core.rights import Role
from gateway.overview.model import HOUR, HourFigures, Need, Span
from gateway.overview.store import OverviewRecords
from gateway.payouts.documents import OpenWork
from gateway.payouts.model import Certainty, PayoutState
from gateway.payouts.search import PayoutDirectory
from gateway.store.own_work import collectable
from gateway.store.tables.core import accounts, payouts
from gateway.store.tables.figures import closed_hours, payout_hours
from tests.contract.stores.databases import both
from tests.contract.stores.reviews import MARIA, in_review
from tests.world.acts import reader
from tests.world.people import somebody
from tests.world.stops import STOP, plant, sample
from tests.world.stores.office import APPROVAL, CALLBACK
from tests.world.stores.samples import (
    ACCOUNT,
    COMPANY,
    NOW,
    SISTER,
    account,
    attempt,
    change,
    company,
    credential,
    event,
    held,
    payout,
)

THIS_HOUR = NOW.replace(minute=0, second=0, microsecond=0)
DAY = Span(THIS_HOUR - 23 * HOUR, THIS_HOUR + HOUR)
OTHER = "5f0c8f6e-3d57-4a6d-9f53-0d4d5a0f7a02"
THEIRS = "0b7d7e4a-9e0e-4a3c-8f5e-3c1f0a9b2c03"
NOBODY = CompanyScope(frozenset())


async def paid(
    store: Store,
    reference: str,
    at: datetime,
    took_s: float = 1.5,
    moved: Money | None = None,
    **more,
) -> None:
    """Store a payout, and let it settle."""
    await asked(store, reference, at, **more)
    step = change(PayoutState.SENDING, PayoutState.PAID, reference=reference)
    step = replace(step, settled_at=at + timedelta(seconds=took_s), moved=moved)
    await store.payouts.record(replace(step, account_id=more.get("account_id", ACCOUNT)))


async def asked(store: Store, reference: str, at: datetime, **more) -> None:
    await store.payouts.add(payout(reference, created_at=at, **more), attempt(started_at=at))


async def another_company(store: Store) -> None:
    await add_company(store.database, company(OTHER), event())
    await store.accounts.add(
        replace(account(THEIRS, company_id=OTHER), provider_account="theirs"), event()
    )


def told(found) -> list[tuple[datetime, str, int, int, int, int]]:
    return sorted(
        (
            each.hour,
            each.state.value,
            each.settled_within,
            each.count,
            each.value.centavos,
            each.moved.centavos,
        )
        for each in found
    )


async def remembered(store: Store) -> int:
    async with store.database.reading() as connection:
        return len((await connection.execute(select(closed_hours))).all())


@both
@pytest.mark.parametrize("is_remembered", [False, True])
async def test_payouts_are_counted_by_hour_and_state(store: Store, *, is_remembered: bool):
    """The same figures for stored and for counted hours."""
    before = THIS_HOUR - HOUR
    await paid(store, "1", before, moved=Money(1051))
    await paid(store, "2", before + timedelta(minutes=59, seconds=59), account_id=SISTER)
    await paid(store, "3", before + timedelta(minutes=1), took_s=100_000)
    await paid(store, "4", THIS_HOUR)
    await asked(store, "5", THIS_HOUR)

    if is_remembered:
        assert await OverviewRecords(store.database).remember(DAY) == 23
        assert await OverviewRecords(store.database).remember(DAY) == 0

    assert told(await OverviewRecords(store.database).hours(DAY, EVERY_COMPANY)) == [
        (before, "paid", 2, 2, 2100, 2101),
        (before, "paid", 16, 1, 1050, 1050),
        (THIS_HOUR, "paid", 2, 1, 1050, 1050),
        (THIS_HOUR, "sending", -1, 1, 1050, 1050),
    ]


async def test_an_hour_with_an_open_payout_is_summed_once_the_payout_ends(store: Store):
    before = THIS_HOUR - HOUR
    await asked(store, "1", before)
    ended = Span(before, THIS_HOUR)

    assert await OverviewRecords(store.database).remember(ended) == 0

    step = change(PayoutState.SENDING, PayoutState.FAILED, reference="1")
    await store.payouts.record(step)
    assert await OverviewRecords(store.database).remember(ended) == 1
    assert told(await OverviewRecords(store.database).hours(ended, EVERY_COMPANY)) == [
        (before, "failed", -1, 1, 1050, 1050)
    ]


@both
async def test_a_stored_hour_is_not_counted_again(store: Store):
    """Only the stored sum is read, not the payouts."""
    await paid(store, "1", THIS_HOUR)
    await OverviewRecords(store.database).remember(DAY)
    async with store.database.writing() as connection:
        await connection.execute(update(payouts).values(centavos=7))

    (found,) = await OverviewRecords(store.database).hours(DAY, EVERY_COMPANY)

    assert found == HourFigures(
        THIS_HOUR, PayoutState.PAID, Certainty.SETTLED, 2, 1, Sum(1050), Sum(1050)
    )


@both
async def test_two_processes_store_an_hour_once(store: Store, second: Store):
    await paid(store, "1", THIS_HOUR)

    done = await asyncio.gather(
        *(OverviewRecords(node.database).remember(DAY) for node in (store, second) * 2)
    )

    assert sum(done) == 24
    assert await remembered(store) == 24
    async with store.database.reading() as connection:
        assert len((await connection.execute(select(payout_hours))).all()) == 1


async def test_a_new_store_sums_a_month_in_one_transaction_a_day(store: Store):
    """Each start on a new store does this: by single hours it took seconds of CPU time."""
    await paid(store, "1", DAY.since)
    await paid(store, "2", DAY.until - HOUR)
    works: list[str] = []
    store.database.usage.on_usage = lambda work, _seconds: works.append(work)

    done = await OverviewRecords(store.database).remember(
        Span(DAY.until - timedelta(days=30), DAY.until)
    )

    assert done == 30 * 24
    assert works.count("write") == 30
    assert len(await OverviewRecords(store.database).hours(DAY, EVERY_COMPANY)) == 2


@both
@pytest.mark.parametrize("is_remembered", [False, True])
async def test_figures_cover_only_companies_in_scope(store: Store, *, is_remembered: bool):
    await another_company(store)
    await paid(store, "1", THIS_HOUR)
    await paid(store, "1", THIS_HOUR, account_id=THEIRS, centavos=5)
    if is_remembered:
        await OverviewRecords(store.database).remember(DAY)

    async def sums(scope: CompanyScope) -> list[int]:
        found = await OverviewRecords(store.database).hours(DAY, scope)
        return [each.value.centavos for each in found]

    assert await sums(EVERY_COMPANY) == [1055]
    assert await sums(scope_of(frozenset({COMPANY}))) == [1050]
    assert await sums(scope_of(frozenset({OTHER}))) == [5]
    assert await sums(NOBODY) == []


async def standing(
    store: Store, scope: CompanyScope = EVERY_COMPANY
) -> dict[tuple[Need, str], int]:
    found = await OverviewRecords(store.database).standing(reader(scope), NOW)
    return {(each.need, each.subject): each.count for _, each in found}


async def test_a_healthy_day_has_no_open_work(store: Store):
    await paid(store, "1", NOW)

    assert await standing(store) == {}


@both
async def test_unproven_payouts_are_listed_until_they_are_proven(store: Store):
    """Payouts awaiting a decision by two people are listed separately: each payout counts once."""
    old = NOW - timedelta(days=40)
    await asked(store, "1", old)
    await asked(store, "2", NOW)
    for reference in ("1", "2"):
        step = change(PayoutState.SENDING, PayoutState.UNKNOWN, reference=reference)
        await store.payouts.record(step)
    async with store.database.writing() as connection:
        await connection.execute(
            update(payouts).where(payouts.c.reference == "1").values(review=True)
        )

    found = {
        each.need: each for _, each in await OverviewRecords(store.database).standing(reader(), NOW)
    }

    assert (found[Need.UNRESOLVED].count, found[Need.REVIEW].count) == (1, 1)
    assert (found[Need.UNRESOLVED].at, found[Need.REVIEW].at) == (NOW, old)
    assert found[Need.UNRESOLVED].value == found[Need.REVIEW].value == Sum(1050)


@both
async def test_held_payouts_are_listed_until_the_first_is_sent(store: Store):
    goes = NOW + timedelta(minutes=30)
    for reference, until in (("1", goes), ("2", goes + HOUR)):
        await store.payouts.add(held(payout(reference), until), None)

    found = [each for _, each in await OverviewRecords(store.database).standing(reader(), NOW)]

    assert [(each.need, each.count, each.at) for each in found] == [(Need.HELD, 2, goes)]
    assert found[0].value == Sum(2100)


@both
async def test_orders_stops_and_certificates_are_listed_until_they_end(store: Store):
    await store.approvals.add(APPROVAL, event())
    await plant(store, sample(id="s1", ends_at=NOW + HOUR))
    await plant(store, sample(id="s2", ends_at=NOW))
    async with store.database.writing() as connection:
        soon = update(accounts).values(certificate_ends_at=NOW + timedelta(days=29))
        await connection.execute(soon.where(accounts.c.id == ACCOUNT))
        later = update(accounts).values(certificate_ends_at=NOW + timedelta(days=31))
        await connection.execute(later.where(accounts.c.id == SISTER))
    pays = frozenset({Permission.parse("withdraw:write")})
    limits = CredentialLimits(per_payout=Money(1000), per_day=Money(5000))
    for client_id, rule, limited in (
        ("cli_none", UNDECIDED, limits),
        ("cli_some", ANYWHERE, limits),
        ("cli_unlimited", ANYWHERE, UNLIMITED),
    ):
        made = replace(credential(client_id), permissions=pays, callers=rule, limits=limited)
        await store.credentials.add(made, event())

    assert await standing(store) == {
        (Need.APPROVAL, APPROVAL.id): 1,
        (Need.STOP, f"{STOP.scope.value}:{STOP.subject}"): 1,
        (Need.CERTIFICATE, "sandbox"): 1,
        (Need.CREDENTIAL, "cli_none"): 1,
        (Need.NO_LIMITS, "cli_unlimited"): 1,
    }


async def test_a_bank_without_callbacks_for_its_payouts_is_listed(store: Store):
    """For an hour that ended ten minutes ago, whose callbacks should have arrived."""
    await paid(store, "1", NOW - timedelta(minutes=30))
    missing = await standing(store)

    await CallbackRecords(store.database).add(replace(CALLBACK, company_id=COMPANY))
    told_of = await standing(store)

    assert missing == {(Need.CALLBACKS_MISSING, "sandbox"): 1}
    assert told_of == {}


@both
async def test_open_work_covers_only_companies_in_scope(store: Store):
    """Work of other companies is not shown, and not counted either."""
    await store.approvals.add(APPROVAL, event())
    stopped = sample(scope=StopScope.ACCOUNT, subject=ACCOUNT, ends_at=NOW + HOUR)
    await plant(store, stopped)
    await paid(store, "1", NOW - timedelta(minutes=30))
    await asked(store, "2", NOW)
    await store.payouts.record(change(PayoutState.SENDING, PayoutState.UNKNOWN, reference="2"))
    async with store.database.writing() as connection:
        await connection.execute(update(accounts).values(certificate_ends_at=NOW))

    assert len(await standing(store)) == 5
    assert len(await standing(store, scope_of(frozenset({COMPANY})))) == 5
    assert await standing(store, scope_of(frozenset({OTHER}))) == {}
    assert await standing(store, NOBODY) == {}


def acting(name: str, *roles: Role, at: datetime = NOW) -> Staff:
    """Let a person of these roles act; their id is their name."""
    person = somebody(*roles, user_id=name, email=f"{name}@example.com")
    return Staff(AuditContext(person.actor, lambda: at), person=person)


async def needs(store: Store, who: Staff) -> dict[tuple[str, bool], int]:
    """Count what waits, by whether this person could decide it."""
    found = await OverviewRecords(store.database).standing(who, who.acting.now())
    return {(each.need.value, mine): each.count for mine, each in found}


@both
async def test_waiting_orders_are_listed_for_deciders(store: Store):
    """Except users who ordered it, gave an opinion on it, or approved it."""
    await in_review(store)
    await store.payouts.add_opinion(replace(MARIA, by="user:ana@example.com"), event())
    await store.approvals.add(APPROVAL, event())
    approved = replace(APPROVAL, id="a2", reference="order-1", ordered_by="x", decided_by="joao")
    await store.approvals.add(
        replace(approved, state=ApprovalState.APPROVED, decided_at=NOW - timedelta(days=2)), event()
    )
    count = PayoutDirectory(store.database).open_work

    rui = acting("rui", Role.APPROVER)
    assert await needs(store, rui) == {("approval", True): 1, ("review", True): 1}
    assert await count(rui) == OpenWork(unresolved=1, review=1, approvals=1, stops=0)
    for name in ("ana", "joao"):
        who = acting(name, Role.APPROVER)
        assert await needs(store, who) == {("approval", True): 1, ("review", False): 1}
        assert await count(who) == OpenWork(unresolved=0, review=0, approvals=1, stops=0)
    u1 = acting("u1", Role.APPROVER)
    assert await needs(store, u1) == {("approval", False): 1, ("review", True): 1}
    viewer = acting("v", Role.VIEWER)
    assert await needs(store, viewer) == {("approval", False): 1, ("review", False): 1}
    assert await count(viewer) == OpenWork(unresolved=0, review=0, approvals=0, stops=0)


@both
async def test_own_orders_are_reported_and_a_secret_while_it_can_be_collected(store: Store):
    secret = {"kind": ApprovalKind.CREDENTIAL_ISSUE, "centavos": None, "account_id": None}
    ends = {"state": ApprovalState.REJECTED, "decided_at": NOW}
    for number, changed in enumerate(
        (
            {"state": ApprovalState.APPROVED, "decided_at": NOW, **secret},
            ends,
            {**ends, "decided_at": NOW - timedelta(days=2)},
            {**ends, "state": ApprovalState.WITHDRAWN},
            {**ends, "ordered_by": "somebody else"},
            {"ends_at": NOW + timedelta(minutes=30)},
        )
    ):
        order = replace(APPROVAL, id=f"o{number}", reference=str(number), **changed)
        await store.approvals.add(order, event())

    security = acting("u1", Role.SECURITY)
    told = await OverviewRecords(store.database).standing(security, NOW)
    assert {(each.need, each.subject, each.count) for mine, each in told if mine} == {
        (Need.COLLECT, "o0", 1),
        (Need.ORDER_DECIDED, "rejected:o1", 1),
        (Need.ORDER_ENDS, "o5", 1),
    }
    (until,) = [each.at for _, each in told if each.need is Need.COLLECT]
    assert until == NOW + timedelta(minutes=15)
    assert (await PayoutDirectory(store.database).open_work(security)).approvals == 1
    found = await store.approvals.matching(collectable(security, NOW), EVERY_COMPANY, "u1")
    assert [each.id for each in found] == ["o0"]

    late = acting("u1", Role.SECURITY, at=until)
    assert ("collect", True) not in await needs(store, late)
    assert ("collect", True) not in await needs(store, acting("u1", Role.OPERATOR))
