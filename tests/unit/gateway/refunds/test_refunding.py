"""Refunds: given once for a reference, whatever becomes of the answers."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path

import pytest

from gateway.banks.port.payout_orders import FailureCode
from gateway.banks.port.providers import (
    ABOVE_PAYMENT,
    IN_USE,
    NOT_PAID,
    SEVERAL_PAYMENTS,
    NotFound,
    OutcomeUnknown,
    Rejected,
    Settled,
    Unavailable,
    Unreachable,
)
from gateway.banks.port.refunds import IncomingPayment, Refund, RefundStatus, refund_key
from gateway.core import errors
from gateway.core.account import Account, Environment
from gateway.core.catalogue import ErrorCode
from gateway.core.company_scope import StopScope
from gateway.core.money import Money
from gateway.core.storage import StoreUnavailable
from gateway.refunds.orders import RefundRequest
from gateway.refunds.refunding import RefundExecution
from gateway.stops.model import Stop
from tests.unit.gateway.refunds.refunds import CHARGE, PAYMENT, SILENCE, TAKEN, UNSENT
from tests.unit.offering import E2E_ID, Log, OfferingBank, acting, refund
from tests.unit.refusals import refused
from tests.world.banks.harness import on_stage
from tests.world.banks.sandbox import sandbox_bank_world
from tests.world.banks.witness import ClientLimits, Witness
from tests.world.payouts import ANSWERED, OneBank
from tests.world.people import ACCOUNT, CLIENT, COMPANY, account
from tests.world.standing import NOON, Clock

KEY = refund_key(Environment.SANDBOX, ACCOUNT, "refund-1")
PAID_BACK = Settled(
    evidence=ANSWERED, value=Money(1050), provider_id="dev_1", e2e_id="D1", settled_at=NOON
)


def rejected(reason: str = "refused", failure: FailureCode = FailureCode.OTHER) -> Rejected:
    return Rejected(evidence=replace(ANSWERED, reason=reason), failure=failure)


def request(**fields: object) -> RefundRequest:
    plain = {"reference": "refund-1", "payment": "order-1", "value": Money(1050)}
    return RefundRequest(**{**plain, **fields})  # type: ignore[arg-type]


def stop(scope: StopScope, subject: str) -> Stop:
    return Stop(
        id="1",
        scope=scope,
        subject=subject,
        reason="r",
        created_by="maria",
        created_at=NOON,
        ends_at=NOON + timedelta(hours=1),
    )


@dataclass
class RefundWorld:
    """A place where refunds are given."""

    bank: OfferingBank = field(default_factory=OfferingBank)
    log: Log = field(default_factory=Log)
    stops: Sequence[Stop] = ()
    read_only: bool = False
    is_there: bool = True
    told: list[Refund] = field(default_factory=list)

    def __post_init__(self) -> None:
        known = {"order-1": CHARGE, "payment of order-1": PAYMENT, "create_refund": TAKEN}
        self.bank.reads = {**known, **self.bank.reads}

    @property
    def refunds(self) -> RefundExecution:
        clock = Clock()
        banks = OneBank(self.bank, read_only=self.read_only, is_there=self.is_there)
        return RefundExecution(
            banks=banks,
            audit=self.log,
            environment=Environment.SANDBOX,
            now=clock.now,
            monotonic=clock.monotonic,
            stops=self._stops,
            tell=self._tell,
        )

    async def give(self, **fields: object):
        return await self.refunds.create(acting(), account(), request(**fields))

    async def _tell(self, _account: Account, refund: Refund) -> None:
        self.told.append(refund)

    async def _stops(self) -> Sequence[Stop]:
        return self.stops


async def test_a_refund_is_ordered_under_our_key_and_returned_as_the_bank_stores_it():
    refund_world = RefundWorld()

    given = await refund_world.give(description="oops")

    order = refund_world.bank.refund_orders[0]
    assert (order.provider_key, order.payment_e2e_id, order.value) == (KEY, E2E_ID, Money(1050))
    assert given == refund_world.bank.given[KEY]
    assert refund_world.told == [given]
    assert refund_world.log.actions == ["refund.ordered", "refund.done"]
    assert refund_world.log.events[0].subject == f"refund:{KEY}"
    assert refund_world.log.events[0].details == {
        "account": ACCOUNT,
        "value": "10.50",
        "payment": E2E_ID,
    }


async def test_a_repeated_refund_is_answered_without_sending_it():
    refund_world = RefundWorld()
    first = await refund_world.give()

    again = await refund_world.give()
    by_its_id = await refund_world.give(payment=E2E_ID)

    assert first == again == by_its_id
    assert [each.return_id for each in refund_world.told] == [first.return_id] * 3
    assert len(refund_world.bank.refund_orders) == 1
    assert len(refund_world.log.events) == 2


@pytest.mark.parametrize(
    "other", [{"value": Money(1049)}, {"description": "x"}, {"payment": "order-2"}], ids=str
)
async def test_a_repeat_with_other_content_is_refused(other: dict[str, object]):
    refund_world = RefundWorld()
    await refund_world.give()

    with refused(errors.ALREADY_IN_USE) as refusal:
        await refund_world.give(**other)

    assert refusal.value.reason == "other_content"
    assert len(refund_world.bank.refund_orders) == 1


async def test_a_failed_refund_is_returned_again_for_its_reference():
    refund_world = RefundWorld()
    failed = refund(provider_key=KEY, status=RefundStatus.FAILED, failure=FailureCode.REJECTED)
    refund_world.bank.given[KEY] = failed

    assert await refund_world.give() == failed
    assert refund_world.bank.refund_orders == []


@pytest.mark.parametrize("answer", [SILENCE, ValueError("a mistake"), Unavailable("timeout")])
async def test_an_uncertain_refund_answer_is_looked_up(answer: object):
    """The refund was given: the look-up finds it, and nothing is sent twice."""
    refund_world = RefundWorld(OfferingBank(reads={"create_refund": answer}))

    given = await refund_world.give()

    assert given.status is RefundStatus.PAID
    assert len(refund_world.bank.refund_orders) == 1
    assert refund_world.log.actions == ["refund.ordered", "refund.done"]


@pytest.mark.parametrize("answer", [SILENCE, ValueError("a mistake")], ids=["silence", "mistake"])
async def test_a_refund_missing_in_a_look_up_is_unknown(answer: object):
    refund_world = RefundWorld(OfferingBank(reads={"create_refund": answer}, gives=False))

    with pytest.raises(OutcomeUnknown):
        await refund_world.give()

    assert refund_world.log.actions == ["refund.ordered", "refund.unknown"]


async def test_repeating_a_reference_after_an_unknown_refund_does_not_refund_twice():
    """The bank gives one refund per key: the late one, or the second."""
    refund_world = RefundWorld(OfferingBank(reads={"create_refund": SILENCE}, gives=False))
    with pytest.raises(OutcomeUnknown):
        await refund_world.give()
    refund_world.bank.reads["create_refund"] = TAKEN
    refund_world.bank.gives = True

    await refund_world.give()

    assert {order.provider_key for order in refund_world.bank.refund_orders} == {KEY}
    assert len(refund_world.bank.given) == 1


async def test_a_looked_up_refund_must_match_the_order():
    """Another amount under our key is not accepted as ours."""
    refund_world = RefundWorld(OfferingBank(reads={"create_refund": SILENCE}, gives=False))

    async def given_meanwhile(order):
        refund_world.bank.given[KEY] = refund(provider_key=KEY, value=Money(1))
        return SILENCE

    refund_world.bank.create_refund = lambda _account, order, _by: given_meanwhile(order)  # type: ignore[method-assign]

    with refused(errors.ALREADY_IN_USE):
        await refund_world.give()


async def test_an_unsent_refund_is_reported_as_certain():
    refund_world = RefundWorld(OfferingBank(reads={"create_refund": UNSENT}, gives=False))

    with pytest.raises(Unreachable) as failed:
        await refund_world.give()

    assert failed.value.reason == "connect_failed"
    assert refund_world.log.actions == ["refund.ordered", "refund.not_sent"]


@pytest.mark.parametrize(
    ("answer", "error", "reason"),
    [
        (rejected(IN_USE), errors.ALREADY_IN_USE, IN_USE),
        (rejected(ABOVE_PAYMENT), errors.BANK_REFUSED, ABOVE_PAYMENT),
        (
            rejected(failure=FailureCode.INSUFFICIENT_FUNDS),
            errors.BANK_REFUSED,
            "insufficient_funds",
        ),
        (rejected(failure=FailureCode.REJECTED), errors.BANK_REFUSED, "rejected"),
    ],
)
async def test_a_refused_refund_has_our_error_code(answer: Rejected, error: ErrorCode, reason: str):
    refund_world = RefundWorld(OfferingBank(reads={"create_refund": answer}, gives=False))

    with refused(error) as refusal:
        await refund_world.give()

    assert refusal.value.reason == reason
    assert refund_world.log.actions == ["refund.ordered", "refund.refused"]


@pytest.mark.parametrize(
    ("outcome", "status"), [(TAKEN, RefundStatus.PROCESSING), (PAID_BACK, RefundStatus.PAID)]
)
async def test_an_accepted_refund_that_cannot_be_read_back_keeps_its_answer(
    outcome: object, status: RefundStatus
):
    """Its first answer was definite; reading it back only adds details."""
    refund_world = RefundWorld(OfferingBank(reads={"create_refund": outcome}, gives=False))

    given = await refund_world.give(payment="order-1")

    assert (given.status, given.return_id, given.value) == (status, "D1", Money(1050))
    assert (given.reference, given.created_at) == ("refund-1", NOON)


async def test_a_payment_is_named_by_its_end_to_end_id():
    payment = IncomingPayment(
        reference="",
        e2e_id=E2E_ID,
        provider_id="1",
        value=Money(1050),
        refunded=Money(0),
        paid_at=NOON,
        payer=None,
    )
    refund_world = RefundWorld(OfferingBank(reads={"find_received": payment}))

    await refund_world.give(payment=E2E_ID)

    assert refund_world.bank.refund_orders[0].payment_e2e_id == E2E_ID


@pytest.mark.parametrize(
    ("reads", "reason"),
    [
        ({"order-1": replace(CHARGE, reusable=True)}, SEVERAL_PAYMENTS),
        ({"payment of order-1": replace(PAYMENT, paid_at=None)}, NOT_PAID),
        ({"payment of order-1": replace(PAYMENT, e2e_id="")}, NOT_PAID),
    ],
)
async def test_a_refund_of_a_charge_without_exactly_one_payment_is_refused(
    reads: dict[str, object], reason: str
):
    refund_world = RefundWorld(OfferingBank(reads=reads))

    with refused(errors.BANK_REFUSED) as refusal:
        await refund_world.give()

    assert refusal.value.reason == reason
    assert refusal.value.detail
    assert (refund_world.bank.refund_orders, refund_world.log.events) == ([], [])


@pytest.mark.parametrize(
    ("reads", "fields"),
    [
        ({"order-1": NotFound("absent")}, {}),
        ({"payment of order-1": NotFound("absent")}, {}),
        ({"find_received": NotFound("absent")}, {"payment": E2E_ID}),
    ],
)
async def test_a_refund_of_an_unknown_payment_is_not_found(
    reads: dict[str, object], fields: dict[str, object]
):
    refund_world = RefundWorld(OfferingBank(reads=reads))

    with pytest.raises(NotFound):
        await refund_world.give(**fields)

    assert refund_world.bank.refund_orders == []


@pytest.mark.parametrize(
    "reads",
    [
        {"find_refund": Unavailable("timeout", http_status=503, retry_after=7)},
        {"order-1": Unavailable("timeout", http_status=503, retry_after=7)},
    ],
)
async def test_a_failure_before_the_refund_order_is_reported_as_not_sent(reads: dict[str, object]):
    refund_world = RefundWorld(OfferingBank(reads=reads))

    with pytest.raises(Unreachable) as failed:
        await refund_world.give()

    assert (failed.value.reason, failed.value.http_status, failed.value.retry_after) == (
        "timeout",
        503,
        7,
    )
    assert (refund_world.bank.refund_orders, refund_world.log.events) == ([], [])


@pytest.mark.parametrize(
    ("scope", "subject", "stopped"),
    [
        (StopScope.PROVIDER, "sandbox", True),
        (StopScope.ACCOUNT, ACCOUNT, True),
        (StopScope.COMPANY, COMPANY, True),
        (StopScope.CREDENTIAL, CLIENT, False),
        (StopScope.EVERYTHING, "", True),
        (StopScope.PROVIDER, "other-bank", False),
    ],
)
async def test_a_stop_also_blocks_refunds(scope: StopScope, subject: str, *, stopped: bool):
    refund_world = RefundWorld(stops=[stop(scope, subject)])

    if stopped:
        with refused(errors.PAYOUTS_STOPPED):
            await refund_world.give()
    else:
        await refund_world.give()

    assert len(refund_world.bank.refund_orders) == (0 if stopped else 1)


async def test_a_repeated_refund_is_answered_during_a_stop():
    refund_world = RefundWorld()
    given = await refund_world.give()
    refund_world.stops = [stop(StopScope.ACCOUNT, ACCOUNT)]

    assert await refund_world.give() == given


async def test_a_refund_is_not_sent_when_it_cannot_be_audited():
    refund_world = RefundWorld(log=Log(fails_from=0))

    with pytest.raises(StoreUnavailable):
        await refund_world.give()

    assert refund_world.bank.refund_orders == []


async def test_no_refund_is_sent_for_a_read_only_or_missing_provider():
    for refund_world, error in (
        (RefundWorld(read_only=True), errors.PROVIDER_READ_ONLY),
        (RefundWorld(is_there=False), errors.PROVIDER_NOT_CONFIGURED),
    ):
        with refused(error):
            await refund_world.give()


@pytest.mark.parametrize("fault", [None, "reset_after", "reset_before", "hang_after", "malformed"])
async def test_concurrent_refunds_of_one_reference_refund_once(tmp_path: Path, fault: str | None):
    """At a bank with a ledger, over the wire, whatever happens to the first answer."""
    limits = ClientLimits(connect_s=2.0, read_s=5.0, payout_s=1.0)
    async with (
        sandbox_bank_world(tmp_path) as bank_world,
        on_stage("sandbox", bank_world.url, Witness(), limits) as adapter,
    ):
        paid = await bank_world.tell("/charges/pending%2F1/pay", {})
        if fault:
            await bank_world.fault("refund", fault)
        at_it = replace(
            account(),
            id=bank_world.account.account_id,
            provider_account=bank_world.account.provider_account,
        )
        refunds = replace(RefundWorld().refunds, banks=_Real(adapter, bank_world.account))
        asked = request(payment="pending/1", value=Money(400))

        ends = await asyncio.gather(
            *(refunds.create(acting(), at_it, asked) for _ in range(5)), return_exceptions=True
        )
        settled = await refunds.create(acting(), at_it, asked)

        executed = (await bank_world.tell("/refunds", method="GET"))["data"]
    assert [row["centavos"] for row in executed] == [400]
    assert executed[0]["payment"] == paid["e2e_id"]
    given = [end for end in ends if not isinstance(end, Exception)]
    assert {each.provider_id for each in [*given, settled]} == {settled.provider_id}
    assert all(isinstance(end, OutcomeUnknown) for end in ends if isinstance(end, Exception))
    assert len(given) >= 4


class _Real(OneBank):
    """A real adapter behind every account."""

    def __init__(self, adapter, known) -> None:
        super().__init__(adapter)
        self.known = known

    def of(self, account):
        bank = super().of(account)
        return replace(bank, account=self.known)
