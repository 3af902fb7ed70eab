"""Approved orders: executed once, again where that is safe, and reported as they ended."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace

import pytest

from gateway.approvals.execution import Decided
from gateway.approvals.money import Order
from gateway.approvals.store import StoredApprovals
from gateway.banks.port.payout_orders import FailureCode
from gateway.banks.port.providers import OutcomeUnknown, ProviderError, Rejected, Unavailable
from gateway.banks.port.refunds import RefundStatus, refund_key
from gateway.core.approvals import Approval, ApprovalState, Outcome
from gateway.core.audit import AuditEvent
from gateway.core.errors import ServiceError
from gateway.core.money import Money
from gateway.core.storage import StoreUnavailable
from gateway.payouts import create as sending
from gateway.payouts.model import PayoutState
from gateway.refunds.orders import RefundRequest
from tests.unit.gateway.approvals.approval_world import (
    ANA,
    DAY_S,
    JOAO,
    MARIA,
    ORDERS,
    ApprovalWorld,
    Changed,
    stopped,
    stored,
)
from tests.unit.gateway.refunds.refunds import CHARGE, PAYMENT, SILENCE, TAKEN, UNSENT
from tests.unit.offering import OfferingBank, refund
from tests.world.acts import acts_of
from tests.world.payouts import ANSWERED, IS_FORBIDDEN, IS_NOT_SENT, IS_SETTLED, IS_UNKNOWN, asking
from tests.world.people import ACCOUNT, account
from tests.world.stores.samples import event
from tests.world.waiting import until

REFUND = RefundRequest(reference="refund-1", payment="order-1", value=Money(1050), description="")
MINUTE_S = 60


@dataclass
class Forgetful:
    """Approvals of a store that cannot note how an order ended."""

    inner: StoredApprovals

    def __getattr__(self, name: str) -> object:
        return getattr(self.inner, name)

    async def conclude(self, _concluded: Approval, _event: AuditEvent, _before: Outcome) -> bool:
        problem = "away"
        raise StoreUnavailable(problem)


@pytest.fixture
def refund_bank(approval_world: ApprovalWorld) -> OfferingBank:
    """The bank that gives refunds: the first one's answer is lost, and nothing was given."""
    bank = OfferingBank(gives=False)
    known = {"order-1": CHARGE, "payment of order-1": PAYMENT, "create_refund": SILENCE}
    bank.reads = {**known, "find_received": Unavailable("timeout")}
    approval_world.payout_world.banks.adapter = bank
    return bank


async def approved(world: ApprovalWorld, order: Order = REFUND) -> Approval:
    """Order something, and approve it, whatever comes of that."""
    waiting = await world.ordered(order)
    with suppress(ServiceError, ProviderError):
        await world.approve(JOAO, waiting)
    return waiting


async def told(world: ApprovalWorld, waiting: Approval) -> Decided | Exception:
    """Approve again; return what that led to."""
    try:
        return await world.approve(ANA, waiting)
    except (ServiceError, ProviderError) as problem:
        return problem


def _unreachable(world: ApprovalWorld, bank: OfferingBank) -> None:
    bank.reads["find_refund"] = Unavailable("timeout")


def _read_only(world: ApprovalWorld, _bank: OfferingBank) -> None:
    world.payout_world.banks.read_only = True


def _stopped(world: ApprovalWorld, _bank: OfferingBank) -> None:
    world.stops.append(stopped(world.payout_world.clock))


def _not_sent(_world: ApprovalWorld, bank: OfferingBank) -> None:
    bank.reads["create_refund"] = UNSENT


@pytest.mark.parametrize("hinders", [_unreachable, _read_only, _stopped, _not_sent])
async def test_a_failed_repetition_leaves_a_possibly_given_refund_unknown(
    approval_world: ApprovalWorld, refund_bank: OfferingBank, hinders: Callable[..., None]
):
    waiting = await approved(approval_world)
    hinders(approval_world, refund_bank)

    again = await told(approval_world, waiting)

    assert isinstance(again, Exception)
    assert (await approval_world.now(waiting)).outcome is Outcome.UNKNOWN


async def test_a_refund_stays_unknown_while_the_bank_cannot_be_asked(
    approval_world: ApprovalWorld, refund_bank: OfferingBank
):
    """It is reported as unknown, never as not sent."""
    waiting = await approved(approval_world)
    _unreachable(approval_world, refund_bank)

    assert isinstance(await told(approval_world, waiting), OutcomeUnknown)


@pytest.mark.parametrize("hinders", [_read_only, _stopped], ids=["read-only", "stopped"])
async def test_a_refund_already_given_is_found_when_another_is_forbidden(
    approval_world: ApprovalWorld, refund_bank: OfferingBank, hinders: Callable[..., None]
):
    """Also long after its day: looking it up gives nothing again."""
    waiting = await approved(approval_world)
    hinders(approval_world, refund_bank)
    approval_world.payout_world.clock.passes(3 * DAY_S)
    key = refund_key(approval_world.approvals.money.refunds.environment, ACCOUNT, "refund-1")
    refund_bank.given[key] = refund(provider_key=key)

    again = await told(approval_world, waiting)

    assert isinstance(again, Decided)
    assert (again.approval.outcome, len(refund_bank.refund_orders)) == (Outcome.MOVED, 1)


async def test_a_refund_that_failed_at_the_bank_ends_as_refused(
    approval_world: ApprovalWorld, refund_bank: OfferingBank
):
    waiting = await approved(approval_world)
    key = refund_key(approval_world.approvals.money.refunds.environment, ACCOUNT, "refund-1")
    refund_bank.given[key] = refund(provider_key=key, status=RefundStatus.FAILED)

    await told(approval_world, waiting)

    assert (await approval_world.now(waiting)).outcome is Outcome.REFUSED


async def test_a_refund_refused_by_the_bank_ends_its_approval(
    approval_world: ApprovalWorld, refund_bank: OfferingBank
):
    """Such as one of two approved refunds that together exceed their payment."""
    refund_bank.reads["create_refund"] = Rejected(evidence=ANSWERED, failure=FailureCode.REJECTED)

    waiting = await approved(approval_world)
    again = await told(approval_world, waiting)

    ended = await approval_world.now(waiting)
    assert (ended.outcome, ended.outcome_code) == (Outcome.REFUSED, "SVC.GTW.008")
    assert isinstance(again, ServiceError)


async def test_repeating_an_unknown_refund_that_was_not_given_gives_it(
    approval_world: ApprovalWorld, refund_bank: OfferingBank
):
    waiting = await approved(approval_world)
    refund_bank.gives, refund_bank.reads["create_refund"] = True, TAKEN

    again = await told(approval_world, waiting)

    assert isinstance(again, Decided)
    assert again.approval.outcome is Outcome.MOVED
    assert len({each.provider_key for each in refund_bank.refund_orders}) == 1


def _unsent(world: ApprovalWorld, order: Order, bank: OfferingBank) -> None:
    """Let the first try of an order certainly not be sent, and the second be taken."""
    bank.says = [IS_NOT_SENT, IS_SETTLED]
    bank.reads["create_refund"] = UNSENT


@pytest.mark.parametrize("order", ORDERS, ids=["payout", "refund"])
@pytest.mark.parametrize(
    ("meanwhile", "refusal"),
    [
        ("over", "400 VALIDATION_FAILED over"),
        ("disabled", "400 VALIDATION_FAILED void"),
        ("inactive", "400 SVC.ACC.002 inactive"),
    ],
)
async def test_an_unsent_payout_is_checked_again_before_it_is_repeated(
    approval_world: ApprovalWorld,
    refund_bank: OfferingBank,
    order: Order,
    meanwhile: str,
    refusal: str,
):
    """As before its approval: the day, the user who ordered it, and the account."""
    _unsent(approval_world, order, refund_bank)
    waiting = await approved(approval_world, order)
    asked = len(refund_bank.orders) + len(refund_bank.refund_orders)
    match meanwhile:
        case "over":
            approval_world.payout_world.clock.passes(DAY_S)
        case "disabled":
            users = Changed(stored(MARIA, active=False))
            approval_world.approvals = replace(approval_world.approvals, users=users)
        case _:
            off = replace(account(), active=False)
            await approval_world.store.accounts.replace(off, event())

    assert await approval_world.refusal(approval_world.approve(ANA, waiting)) == refusal
    assert len(refund_bank.orders) + len(refund_bank.refund_orders) == asked


async def test_the_user_who_repeats_an_approval_is_audited(approval_world: ApprovalWorld):
    approval_world.payout_world.bank.says = [IS_NOT_SENT, IS_SETTLED]
    waiting = await approved(approval_world, asking())

    await approval_world.approve(ANA, waiting)

    acts = await acts_of(approval_world.store)
    assert ("user:ana@example.com", "approval.repeated") in [
        (each.event.actor, each.event.action) for each in acts
    ]


async def test_repeating_the_approval_of_an_unknown_payout_does_not_report_it_as_moved(
    approval_world: ApprovalWorld,
):
    approval_world.payout_world.bank.says = [IS_UNKNOWN]
    waiting = await approved(approval_world, asking())

    again = await approval_world.approve(ANA, waiting)

    assert again.approval.outcome is Outcome.UNKNOWN
    assert len(approval_world.payout_world.bank.orders) == 1


async def test_a_second_approval_during_the_call_is_refused_as_under_way(
    approval_world: ApprovalWorld, monkeypatch: pytest.MonkeyPatch
):
    """Neither as moved nor as not moved."""
    monkeypatch.setattr(sending, "_WAIT_STEP_S", 0.01)
    bank = approval_world.payout_world.bank
    bank.says = [IS_FORBIDDEN]
    bank.gate.clear()
    waiting = await approval_world.ordered()
    first = asyncio.create_task(approval_world.approve(JOAO, waiting))
    await until(lambda: bank.orders)

    second = await approval_world.refusal(approval_world.approve(ANA, waiting))
    bank.gate.set()
    with pytest.raises(ServiceError):
        await first

    assert second == "400 VALIDATION_FAILED under_way"
    assert (await approval_world.now(waiting)).outcome is Outcome.REFUSED


@pytest.mark.parametrize("says", [IS_SETTLED, IS_UNKNOWN], ids=["paid", "unknown"])
async def test_an_outcome_that_cannot_be_stored_is_followed_up(
    approval_world: ApprovalWorld, says: object
):
    approval_world.payout_world.bank.says = [says]
    approval_world.payout_world.bank.knows = IS_SETTLED
    waiting = await approval_world.ordered()
    sound = approval_world.approvals
    approval_world.approvals = replace(sound, store=Forgetful(sound.store))

    answered = await told(approval_world, waiting)
    approval_world.approvals = sound
    await approval_world.payout_world.look()
    early = await sound.expire()
    approval_world.payout_world.clock.passes(MINUTE_S)
    late = await sound.expire()

    assert isinstance(answered, Decided) is (says is IS_SETTLED)
    assert not isinstance(answered, StoreUnavailable)
    assert (early, late) == (0, 1)
    assert (await approval_world.now(waiting)).outcome is Outcome.MOVED


async def test_an_approval_left_by_a_dead_process_can_be_executed_a_minute_later(
    approval_world: ApprovalWorld,
):
    """Until then the process may still be executing it."""
    waiting = await approval_world.ordered()
    decided = replace(
        waiting,
        state=ApprovalState.APPROVED,
        decided_by="joao",
        decider="user:joao@example.com",
        decided_at=approval_world.payout_world.clock.now(),
    )
    await approval_world.store.approvals.decide(decided, event())

    early = await approval_world.refusal(approval_world.approve(ANA, waiting))
    approval_world.payout_world.clock.passes(MINUTE_S)
    late = await approval_world.approve(ANA, waiting)

    assert early == "400 VALIDATION_FAILED under_way"
    assert late.approval.outcome is Outcome.MOVED
    assert len(approval_world.payout_world.bank.orders) == 1


@pytest.mark.parametrize(
    ("said", "answered"),
    [(IS_NOT_SENT, "waits"), (IS_FORBIDDEN, "403 SVC.PIX.010"), (IS_SETTLED, "the payout")],
    ids=["not sent", "refused", "paid"],
)
async def test_ordering_an_existing_payout_is_answered_like_a_repeat(
    approval_world: ApprovalWorld, said: object, answered: str
):
    """An unsent one waits like a new order; a refused one is refused again."""
    approval_world.payout_world.bank.says = [said]
    await approval_world.payout_world.post(asking())
    order = approval_world.order(asking())

    match answered:
        case "waits":
            assert isinstance(await order, Approval)
        case "the payout":
            assert (await order) == await approval_world.payout_world.row()
        case refusal:
            assert (await approval_world.refusal(order)).startswith(refusal)


async def test_an_approval_of_a_payout_proven_unsent_may_be_repeated(approval_world: ApprovalWorld):
    """Unknown at first; the bank later proves that it never arrived."""
    world = approval_world.payout_world
    world.bank.says = [IS_UNKNOWN, IS_SETTLED]
    waiting = await approved(approval_world, asking())
    world.clock.passes(11 * MINUTE_S)
    assert (await world.look()).state is PayoutState.NOT_SENT

    again = await approval_world.approve(ANA, waiting)

    assert again.approval.outcome is Outcome.MOVED
    assert len(world.bank.orders) == 2
