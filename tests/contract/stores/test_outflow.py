"""The outflow guard on each database: it stops, watches, remembers, and is lifted by people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from gateway.app.store import Store
from gateway.banks.port.payout_orders import PixDestination
from gateway.core.access import Staff
from gateway.core.approvals import Approval, ApprovalState
from gateway.core.audit import PAYOUT_RELEASED
from gateway.core.audit_context import AuditContext, RuleViolation
from gateway.core.company_scope import CompanyScope, StopScope
from gateway.core.errors import ServiceError
from gateway.core.rights import Role
from gateway.core.windows import Paging
from gateway.credentials.store import MadeFor, Rotation
from gateway.outflow import store as outflow_store
from gateway.outflow.envelope import Floor, Measure
from gateway.outflow.guard import GuardConfig, OutflowGuard
from gateway.outflow.model import Mode, TripDocument
from gateway.outflow.service import Outflows
from gateway.outflow.store import OutflowRecords, Subject, destination_digest, open_trips
from gateway.payouts.model import Payout, PayoutState
from gateway.stops.model import GUARD
from gateway.stops.service import Stops, stops_in_force
from tests.contract.stores.databases import both
from tests.world.acts import reader
from tests.world.people import somebody
from tests.world.stores.office import APPROVAL
from tests.world.stores.samples import (
    ACCOUNT,
    CLIENT,
    COMPANY,
    NOW,
    attempt,
    change,
    credential,
    event,
    held,
    payout,
    secret,
)

HOUR = timedelta(hours=1)
SECOND = timedelta(seconds=1)
FLOOR = Floor(payouts=5, centavos=1_000_000)
IDS = (f"{number:08x}-0000-4000-8000-000000000000" for number in range(1_000_000))
PAGE = Paging(page=1, limit=25)


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.at = NOW

    def __call__(self) -> datetime:
        return self.at


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def paying(store: Store) -> Store:
    """A store with a credential of a company with two accounts."""
    await store.credentials.add(credential(), event())
    return store


def guard(
    store: Store, clock: Clock, mode: Mode = Mode.STOP, companies: dict[str, Mode] | None = None
) -> OutflowGuard:
    stops = Stops(
        database=store.database,
        providers=(),
        accounts=store.accounts,
        credentials=store.credentials,
        new_id=lambda: next(IDS),
        now=clock,
    )
    config = GuardConfig(mode=mode, companies=companies or {}, floor=FLOOR)
    records = OutflowRecords(store.database)
    return OutflowGuard(
        records=records, stops=stops, config=config, now=clock, new_id=lambda: next(IDS)
    )


async def pay(
    store: Store, clock: Clock, number: int, first: int = 0, client_id: str = CLIENT
) -> None:
    """Pay strangers, one each, now."""
    for place in range(first, first + number):
        made = to_stranger(f"order-{clock.at.isoformat()}-{place}", clock, place)
        await store.payouts.add(replace(made, client_id=client_id), attempt(started_at=clock.at))


def to_stranger(reference: str, clock: Clock, place: int) -> Payout:
    """Return a payout of now to the payee of a place."""
    made = payout(reference, created_at=clock.at)
    assert isinstance(made.destination, PixDestination)
    to = replace(made.destination, key=f"payee-{place}@example.com")
    return replace(made, destination=to)


async def stopped(store: Store, clock: Clock) -> list[tuple[str, str]]:
    return [
        (str(each.scope), each.subject) for each in await stops_in_force(store.database, clock.at)
    ]


def person(user_id: str, clock: Clock) -> Staff:
    """A signed-in user, whose name in the audit log is not that of their payouts."""
    acting = AuditContext(f"user:{user_id}@example.com", clock)
    return Staff(acting, person=somebody(Role.APPROVER, user_id=user_id, factor_at=clock.at))


async def trips(store: Store, clock: Clock) -> Sequence[TripDocument]:
    return (await outflows(store, clock).page(reader(), PAGE)).items


def outflows(store: Store, clock: Clock) -> Outflows:
    config = GuardConfig(mode=Mode.STOP, companies={}, floor=FLOOR)
    return Outflows(records=OutflowRecords(store.database), config=config, now=clock)


@both
async def test_many_new_recipients_stop_only_the_credential(
    paying: Store, second: Store, clock: Clock
):
    """Account and company continue to pay, and no other process stops the credential again."""
    await pay(paying, clock, 6)
    clock.at += 2 * SECOND

    for each in (paying, second):
        await guard(each, clock).turn()

    assert await stopped(paying, clock) == [("credential", CLIENT)]
    [trip] = await trips(paying, clock)
    assert (trip.scope, trip.subject, trip.company_id) == (StopScope.CREDENTIAL, CLIENT, COMPANY)
    assert (trip.measure, trip.window_s) == (Measure.NEW_PAYOUTS, 300)
    assert (trip.payouts, trip.payouts_bound) == (6, 5)
    [stop] = await stops_in_force(paying.database, clock.at)
    assert (stop.id, stop.created_by) == (trip.stop_id, GUARD)
    assert stop.reason == (
        "outflow guard: 6 payouts to payees never paid before in 5 minutes, "
        "at most 5 inside the envelope"
    )
    assert await open_trips(paying.database, clock.at) == {"credential": 1}
    assert await trips_of(paying, clock, CompanyScope(frozenset())) == []


async def trips_of(store: Store, clock: Clock, scope: CompanyScope) -> Sequence[TripDocument]:
    return (await outflows(store, clock).page(reader(scope), PAGE)).items


@both
async def test_the_guard_in_watch_mode_records_a_trip_once_and_stops_nothing(
    paying: Store, clock: Clock
):
    watching = guard(paying, clock, Mode.WATCH)
    await pay(paying, clock, 6)
    await watching.turn()
    clock.at += timedelta(minutes=2)
    await pay(paying, clock, 1, 6)

    await watching.turn()

    assert await stopped(paying, clock) == []
    found = await trips(paying, clock)
    assert {(each.scope, each.subject) for each in found} == {
        (StopScope.CREDENTIAL, CLIENT),
        (StopScope.ACCOUNT, ACCOUNT),
        (StopScope.COMPANY, COMPANY),
    }
    assert {(each.at, each.seen_at, each.stop_id) for each in found} == {(NOW, clock.at, None)}
    assert await open_trips(paying.database, clock.at + timedelta(minutes=9)) == {
        "credential": 1,
        "account": 1,
        "company": 1,
    }
    assert await open_trips(paying.database, clock.at + timedelta(minutes=10)) == {}


async def test_several_payouts_to_one_new_recipient_each_count_as_new(paying: Store, clock: Clock):
    for _ in range(6):
        await pay(paying, clock, 1)
        clock.at += SECOND

    await guard(paying, clock).turn()

    [trip] = await trips(paying, clock)
    assert (trip.measure, trip.payouts) == (Measure.NEW_PAYOUTS, 6)


async def test_a_company_can_have_its_own_mode(paying: Store, clock: Clock):
    await pay(paying, clock, 6)

    await guard(paying, clock, Mode.STOP, {COMPANY: Mode.OFF}).turn()
    off = await trips(paying, clock)
    await guard(paying, clock, Mode.OFF, {COMPANY: Mode.STOP}).turn()

    assert off == []
    assert await stopped(paying, clock) == [("credential", CLIENT)]


async def test_payouts_that_moved_no_money_do_not_count(paying: Store, clock: Clock):
    """Payouts that had failed already, and payouts that fail between two runs."""
    judging = guard(paying, clock)
    await pay(paying, clock, 5)
    await judging.turn()
    for place in range(5):
        failed = change(
            PayoutState.SENDING,
            PayoutState.REJECTED,
            reference=f"order-{clock.at.isoformat()}-{place}",
        )
        assert await paying.payouts.record(failed)
    clock.at += SECOND
    await pay(paying, clock, 5, 5)

    await judging.turn()

    assert await trips(paying, clock) == []


async def test_payouts_released_by_people_are_not_checked_again(paying: Store, clock: Clock):
    """Payouts before the stop was lifted are ignored, later ones are not."""
    judging = guard(paying, clock)
    await pay(paying, clock, 6)
    await judging.turn()
    [stop] = await stops_in_force(paying.database, clock.at)
    clock.at += SECOND
    await judging.stops.lift(Staff(AuditContext("user:ana", clock)), stop.id)
    clock.at += SECOND
    await pay(paying, clock, 5, 6)
    await judging.turn()
    lifted = await stopped(paying, clock)
    await pay(paying, clock, 1, 11)

    await judging.turn()

    assert lifted == []
    assert await stopped(paying, clock) == [("credential", CLIENT)]


@both
async def test_payouts_ordered_by_a_user_stop_the_account_until_another_user_lifts_it(
    paying: Store, clock: Clock
):
    """A user who ordered or approved such a payout cannot lift it either."""
    judging = guard(paying, clock)
    order = replace(APPROVAL, ordered_by="ana", reference=f"order-{clock.at.isoformat()}-0")
    await approve(paying, order, "carla")
    unused = replace(order, id="a2", reference=f"order-{clock.at.isoformat()}-1", ordered_by="rui")
    await approve(paying, unused, "bruno")
    await pay(paying, clock, 6, client_id="user:ana")
    await judging.turn()
    [stop] = await stops_in_force(paying.database, clock.at)
    assert (stop.scope, stop.subject) == (StopScope.ACCOUNT, ACCOUNT)

    tried = await lifting(judging, clock, "ana", "carla", "bruno")

    assert tried == ["ana own_stop", "carla own_stop", "bruno"]

    assert await stopped(paying, clock) == []


async def test_payouts_dated_after_the_stop_count_towards_it(paying: Store, clock: Clock):
    """The guard checks them although their time is after its stop."""
    ahead = Clock()
    ahead.at += 30 * SECOND
    await pay(paying, ahead, 6, client_id="user:ana")
    judging = guard(paying, clock)
    await judging.turn()

    assert await lifting(judging, clock, "ana", "bruno") == ["ana own_stop", "bruno"]


@both
@pytest.mark.parametrize("wide", [False, True])
async def test_the_orderer_or_approver_of_a_secret_cannot_lift_the_stop_of_its_payouts(
    paying: Store, clock: Clock, wide: bool
):
    """Also when several credentials were involved and the stop is of their account."""
    judging, others = guard(paying, clock), ("cli_b", "cli_c")
    for number, client_id in enumerate(others, start=1):
        made_for = MadeFor(f"ana-{number}", f"carla-{number}")
        await paying.credentials.add(credential(client_id), event(), made_for=made_for)
    if wide:
        await pay(paying, clock, 3, client_id="cli_b")
        await pay(paying, clock, 3, 3, client_id="cli_c")
    else:
        await pay(paying, clock, 6, client_id="cli_b")
    await judging.turn()
    [stop] = await stops_in_force(paying.database, clock.at)

    assert stop.scope is (StopScope.ACCOUNT if wide else StopScope.CREDENTIAL)

    tried = await lifting(judging, clock, "ana-1", "carla-1", "ana-2", "carla-2", "bruno")

    of_one, of_both = ["ana-1 own_stop", "carla-1 own_stop"], ["ana-2 own_stop", "carla-2 own_stop"]
    assert tried == ([*of_one, *of_both, "bruno"] if wide else [*of_one, "ana-2"])


@both
async def test_the_orderer_of_a_secret_replaced_an_hour_before_can_lift_the_stop(
    paying: Store, clock: Clock
):
    """It was replaced an hour ago; a secret that ended later would have involved its orderer."""
    for user_id, old_ends in (("ana", clock.at), ("bruno", clock.at - HOUR)):
        new = secret(user_id.encode().ljust(32))
        rotation = Rotation(new, old_ends, made_for=MadeFor(user_id))
        assert await paying.credentials.rotate(CLIENT, rotation, event())
    judging = guard(paying, clock)
    await pay(paying, clock, 6)
    await judging.turn()

    assert await lifting(judging, clock, "bruno", "ana") == ["bruno own_stop", "ana"]


@both
async def test_the_user_who_released_held_payouts_cannot_lift_their_stop(
    paying: Store, clock: Clock
):
    judging = guard(paying, clock)
    waiting = [held(to_stranger(f"held-{place}", clock, place)) for place in range(6)]
    for each in waiting:
        await paying.payouts.add(each, None)
    for name, key in (("ana", waiting[0].provider_key), ("bruno", "another-payout")):
        acting = person(name, clock).acting
        let_go = acting.event(PAYOUT_RELEASED, f"payout:{key}")
        if name == "ana":
            assert await paying.payouts.release(waiting[0], let_go, acting.actor)
        else:
            await paying.audit.append(let_go)
    await judging.turn()

    assert await lifting(judging, clock, "ana", "bruno") == ["ana own_stop", "bruno"]


async def approve(store: Store, order: Approval, by: str) -> None:
    """Store an order that another person approved."""
    await store.approvals.add(order, event())
    decided = replace(
        order, state=ApprovalState.APPROVED, decided_by=by, decider=by, decided_at=NOW
    )
    assert await store.approvals.decide(decided, event())


async def lifting(judging: OutflowGuard, clock: Clock, *names: str) -> list[str]:
    """Let people try to lift the stop until one succeeds; return those refused, and that one."""
    [stop] = await stops_in_force(judging.stops.database, clock.at)
    found: list[str] = []
    for name in names:
        try:
            await judging.stops.lift(person(name, clock), stop.id)
        except RuleViolation as problem:
            found.append(f"{name} {problem.reason}")
        else:
            return [*found, name]
    return found


@both
async def test_held_payouts_are_checked_while_they_can_be_stopped(paying: Store, clock: Clock):
    judging = guard(paying, clock)
    for place in range(6):
        await paying.payouts.add(held(to_stranger(f"held-{place}", clock, place)), None)

    await judging.turn()

    assert await stopped(paying, clock) == [("credential", CLIENT)]


async def test_a_payout_stored_late_is_checked_later(paying: Store, clock: Clock):
    judging = guard(paying, clock)
    ordered = clock.at
    await pay(paying, clock, 5)
    clock.at += 25 * SECOND
    await judging.turn()
    late = Clock()
    late.at = ordered - SECOND
    await pay(paying, late, 1, 5)
    clock.at += 2 * SECOND
    await judging.turn()
    before = await stopped(paying, clock)
    clock.at += 28 * SECOND

    await judging.turn()

    assert before == []
    assert await stopped(paying, clock) == [("credential", CLIENT)]


async def order(store: Store, clock: Clock, number: int, client_id: str = CLIENT) -> None:
    """Begin to send payouts to strangers."""
    for place in range(number):
        made = to_stranger(f"later-{place}", clock, place)
        begun = attempt(started_at=clock.at)
        await store.payouts.add(replace(made, client_id=client_id), begun)


async def fail(store: Store, number: int) -> None:
    """Nothing of them was sent."""
    for place in range(number):
        unsent = change(PayoutState.SENDING, PayoutState.NOT_SENT, reference=f"later-{place}")
        assert await store.payouts.record(unsent)


async def repeat(store: Store, clock: Clock, number: int) -> None:
    """Send them now."""
    for place in range(number):
        stored = await store.payouts.find(ACCOUNT, f"later-{place}")
        assert stored is not None
        again = attempt(stored.attempt + 1, started_at=clock.at)
        assert await store.payouts.claim(stored, again)


@both
async def test_an_unsent_payout_counts_when_it_is_sent_again(paying: Store, clock: Clock):
    """Otherwise all waiting payouts could be repeated at once, unnoticed."""
    judging = guard(paying, clock)
    await order(paying, clock, 6)
    await fail(paying, 6)
    await judging.turn()
    clock.at += 2 * HOUR
    await judging.turn()
    before = await stopped(paying, clock)
    await repeat(paying, clock, 6)
    clock.at += 2 * SECOND

    await judging.turn()

    assert before == []
    assert await stopped(paying, clock) == [("credential", CLIENT)]


async def test_a_failed_payout_counts_again_when_it_is_sent_again(paying: Store, clock: Clock):
    judging = guard(paying, clock)
    await order(paying, clock, 5)
    await judging.turn()
    await fail(paying, 5)
    clock.at += SECOND
    await pay(paying, clock, 1, 5)
    await judging.turn()
    before = await stopped(paying, clock)
    clock.at += 10 * SECOND
    await repeat(paying, clock, 5)

    await judging.turn()

    assert before == []
    assert await stopped(paying, clock) == [("credential", CLIENT)]


async def test_a_payout_sent_again_counts_in_the_hour_of_sending(paying: Store, clock: Clock):
    await order(paying, clock, 2)
    await fail(paying, 2)
    clock.at += 2 * HOUR
    await repeat(paying, clock, 2)
    sent = clock.at.replace(minute=0, second=0, microsecond=0)
    clock.at += 3 * HOUR

    await guard(paying, clock).turn()

    subject = Subject(StopScope.CREDENTIAL, CLIENT)
    found = await OutflowRecords(paying.database).hours(subject, NOW - 2 * HOUR)
    assert [(hour, figures.payouts) for hour, figures in found] == [(sent, 2)]


@both
async def test_the_orderer_of_payouts_sent_again_cannot_lift_the_stop(paying: Store, clock: Clock):
    judging = guard(paying, clock)
    await order(paying, clock, 6, client_id="user:ana")
    await fail(paying, 6)
    clock.at += 2 * HOUR
    await repeat(paying, clock, 6)
    await judging.turn()

    assert await lifting(judging, clock, "ana", "bruno") == ["ana own_stop", "bruno"]


@both
async def test_many_payouts_of_one_instant_are_read_once_each(paying: Store, clock: Clock):
    """More than are read at once."""
    await pay(paying, clock, 501)
    await pay(paying, clock, 2, 501)
    records = OutflowRecords(paying.database)
    parts = [[*part] async for part in records.payouts(clock.at, clock.at + SECOND)]
    known = {each.key for part in parts for each in part[:2]}

    rest = records.payouts(clock.at, clock.at + SECOND, COMPANY, known)

    assert [len(part) for part in parts] == [500, 3]
    assert len({each.key for part in parts for each in part}) == 503
    assert [len(part) async for part in rest] == [498, 1]


@both
async def test_after_a_day_a_payee_is_known_and_the_hour_is_added_to_history_once(
    paying: Store, second: Store, clock: Clock
):
    """The first process adds the hour once, and the other one continues from there."""
    both_guards = [guard(each, clock) for each in (paying, second)]
    await pay(paying, clock, 5)
    begun = clock.at
    clock.at += timedelta(hours=25)
    for each in both_guards:
        await each.turn()
    await pay(paying, clock, 5)
    await pay(paying, clock, 3, 5)
    clock.at += 2 * SECOND

    for each in both_guards:
        await each.turn()

    assert await trips(paying, clock) == []
    seen = await outflows(paying, clock).of(reader(), "credential", CLIENT)
    assert [(each.payouts, each.new_payees_payouts) for each in seen.windows] == [(8, 3), (8, 3)]
    records = OutflowRecords(paying.database)
    subject = Subject(StopScope.CREDENTIAL, CLIENT)
    [(hour, figures)] = await records.hours(subject, NOW - 2 * HOUR)
    assert hour == begun.replace(minute=0, second=0, microsecond=0)
    assert (figures.payouts, figures.new_payouts) == (5, 5)
    assert await records.forget(hour) == 0
    assert await records.forget(hour + HOUR) == 3


@both
async def test_a_payee_is_deleted_after_its_last_payout_is_old_enough(paying: Store, clock: Clock):
    """Payouts within a week of the recorded one do not update it."""
    records, begun = OutflowRecords(paying.database), clock.at
    payees = [(COMPANY, digest * 16) for digest in (b"a", b"b", b"c")]
    await records.add_hour(begun, {}, dict.fromkeys(payees, begun), None)
    for days, again in ((6, payees[:1]), (8, payees[1:2])):
        later = begun + timedelta(days=days)
        await records.skip_to(later, await records.until())
        assert await records.add_hour(later, {}, {}, later, again)

    assert await records.forget_payees(begun) == 0
    assert await records.forget_payees(begun + timedelta(days=7)) == 2
    assert await records.first_paid(payees) == {payees[1]: begun}


async def test_an_hour_of_history_updates_when_its_payees_were_last_paid(
    paying: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(outflow_store, "_LAST_TO", HOUR)
    await pay(paying, clock, 2)
    begun = clock.at
    clock.at += 3 * HOUR
    await pay(paying, clock, 1)
    clock.at += 2 * HOUR

    await guard(paying, clock).turn()

    assert await OutflowRecords(paying.database).forget_payees(begun + HOUR) == 1


async def test_payouts_that_led_to_a_stop_are_not_added_to_history(paying: Store, clock: Clock):
    await pay(paying, clock, 6)
    await guard(paying, clock).turn()
    clock.at += 2 * HOUR

    await guard(paying, clock).turn()

    records = OutflowRecords(paying.database)
    subject = Subject(StopScope.COMPANY, COMPANY)
    assert await records.hours(subject, NOW - 2 * HOUR) == []
    payee = destination_digest('{"key": "payee-0@example.com"}')
    assert await records.first_paid([(COMPANY, payee)]) == {}


async def test_outflow_of_a_subject_outside_the_scope_is_not_found(paying: Store, clock: Clock):
    nobody = reader(CompanyScope(frozenset()))

    for scope, subject in (
        ("credential", CLIENT),
        ("account", ACCOUNT),
        ("company", COMPANY),
        ("provider", "sandbox"),
        ("company", "x"),
    ):
        with pytest.raises(ServiceError):
            await outflows(paying, clock).of(nobody, scope, subject)


def test_a_payee_is_identified_by_its_destination():
    """Another name is the same payee, another key is not."""
    one = destination_digest('{"name": "Ana", "tax_number": "1", "key": "a"}')

    assert destination_digest('{"key": "a", "tax_number": "1", "name": "ANA"}') == one
    assert destination_digest('{"name": "Ana", "tax_number": "1", "key": "b"}') != one
