"""Holds of payouts to a first payee: what is held, when it is sent, and who decides before."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta

import pytest
from msgspec import structs

from gateway.banks.port.payout_orders import FailureCode
from gateway.config.settings import Payouts as PayoutSettings
from gateway.config.settings import Settings
from gateway.core import errors
from gateway.core.access import Staff
from gateway.core.audit_context import AuditContext, RuleViolation
from gateway.core.calls import Caller
from gateway.core.company_scope import StopScope
from gateway.core.errors import ServiceError
from gateway.core.money import Money
from gateway.core.rights import Role
from gateway.payouts.holds import HoldDecisions, HoldEnds, RefusalBody
from gateway.payouts.model import REFUSED_BY_OPERATOR, Payout, PayoutRequest
from gateway.stops.model import Stop
from tests.world.payouts import (
    ACCEPTED,
    BAD,
    DOUBT,
    FAILED,
    FORBIDDEN,
    HELD,
    IS_ACCEPTED,
    IS_NOT_SENT,
    IS_UNKNOWN,
    NO_STORE,
    NOT_SENT,
    OK,
    PIX,
    UNKNOWN,
    UNSENT,
    PayoutWorld,
    asking,
)
from tests.world.people import ACCOUNT, CLI, SISTER, account, caller, principal, somebody
from tests.world.standing import NOON

ABOVE = Money(100_000)
LARGE = Money(100_001)
HALF_HOUR = timedelta(minutes=30)
DAY = timedelta(days=1)
BOOKS_S = HALF_HOUR.total_seconds()
ORDERER = "1d0c8f6e-3d57-4a6d-9f53-0d4d5a0f7a01"
WHY = RefusalBody(reason="nobody knows this payee")


@dataclass
class Payers:
    """Lets everybody pay, or says why not."""

    refusal: ServiceError | None = None
    shown_to: str = ""

    async def people_of_file(self, _account_id: str, _reference: str) -> frozenset[str]:
        return frozenset()

    async def has_secret(self, user_id: str, _payout: Payout) -> bool:
        return user_id == self.shown_to

    async def find(self, payout: Payout) -> Caller:
        if self.refusal is not None:
            raise self.refusal
        return caller()


@dataclass
class Holding:
    """A node that holds payouts, and the end of its holds."""

    node: PayoutWorld
    stops: list[Stop] = field(default_factory=list)
    passed: list[str] = field(default_factory=list)
    look_first: bool = False

    def __post_init__(self) -> None:
        self.payers = Payers()
        settings = PayoutSettings(
            similar_within_s=0, hold_above=str(ABOVE), look_first=self.look_first
        )
        self.node.build(Settings(payouts=settings), self._stops, self.passed.append)
        self.ends = HoldEnds(payouts=self.node.payouts, payers=self.payers)  # type: ignore[arg-type]
        self.decisions = HoldDecisions(
            payouts=self.node.payouts,
            payers=self.payers,  # type: ignore[arg-type]
            people_of_file=self.payers.people_of_file,
        )

    async def _stops(self) -> Sequence[Stop]:
        return self.stops

    async def order(self, reference: str = "order-1", value: Money = LARGE) -> str:
        return await self.node.post(large(reference, value=value, date=today(self)))

    async def end(self, after: timedelta = HALF_HOUR) -> Payout:
        """Let time pass, and end the hold."""
        self.node.clock.passes(after.total_seconds())
        return await self.ends.end(await self.node.row())

    @property
    def outcomes(self) -> list[str]:
        return [label for event, label in self.node.witness.counted if event == "payout_hold"]

    async def events(self) -> list[tuple[str, int]]:
        found = await self.node.store.inner.events(ACCOUNT, "order-1")
        return [(each.kind.value, each.attempt) for each in found]


def large(reference: str = "order-1", **fields: object) -> PayoutRequest:
    return replace(asking(reference), **{"value": LARGE, **fields})  # type: ignore[arg-type]


def today(holding: Holding) -> date:
    return holding.node.clock.now().date()


def approver(user_id: str = "2d0c8f6e-3d57-4a6d-9f53-0d4d5a0f7a02") -> Staff:
    person = somebody(Role.APPROVER, user_id=user_id)
    return Staff(AuditContext(person.actor, lambda: NOON), person=person)


@pytest.fixture
def holding(payout_world: PayoutWorld) -> Holding:
    return Holding(payout_world)


async def paid_before(holding: Holding, ago: timedelta = DAY, **request: object):
    """Have paid the payee some time ago, a small amount."""
    paid = replace(asking("before", value=Money(100)), **request)  # type: ignore[arg-type]
    assert await holding.node.post(paid) == OK
    holding.node.clock.passes(ago.total_seconds())


async def test_a_large_payout_to_a_first_payee_is_held(holding: Holding):
    """200, stored, nothing sent; it has no attempt, and is due after half an hour."""
    assert await holding.order() == OK

    row = await holding.node.row()
    assert (row.state, row.attempt, row.held_until) == (HELD, 0, NOON + HALF_HOUR)
    assert await holding.node.attempts() == []
    assert holding.node.bank.orders == []
    assert (await holding.events(), holding.outcomes) == ([("held", 0)], ["held"])


async def test_without_a_configured_amount_payees_are_not_read(payout_world: PayoutWorld):
    asked: list[str] = []
    payout_world.store.on_call = asked.append

    assert await payout_world.post(large()) == OK
    assert asked == ["find", "add", "record"]


async def test_an_amount_at_the_limit_is_sent_at_once(holding: Holding):
    asked: list[str] = []
    holding.node.store.on_call = asked.append

    assert await holding.order(value=ABOVE) == OK
    assert asked == ["find", "has_paid", "add", "record"]
    assert len(holding.node.bank.orders) == 1


async def test_small_payouts_to_a_first_payee_are_added_up(holding: Holding):
    """All payouts to the payee within a day count together, from all accounts and callers."""
    sister = Caller(structs.replace(principal(), client_id="cli_other"), account(SISTER))
    for_sister = large("sister", value=Money(40_000))

    assert await holding.order("first", Money(60_000)) == OK
    assert await holding.node.post(for_sister, sister) == OK
    assert len(holding.node.bank.orders) == 2
    assert await holding.order("order-1", Money(1)) == OK

    assert (await holding.node.row()).state is HELD
    assert len(holding.node.bank.orders) == 2


async def test_held_payouts_count_for_the_limit_and_refused_ones_do_not(holding: Holding):
    await holding.order()
    await holding.order("second", Money(1))
    assert (await holding.node.row("second")).state is HELD

    for reference in ("order-1", "second"):
        await holding.decisions.refuse(approver(), account(), reference, WHY)
    await holding.order("third", ABOVE)

    assert (await holding.node.row("third")).state is ACCEPTED


async def test_unsent_payouts_count_towards_the_amount(holding: Holding):
    """Otherwise payouts refused by a bank could all be sent later without a hold."""
    holding.node.bank.says = [IS_NOT_SENT, IS_ACCEPTED]
    assert await holding.order("before", ABOVE) == UNSENT

    await holding.order(value=Money(1))

    assert (await holding.node.row()).state is HELD


async def test_payouts_to_other_payees_and_of_earlier_days_do_not_count(holding: Holding):
    holding.node.bank.says = [IS_UNKNOWN, IS_ACCEPTED]
    other = replace(PIX, key="other@example.com")
    assert await holding.order("unknown", ABOVE) == DOUBT
    holding.node.clock.passes(DAY.total_seconds())
    paid = large("other", value=ABOVE, destination=other, date=today(holding))
    assert await holding.node.post(paid) == OK

    await holding.order(value=ABOVE)

    assert (await holding.node.row()).state is ACCEPTED


async def test_a_reference_held_by_another_process_is_answered_with_its_state(holding: Holding):
    """Both found no row; one has stored it meanwhile."""
    seen, beside = holding.node.store, Holding(holding.node.beside())
    gate = seen.held["add"] = asyncio.Event()
    late = asyncio.create_task(holding.order())
    await asyncio.sleep(0)
    assert await beside.order() == OK
    gate.set()

    assert await late == OK
    assert holding.outcomes == []
    assert beside.outcomes == ["held"]


async def test_a_payout_to_a_known_payee_is_sent_at_once(holding: Holding):
    await paid_before(holding)

    assert await holding.order() == OK
    assert (await holding.node.row()).state is ACCEPTED


async def test_a_payout_within_the_last_day_makes_no_payee_known(holding: Holding):
    """Otherwise a thief could pay one centavo, wait, and take everything."""
    await paid_before(holding, DAY - timedelta(seconds=1))

    await holding.order()

    assert (await holding.node.row()).state is HELD


async def test_a_known_tax_number_with_another_key_is_a_first_payee(holding: Holding):
    """A tax number is typed, and was not compared with the owner of the key."""
    await paid_before(holding, destination=replace(PIX, key="other@example.com"))

    await holding.order()

    assert (await holding.node.row()).state is HELD


async def test_an_unpaid_payout_does_not_make_its_payee_known(holding: Holding):
    holding.node.bank.says = [IS_NOT_SENT, IS_UNKNOWN]
    assert await holding.node.post(asking("before")) == UNSENT
    holding.node.clock.passes(DAY.total_seconds())

    await holding.order()

    assert (await holding.node.row()).state is HELD


async def test_a_payee_known_to_a_sister_account_is_known(holding: Holding):
    """A payee is known to the whole company."""
    sister = Caller(principal(), account(SISTER))
    assert await holding.node.post(asking("before"), sister) == OK
    holding.node.clock.passes(DAY.total_seconds())

    await holding.order()

    assert (await holding.node.row()).state is ACCEPTED


async def test_nothing_is_stored_when_payees_cannot_be_read(holding: Holding):
    holding.node.store.fails_before.add("has_paid")

    assert await holding.order() == NO_STORE
    assert not await holding.node.has_row()


async def test_a_repeat_of_a_held_payout_sends_nothing(holding: Holding):
    await holding.order()

    assert await holding.order() == OK
    assert await holding.order(value=Money(100_002)) == BAD
    assert holding.node.bank.orders == []


async def test_a_read_of_a_held_payout_sends_nothing(holding: Holding):
    await holding.order()
    holding.node.clock.passes(BOOKS_S)

    assert (await holding.node.payouts.read(caller(), "order-1")).state is HELD
    assert holding.node.bank.orders == []


async def test_a_held_payout_is_sent_once_after_its_hold(holding: Holding):
    await holding.order()
    passed = len(holding.passed)

    row = await holding.end()
    again = await holding.ends.end(replace(row, state=HELD, attempt=0, held_until=NOON))

    assert (row.state, row.attempt, row.held_until) == (ACCEPTED, 1, None)
    assert again == row
    assert len(holding.node.bank.orders) == 1
    assert holding.passed[passed:][:4] == [
        *("before_release", "before_insert", "after_release", "after_insert")
    ]
    assert await holding.events() == [("held", 0), ("stored", 1), ("answered", 1)]
    assert holding.outcomes == ["held", "sent"]


async def test_a_held_payout_is_not_sent_before_its_hold_ends(holding: Holding):
    await holding.order()

    row = await holding.end(HALF_HOUR - timedelta(seconds=1))

    assert row.state is HELD
    assert holding.node.bank.orders == []


async def test_of_two_processes_ending_a_hold_one_sends(holding: Holding):
    await holding.order()
    held = await holding.node.row()
    beside = Holding(holding.node.beside())
    await holding.end()

    row = await beside.ends.end(held)

    assert row.state is ACCEPTED
    assert len(holding.node.bank.orders) == 1
    assert beside.node.lost == ["sandbox"]


@pytest.mark.parametrize(
    ("says", "state"), [(IS_NOT_SENT, NOT_SENT), (IS_UNKNOWN, UNKNOWN)], ids=["unsent", "unknown"]
)
async def test_a_failed_attempt_after_a_hold_has_its_usual_state(holding: Holding, says, state):
    await holding.order()
    holding.node.bank.says = [says]

    assert (await holding.end()).state is state


async def test_a_held_payout_fails_as_not_sent_at_midnight(holding: Holding):
    """Whether a read, a repeat or the follow-up finds it first."""
    holding.node.clock.passes(timedelta(hours=11, minutes=45).total_seconds())
    await holding.order()
    row = await holding.node.row()

    row = await holding.end(timedelta(minutes=15))

    assert (row.state, row.failure and row.failure.code) == (FAILED, FailureCode.NOT_SENT)
    assert holding.node.bank.orders == []
    assert await holding.events() == [("held", 0), ("expired", 0)]
    assert holding.outcomes == ["held", "expired"]


async def test_a_hold_ends_at_midnight_at_the_latest(holding: Holding):
    holding.node.clock.passes(timedelta(hours=11, minutes=45).total_seconds())
    await holding.order()

    midnight = NOON.replace(hour=0) + timedelta(days=1)
    assert (await holding.node.row()).held_until == midnight


async def test_a_held_payout_fails_when_a_stop_was_set_meanwhile(holding: Holding):
    """Lifting the stop later must not send payouts that a thief ordered before it."""
    await holding.order()
    holding.stops.append(stop())

    row = await holding.end()

    assert (row.state, row.failure and row.failure.code) == (FAILED, FailureCode.NOT_SENT)
    assert await holding.events() == [("held", 0), ("refused", 0)]
    assert holding.outcomes == ["held", "not_allowed"]
    assert holding.node.bank.orders == []


async def test_a_held_payout_fails_when_its_payer_lost_the_right(holding: Holding):
    await holding.order()
    holding.payers.refusal = ServiceError(errors.PERMISSION_DENIED, "revoked")

    assert (await holding.end()).state is FAILED
    assert holding.node.bank.orders == []


async def test_a_held_payout_fails_when_its_account_changed_the_bank(holding: Holding):
    await holding.order()
    holding.node.banks.name = "other"

    assert (await holding.end()).state is FAILED
    assert holding.node.bank.orders == []


async def test_with_look_first_the_bank_is_queried_when_a_hold_ends(payout_world: PayoutWorld):
    """A hold in a backup may have ended, and its payout may have been sent."""
    holding = Holding(payout_world, look_first=True)
    await holding.order()

    await holding.end()

    assert len(holding.node.bank.lookups) == 1


async def test_with_look_first_a_held_payout_that_cannot_be_sent_is_unknown(
    payout_world: PayoutWorld,
):
    holding = Holding(payout_world, look_first=True)
    await holding.order()
    holding.stops.append(stop())

    assert (await holding.end()).state is UNKNOWN


async def test_a_held_payout_is_not_sent_when_its_claim_may_not_be_stored(holding: Holding):
    await holding.order()
    holding.node.store.fails_after.add("claim")

    with pytest.raises(Exception, match="claim"):
        await holding.end()

    assert holding.node.bank.orders == []


async def test_a_second_user_releases_a_held_payout(holding: Holding):
    """It is due at once, and sent only by the follow-up."""
    await holding.order()
    who = approver()

    await holding.decisions.release(who, account(), "order-1")

    row = await holding.node.row()
    assert (row.state, row.held_until) == (HELD, NOON)
    assert (await holding.end(timedelta(0))).state is ACCEPTED
    assert (await holding.events())[1] == ("released", 0)
    assert holding.outcomes == ["held", "released", "sent"]


async def test_a_held_payout_is_released_once(holding: Holding):
    await holding.order()
    await holding.decisions.release(approver(), account(), "order-1")

    with pytest.raises(ServiceError, match="not_possible"):
        await holding.decisions.release(approver(), account(), "order-1")


async def test_a_second_user_refuses_a_held_payout(holding: Holding):
    await holding.order()

    await holding.decisions.refuse(approver(), account(), "order-1", WHY)

    row = await holding.end()
    assert (row.state, row.failure) == (FAILED, REFUSED_BY_OPERATOR)
    assert await holding.order() == FORBIDDEN
    assert holding.node.bank.orders == []
    assert await holding.events() == [("held", 0), ("refused", 0)]
    assert holding.outcomes == ["held", "refused"]


async def test_refusing_a_held_payout_requires_a_reason(holding: Holding):
    await holding.order()

    with pytest.raises(RuleViolation):
        await holding.decisions.refuse(approver(), account(), "order-1", RefusalBody(reason=" "))


async def test_the_orderer_cannot_decide_on_a_held_payout(holding: Holding):
    ordered_by = structs.replace(principal(), client_id=f"user:{ORDERER}")
    await holding.node.post(large(), Caller(ordered_by, account()))

    for decide in (holding.decisions.release, holding.decisions.refuse):
        more = () if decide == holding.decisions.release else (WHY,)
        with pytest.raises(ServiceError, match="forbidden"):
            await decide(approver(ORDERER), account(), "order-1", *more)
    assert (await holding.node.row()).held_until == NOON + HALF_HOUR


async def test_the_orderer_of_a_secret_refuses_its_held_payouts_only(holding: Holding):
    """They cannot release one: the secret was shown to them, and they may be who pays with it."""
    await holding.order()
    holding.payers.shown_to = ORDERER

    with pytest.raises(ServiceError) as refused:
        await holding.decisions.release(approver(ORDERER), account(), "order-1")
    assert refused.value.reason == "own_secret"
    assert (await holding.node.row()).held_until == NOON + HALF_HOUR

    await holding.decisions.refuse(approver(ORDERER), account(), "order-1", WHY)
    assert (await holding.node.row()).state is FAILED


async def test_a_command_cannot_decide_on_a_held_payout(holding: Holding):
    """A hold requires a second user, and a command has no signed-in user."""
    await holding.order()

    with pytest.raises(ServiceError, match="forbidden"):
        await holding.decisions.release(CLI, account(), "order-1")


async def test_a_sent_payout_cannot_be_released_or_refused(holding: Holding):
    await holding.order()
    await holding.end()

    with pytest.raises(ServiceError, match="not_possible"):
        await holding.decisions.refuse(approver(), account(), "order-1", WHY)


async def test_no_held_payout_is_released_during_a_stop(holding: Holding):
    await holding.order()
    holding.stops.append(stop())

    with pytest.raises(ServiceError, match="payouts_stopped"):
        await holding.decisions.release(approver(), account(), "order-1")
    assert await holding.node.post() == BAD
    assert await holding.order("order-2") == FORBIDDEN


def stop() -> Stop:
    return Stop(
        id="1",
        scope=StopScope.ACCOUNT,
        subject=ACCOUNT,
        reason="theft",
        created_by="maria",
        created_at=NOON,
        ends_at=NOON + timedelta(days=1),
    )
