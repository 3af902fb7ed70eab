"""Four eyes: what one person orders waits until another one agrees."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import replace

import pytest

from gateway.approvals.facts import DecisionFacts
from gateway.approvals.money import Order
from gateway.core.approvals import Approval, ApprovalKind, ApprovalState, NewOrder, Outcome
from gateway.core.errors import ServiceError
from gateway.core.money import Money
from gateway.core.rights import Role
from gateway.payouts.documents import Orderer
from gateway.payouts.model import PayoutState
from tests.unit.gateway.approvals.approval_world import (
    ANA,
    DAY_S,
    JOAO,
    MARIA,
    ORDERS,
    ApprovalWorld,
    Changed,
    somebody,
    stopped,
    stored,
)
from tests.world.acts import acts_of
from tests.world.payouts import IS_FORBIDDEN, IS_NOT_SENT, IS_SETTLED, IS_UNKNOWN, asking
from tests.world.people import ACCOUNT, COMPANY, OTHER_COMPANY, account, caller
from tests.world.stores.samples import event


async def test_a_waiting_order_does_not_call_the_bank(approval_world: ApprovalWorld):
    waiting = await approval_world.ordered()

    assert waiting.state is ApprovalState.WAITING
    assert approval_world.payout_world.bank.orders == []
    assert not await approval_world.payout_world.has_row(), "the partner sees no payout"


async def test_an_order_approved_by_another_user_is_paid_once(approval_world: ApprovalWorld):
    approval_world.payout_world.bank.says = [IS_SETTLED]
    waiting = await approval_world.ordered()

    decided = await approval_world.approve(JOAO, waiting)

    row = await approval_world.payout_world.row()
    assert (decided.approval.state, row.state) == (ApprovalState.APPROVED, PayoutState.PAID)
    assert row.client_id == "user:maria"
    assert len(approval_world.payout_world.bank.orders) == 1


async def test_an_order_s_author_is_shown_to_its_readers(approval_world: ApprovalWorld):
    waiting, reader = await approval_world.ordered(), approval_world.staff(JOAO)
    maria = Orderer(MARIA.user_id, MARIA.name, MARIA.email)

    assert await approval_world.approvals.people(reader, [waiting]) == [maria]
    assert await approval_world.approvals.people(reader, []) == []


async def test_no_user_approves_their_own_order(approval_world: ApprovalWorld):
    waiting = await approval_world.ordered()

    assert await approval_world.refusal(approval_world.approve(MARIA, waiting)) == (
        "403 FORBIDDEN own_order"
    )
    assert approval_world.payout_world.bank.orders == []


async def test_ten_concurrent_approvals_pay_once(approval_world: ApprovalWorld):
    waiting = await approval_world.ordered()

    done = await asyncio.gather(
        *(approval_world.approve(somebody(f"p{n}"), waiting) for n in range(10)),
        return_exceptions=True,
    )

    assert len(approval_world.payout_world.bank.orders) == 1
    assert any(not isinstance(each, Exception) for each in done)
    found = await approval_world.now(waiting)
    assert found.state is ApprovalState.APPROVED


@pytest.mark.parametrize("ends", [ApprovalState.REJECTED, ApprovalState.WITHDRAWN])
async def test_a_rejected_order_is_never_paid(approval_world: ApprovalWorld, ends: ApprovalState):
    waiting = await approval_world.ordered()
    is_own = ends is ApprovalState.WITHDRAWN
    end = approval_world.withdraw if is_own else approval_world.reject

    ended = await end(MARIA if is_own else JOAO, waiting, "wrong amount")

    assert (ended.state, ended.reason) == (ends, "wrong amount")
    acts = await acts_of(approval_world.store)
    assert acts[-1].event.action == f"approval.{ends.value}"
    assert await approval_world.refusal(approval_world.approve(ANA, waiting)) == (
        "400 VALIDATION_FAILED decided"
    )
    assert approval_world.payout_world.bank.orders == []


async def test_only_the_orderer_withdraws_and_only_others_reject(approval_world: ApprovalWorld):
    waiting = await approval_world.ordered()

    theirs = await approval_world.refusal(approval_world.withdraw(JOAO, waiting, "no"))
    own = await approval_world.refusal(approval_world.reject(MARIA, waiting, "no"))

    assert (theirs, own) == ("403 FORBIDDEN not_own_order", "403 FORBIDDEN own_order")
    assert await approval_world.now(waiting) == waiting


async def test_a_decided_or_expired_order_is_not_withdrawn(approval_world: ApprovalWorld):
    approved = await approval_world.ordered()
    await approval_world.approve(JOAO, approved)
    late = await approval_world.ordered(ORDERS[1])
    approval_world.payout_world.clock.passes(DAY_S / 2)

    refused = [
        await approval_world.refusal(approval_world.withdraw(MARIA, each, "no"))
        for each in (approved, late)
    ]

    assert refused == ["400 VALIDATION_FAILED decided", "400 VALIDATION_FAILED over"]


async def test_an_order_cannot_be_approved_after_its_day(approval_world: ApprovalWorld):
    waiting = await approval_world.ordered()
    approval_world.payout_world.clock.passes(DAY_S / 2)

    assert await approval_world.refusal(approval_world.approve(JOAO, waiting)) == (
        "400 VALIDATION_FAILED over"
    )
    assert await approval_world.approvals.expire() == 1
    assert await approval_world.approvals.expire() == 0
    found = await approval_world.now(waiting)
    assert found.state is ApprovalState.EXPIRED


@pytest.mark.parametrize(
    ("changed", "refusal"),
    [
        ({"active": False}, "400 SVC.ACC.002 inactive"),
        ({"verified": False}, "400 SVC.ACC.003 unverified"),
    ],
)
async def test_the_account_is_checked_again_at_approval(
    approval_world: ApprovalWorld, changed: dict, refusal: str
):
    """The order keeps waiting and can be approved once the account is corrected."""
    waiting = await approval_world.ordered()
    await approval_world.store.accounts.replace(replace(account(), **changed), event())

    assert await approval_world.refusal(approval_world.approve(JOAO, waiting)) == refusal

    await approval_world.store.accounts.replace(account(), event())
    await approval_world.approve(JOAO, waiting)
    assert len(approval_world.payout_world.bank.orders) == 1


async def test_an_order_to_a_removed_bank_keeps_waiting(approval_world: ApprovalWorld):
    waiting = await approval_world.ordered()
    approval_world.payout_world.banks.is_there = False

    assert (await approval_world.refusal(approval_world.approve(JOAO, waiting))).startswith("422")

    found = await approval_world.now(waiting)
    assert found.state is ApprovalState.WAITING


@pytest.mark.parametrize("order", ORDERS, ids=["payout", "refund"])
async def test_no_order_is_accepted_while_payouts_are_stopped(
    approval_world: ApprovalWorld, order: Order
):
    """It is refused like the payout itself, and no order is stored."""
    approval_world.stops.append(stopped(approval_world.payout_world.clock))

    refusal = await approval_world.refusal(approval_world.ordered(order))

    assert refusal == "403 SVC.PIX.010 stopped"
    assert await approval_world.listed(JOAO) == []


@pytest.mark.parametrize("order", ORDERS, ids=["payout", "refund"])
async def test_an_order_keeps_waiting_while_payouts_are_stopped(
    approval_world: ApprovalWorld, order: Order
):
    """A refusal by a stop is not final: it can be approved after the stop."""
    waiting = await approval_world.ordered(order)
    approval_world.stops.append(stopped(approval_world.payout_world.clock))

    refusal = await approval_world.refusal(approval_world.approve(JOAO, waiting))

    assert refusal == "403 SVC.PIX.010 stopped"
    assert await approval_world.now(waiting) == waiting
    assert approval_world.payout_world.bank.orders == []


async def test_an_expired_stop_does_not_block_an_approval(approval_world: ApprovalWorld):
    waiting = await approval_world.ordered()
    approval_world.stops.append(stopped(approval_world.payout_world.clock))
    approval_world.payout_world.clock.passes(3600)

    await approval_world.approve(JOAO, waiting)

    assert len(approval_world.payout_world.bank.orders) == 1


async def test_a_repeat_of_a_paid_order_is_answered_during_a_stop(
    approval_world: ApprovalWorld,
):
    waiting = await approval_world.ordered()
    await approval_world.approve(JOAO, waiting)
    approval_world.stops.append(stopped(approval_world.payout_world.clock))

    assert await approval_world.order(asking()) == await approval_world.payout_world.row()


async def test_an_order_is_not_paid_when_a_partner_has_used_its_reference(
    approval_world: ApprovalWorld,
):
    waiting = await approval_world.ordered()
    await approval_world.payout_world.post(replace(asking(), value=Money(99)), caller())

    refusal = await approval_world.refusal(approval_world.approve(JOAO, waiting))

    assert refusal.startswith("400 SVC.PIX.010")
    assert len(approval_world.payout_world.bank.orders) == 1


async def test_an_approved_unsent_order_may_be_executed_again(approval_world: ApprovalWorld):
    """The process died, or the bank was unreachable: nothing moved, so it may be repeated."""
    approval_world.payout_world.bank.says = [IS_NOT_SENT, IS_SETTLED]
    waiting = await approval_world.ordered()

    first = await approval_world.refusal(approval_world.approve(JOAO, waiting))
    again = await approval_world.approve(ANA, waiting)

    assert first.startswith("502 SVC.ACC.005")
    assert again.approval.decided_by == "joao"
    assert (await approval_world.payout_world.row()).state is PayoutState.PAID


async def test_the_approver_sees_a_refusal_of_the_bank(approval_world: ApprovalWorld):
    approval_world.payout_world.bank.says = [IS_FORBIDDEN]
    waiting = await approval_world.ordered()

    assert (await approval_world.refusal(approval_world.approve(JOAO, waiting))).startswith(
        "403 SVC.PIX.010"
    )


@pytest.mark.parametrize(
    ("limit", "waits"),
    [(None, False), (Money(1050), False), (Money(1049), True), (Money(0), True)],
)
async def test_the_amount_decides_whether_an_order_needs_approval(
    approval_world: ApprovalWorld, limit: Money | None, waits: bool
):
    answered = await approval_world.above(limit).order(
        approval_world.staff(MARIA), account(), asking()
    )

    assert isinstance(answered, Approval) is waits
    assert len(approval_world.payout_world.bank.orders) == (0 if waits else 1)


async def test_a_reference_may_have_only_one_waiting_order(approval_world: ApprovalWorld):
    await approval_world.ordered()

    assert (await approval_world.refusal(approval_world.ordered())).startswith("409 SVC.GTW.009")


async def test_repeating_a_paid_order_returns_it(approval_world: ApprovalWorld):
    waiting = await approval_world.ordered()
    await approval_world.approve(JOAO, waiting)

    again = await approval_world.order(asking())
    other = approval_world.approvals.order(
        approval_world.staff(MARIA), account(), replace(asking(), value=Money(2))
    )

    assert again == await approval_world.payout_world.row()
    assert (await approval_world.refusal(other)).startswith("400 SVC.PIX.010")


async def test_an_order_for_another_day_is_refused_at_once(approval_world: ApprovalWorld):
    tomorrow = approval_world.payout_world.clock.now().date().replace(day=21)

    refusal = await approval_world.refusal(
        approval_world.approvals.order(
            approval_world.staff(MARIA), account(), replace(asking(), date=tomorrow)
        )
    )

    assert refusal.startswith("400 SVC.VAL.008")


async def test_an_order_of_another_company_is_not_found(approval_world: ApprovalWorld):
    waiting = await approval_world.ordered()
    stranger = somebody("stranger", OTHER_COMPANY)

    assert await approval_world.refusal(approval_world.approve(stranger, waiting)) == (
        "404 NOT_FOUND no_approval"
    )
    assert await approval_world.listed(stranger) == []
    assert await approval_world.listed(somebody("x", COMPANY)) == [waiting]


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"active": False}, "has been disabled"),
        ({"roles": frozenset({Role.APPROVER})}, "no longer allowed"),
        ({"companies": frozenset({OTHER_COMPANY})}, "no longer has access"),
    ],
)
async def test_the_orderer_s_rights_are_checked_again_at_approval(
    approval_world: ApprovalWorld, changed: dict, why: str
):
    """Also when the store could not check: the order was under way while they were changed."""
    waiting = await approval_world.ordered()
    away = replace(approval_world.approvals, users=Changed(stored(MARIA, **changed)))

    refusal = await approval_world.refusal(away.approve(approval_world.staff(JOAO), waiting.id))

    found = await approval_world.now(waiting)
    assert refusal == "400 VALIDATION_FAILED void"
    assert (found.state, why in found.reason) == (ApprovalState.VOID, True)
    assert approval_world.payout_world.bank.orders == []


@pytest.mark.parametrize(
    ("said", "outcome", "code"),
    [
        (IS_SETTLED, Outcome.MOVED, ""),
        (IS_FORBIDDEN, Outcome.REFUSED, "SVC.PIX.010"),
        (IS_NOT_SENT, Outcome.NOT_SENT, "SVC.ACC.005"),
        (IS_UNKNOWN, Outcome.UNKNOWN, ""),
    ],
)
async def test_an_approval_shows_its_outcome(
    approval_world: ApprovalWorld, said: object, outcome: Outcome, code: str
):
    approval_world.payout_world.bank.says = [said]
    waiting = await approval_world.ordered()

    with suppress(ServiceError):
        await approval_world.approve(JOAO, waiting)

    found = await approval_world.now(waiting)
    assert (found.state, found.outcome, found.outcome_code) == (
        ApprovalState.APPROVED,
        outcome,
        code,
    )


async def test_an_order_refused_by_the_bank_is_not_repeated(approval_world: ApprovalWorld):
    approval_world.payout_world.bank.says = [IS_FORBIDDEN, IS_SETTLED]
    waiting = await approval_world.ordered()
    await approval_world.refusal(approval_world.approve(JOAO, waiting))

    again = await approval_world.refusal(approval_world.approve(ANA, waiting))

    assert again == "400 VALIDATION_FAILED decided"
    assert len(approval_world.payout_world.bank.orders) == 1


async def test_an_unknown_payout_is_followed_until_its_approval_has_an_outcome(
    approval_world: ApprovalWorld,
):
    approval_world.payout_world.bank.says, approval_world.payout_world.bank.knows = (
        [IS_UNKNOWN],
        IS_SETTLED,
    )
    waiting = await approval_world.ordered()
    await approval_world.refusal(approval_world.approve(JOAO, waiting))

    early = await approval_world.approvals.expire()
    await approval_world.payout_world.look()
    later = await approval_world.approvals.expire()

    found = await approval_world.now(waiting)
    assert (early, later, found.outcome) == (0, 1, Outcome.MOVED)


async def test_every_step_is_audited_without_the_reference(approval_world: ApprovalWorld):
    waiting = await approval_world.ordered()
    await approval_world.approve(JOAO, waiting)

    acts = await acts_of(approval_world.store)
    told = [(each.event.actor, each.event.action) for each in acts][-3:]
    assert told == [
        ("user:maria@example.com", "approval.ordered"),
        ("user:joao@example.com", "approval.approved"),
        ("system", "approval.concluded"),
    ]
    assert all("order-1" not in str(each.event) for each in acts)
    assert waiting.account_id == ACCOUNT


async def test_orders_without_money_have_no_similar_orders(approval_world: ApprovalWorld):
    """The content of such an order is not read for this."""
    order = NewOrder(kind=ApprovalKind.ROLES, text="{}", company_id=COMPANY)
    waiting = await approval_world.approvals.wait(MARIA, order)

    found = await approval_world.approvals.facts(approval_world.staff(JOAO), waiting.id)

    assert found == DecisionFacts()
