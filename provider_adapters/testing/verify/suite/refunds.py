"""Cases about money that moved: refunds, and what of a payout balance and statement show."""

from __future__ import annotations

from typing import Final

from gateway.domain.bank import answers
from gateway.domain.bank.capabilities import EntryField, PortCall
from gateway.domain.bank.provider_options import EveryCall
from gateway.domain.bank.providers import (
    Accepted,
    NotFound,
    NotSent,
    Outcome,
    Rejected,
    Settled,
    Unknown,
)
from gateway.domain.bank.refunds import IncomingStatus, RefundOrder, RefundStatus
from gateway.domain.bank.statements import Direction, Entry, MovementKind
from gateway.domain.kernel.money import Money
from provider_adapters.kit.answers import is_e2e_id
from provider_adapters.testing.verify.cases import case
from provider_adapters.testing.verify.stage import Fate, Received
from provider_adapters.testing.verify.suite.calls import new_reference, recent
from provider_adapters.testing.verify.trial import Harness, Trial, far, new_provider_key, passed

REFUNDS: Final = frozenset({PortCall.CREATE_REFUND, PortCall.FIND_REFUND})
_PAYMENT: Final = Money(10_50)
_NOBODY_S: Final = "E" + "0" * 31
_OK: Final = Accepted | Settled


@case("bank.payout_in_balance", needs={PortCall.CREATE_PAYOUT, PortCall.GET_BALANCE})
async def payout_in_balance(trial: Trial) -> None:
    """A payout that settled is gone from the balance, and from what can be spent before that."""
    order = trial.order(await trial.stage.wish(Fate.SETTLES))
    async with trial.harness() as harness:
        before = await harness.adapter.get_balance(trial.account)
        await harness.adapter.create_payout(trial.account, order, far())
        ordered = await harness.adapter.get_balance(trial.account)
        await trial.stage.settle()
        after = await harness.adapter.get_balance(trial.account)
    gone = before.balance.centavos - after.balance.centavos
    trial.expect(gone >= order.value.centavos, f"of {order.value} the balance shows {gone}")
    knows = trial.capabilities.blocked_known
    trial.expect((before.blocked is not None) is knows, f"blocked is told as {before.blocked}")
    if ordered.blocked is not None:
        left = ordered.balance.centavos - ordered.blocked.centavos
        most = before.balance.centavos - order.value.centavos
        trial.expect(left <= most, f"{left} of {most} centavos can be spent")


@case("bank.payout_in_statement", needs={PortCall.CREATE_PAYOUT, PortCall.LIST_STATEMENT})
async def payout_in_statement(trial: Trial) -> None:
    """A payout that settled is a debit of the statement, with all that is declared of entries."""
    order = trial.order(await trial.stage.wish(Fate.SETTLES))
    async with trial.harness() as harness:
        ordered = await harness.adapter.create_payout(trial.account, order, far())
        await trial.stage.settle()
        entry = await _entry(trial, harness.adapter, order.value)
        e2e_id = ordered.e2e_id if isinstance(ordered, _OK) else ""
        if PortCall.FIND_PAYOUT in trial.capabilities.calls and isinstance(ordered, _OK):
            found = await harness.adapter.find_payout(
                trial.account, order.provider_key, ordered.provider_id
            )
            e2e_id = found.e2e_id if isinstance(found, _OK) else ""
    told = trial.capabilities.entry_fields
    if EntryField.KIND in told:
        trial.expect(entry.is_pix, f"it is not told as Pix: {entry!r}")
    if EntryField.OUR_KEY in told:
        trial.expect(entry.provider_key == order.provider_key, f"our key is absent: {entry!r}")
    if EntryField.E2E_ID in told:
        right = is_e2e_id(entry.e2e_id) and entry.e2e_id == (e2e_id or entry.e2e_id)
        trial.expect(right, f"the end-to-end id is {entry.e2e_id!r} and not {e2e_id!r}")
    if EntryField.PARTY in told:
        trial.expect(entry.counterparty.name, f"nobody is named: {entry!r}")


async def _entry(trial: Trial, adapter: EveryCall, value: Money) -> Entry:
    """Find the debit of an amount, which no other has, among the first entries."""
    found = await _debits(trial, adapter, value)
    trial.expect(len(found) == 1, f"the statement has {len(found)} debits of {value}")
    return found[0]


async def _debits(trial: Trial, adapter: EveryCall, value: Money) -> list[Entry]:
    page = answers.statement(
        await adapter.list_statement(trial.account, recent(), None, 25), None, 25
    )
    return [e for e in page.items if e.direction is Direction.DEBIT and e.value == value]


@case("bank.refund_settled", needs=REFUNDS)
async def refund_settled(trial: Trial) -> None:
    """A refund is given once, is found with its payment, and the payment shows it."""
    order = await _refund(trial)
    async with trial.harness() as harness:
        first = await harness.adapter.create_refund(trial.account, order, far())
        trial.expect(isinstance(first, _OK), f"it is answered by {first!r}")
        await trial.stage.settle()
        found = await harness.adapter.find_refund(trial.account, order.provider_key)
        answers.refund(found, order.provider_key)
        await _shown(trial, harness, order)
    trial.expect(found.status is RefundStatus.PAID, f"it is found as {found!r}")
    trial.expect(found.value == order.value, f"the amount is told as {found.value}")
    payment = found.payment_e2e_id
    trial.expect(payment == order.payment_e2e_id, f"the payment is told as {payment!r}")
    await _given(trial, order, [order.value])


async def _shown(trial: Trial, harness: Harness, order: RefundOrder) -> None:
    """Look for a refund wherever the adapter can look."""
    calls = trial.capabilities.calls
    if PortCall.FIND_RECEIVED in calls:
        payment = await harness.adapter.find_received(trial.account, order.payment_e2e_id)
        whole = payment.status is IncomingStatus.REFUNDED
        trial.expect(whole, f"the payment is told as {payment!r}")
    if PortCall.LIST_REFUNDS in calls:
        page = await harness.adapter.list_refunds(trial.account, recent(), None, 10)
        answers.refund_page(page, None, 10)
        keys = [each.provider_key for each in page.items]
        trial.expect(order.provider_key in keys, f"refunds are listed with the keys {keys}")
    if PortCall.LIST_STATEMENT in calls:
        # A bank may tell of it with the payment alone; told twice, it would count twice.
        entries = await _debits(trial, harness.adapter, order.value)
        trial.expect(len(entries) <= 1, f"the statement has it {len(entries)} times")
        if EntryField.KIND in trial.capabilities.entry_fields:
            kinds = {each.kind for each in entries} - {MovementKind.PIX_RETURN}
            trial.expect(not kinds, f"the statement tells it as {kinds}")


@case("bank.refund_duplicate", needs=REFUNDS)
async def refund_duplicate(trial: Trial) -> None:
    """The same refund again is the same refund, and is given once."""
    order = await _refund(trial, Money(4_00))
    _, second = await _twice(trial, order, order)
    trial.expect(isinstance(second, _OK), f"again: {second!r}")
    await _given(trial, order, [order.value])


@case("bank.refund_of_another_amount", needs=REFUNDS)
async def refund_of_another_amount(trial: Trial) -> None:
    """A known key with another amount gives nothing back, and is not taken for given."""
    order = await _refund(trial, Money(4_00))
    other = _changed(order, Money(5_00), order.provider_key)
    _, second = await _twice(trial, order, other)
    trial.expect(isinstance(second, Rejected | Unknown), f"with another amount: {second!r}")
    await _given(trial, order, [order.value])


@case("bank.refund_above_payment", needs=REFUNDS)
async def refund_above_payment(trial: Trial) -> None:
    """No more is given back than came in."""
    order = await _refund(trial, Money(10_00))
    more = _changed(order, Money(51), new_provider_key())
    _, second = await _twice(trial, order, more)
    trial.expect(isinstance(second, Rejected | Unknown), f"beyond the payment: {second!r}")
    await _given(trial, more, [])


@case("bank.refund_of_nothing", needs=REFUNDS)
async def refund_of_nothing(trial: Trial) -> None:
    """A payment that the bank does not know is not given back."""
    order = RefundOrder(
        provider_key=new_provider_key(),
        reference=new_reference(),
        payment_e2e_id=_NOBODY_S,
        value=_PAYMENT,
        description="",
    )
    async with trial.harness() as harness:
        outcome = await harness.adapter.create_refund(trial.account, order, far())
        given = isinstance(outcome, _OK)
        trial.expect(not given, f"it is answered by {outcome!r}")
        looking = harness.adapter.find_refund(trial.account, order.provider_key)
        await trial.raised(NotFound, looking, "a refund that is not there")


@case("bank.refund_deadline", needs=REFUNDS)
async def refund_deadline(trial: Trial) -> None:
    """After its deadline a refund is not sent."""
    order = await _refund(trial)
    async with trial.harness() as harness:
        outcome = await harness.adapter.create_refund(trial.account, order, passed())
    trial.expect(isinstance(outcome, NotSent), f"it is answered by {outcome!r}")
    await _given(trial, order, [])


async def _refund(trial: Trial, value: Money = _PAYMENT) -> RefundOrder:
    """Return an order to give a payment of R$ 10.50 back that has just come in."""
    e2e_id = await trial.stage.put(trial.account, Received(value=_PAYMENT))
    return RefundOrder(
        provider_key=new_provider_key(),
        reference=new_reference(),
        payment_e2e_id=e2e_id,
        value=value,
        description="",
    )


def _changed(order: RefundOrder, value: Money, key: str) -> RefundOrder:
    return RefundOrder(
        provider_key=key,
        reference=new_reference(),
        payment_e2e_id=order.payment_e2e_id,
        value=value,
        description="",
    )


async def _twice(trial: Trial, order: RefundOrder, other: RefundOrder) -> tuple[Outcome, Outcome]:
    async with trial.harness() as harness:
        first = await harness.adapter.create_refund(trial.account, order, far())
        trial.expect(isinstance(first, _OK), f"at first: {first!r}")
        return first, await harness.adapter.create_refund(trial.account, other, far())


async def _given(trial: Trial, order: RefundOrder, wanted: list[Money]) -> None:
    given = list(await trial.stage.executions(order.provider_key))
    trial.expect(given == wanted, f"the bank gave {given} back")
