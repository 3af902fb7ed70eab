"""Cases about money that moved: refunds, and what of a payout balance and statement show."""

from __future__ import annotations

from typing import Final

import pytest

from gateway.domain.bank import answers
from gateway.domain.bank.capabilities import EntryField, PortCall
from gateway.domain.bank.providers import NotFound, NotSent, Outcome, Rejected, Unknown
from gateway.domain.bank.refunds import IncomingStatus, RefundOrder, RefundStatus
from gateway.domain.bank.statements import Direction, Entry, MovementKind
from gateway.domain.kernel.money import Money
from provider_adapters.kit.answers import is_e2e_id
from provider_adapters.testing.verify.cases import case
from provider_adapters.testing.verify.stage import Fate, Received
from provider_adapters.testing.verify.suite.calls import OK, refund_order
from provider_adapters.testing.verify.trial import Trial, far, passed

REFUNDS: Final = frozenset({PortCall.CREATE_REFUND, PortCall.FIND_REFUND})
_PAYMENT: Final = Money(10_50)


@case("bank.payout_in_balance", needs={PortCall.CREATE_PAYOUT, PortCall.GET_BALANCE})
async def payout_in_balance(trial: Trial) -> None:
    """A payout that settled is gone from the balance, and from what can be spent before that."""
    order, read = trial.order(await trial.stage.wish(Fate.SETTLES)), trial.adapter.get_balance
    before = await read(trial.account)
    await trial.pay(order)
    ordered = await read(trial.account)
    await trial.stage.settle()
    after = await read(trial.account)
    assert before.balance.centavos - after.balance.centavos >= order.value.centavos
    assert (before.blocked is not None) is trial.capabilities.blocked_known
    if ordered.blocked is not None:
        left = ordered.balance.centavos - ordered.blocked.centavos
        assert left <= before.balance.centavos - order.value.centavos, "it can be spent again"


@case("bank.payout_in_statement", needs={PortCall.CREATE_PAYOUT, PortCall.LIST_STATEMENT})
async def payout_in_statement(trial: Trial) -> None:
    """A payout that settled is a debit of the statement, with all that is declared of entries."""
    order = trial.order(await trial.stage.wish(Fate.SETTLES))
    known, key = await trial.pay(order), order.provider_key
    await trial.stage.settle()
    if trial.can(PortCall.FIND_PAYOUT) and isinstance(known, OK):
        known = await trial.adapter.find_payout(trial.account, key, known.provider_id)
    [entry] = await _debits(trial, order.value)
    told = trial.capabilities.entry_fields
    assert EntryField.KIND not in told or entry.is_pix, entry
    assert EntryField.OUR_KEY not in told or entry.provider_key == key, entry
    assert EntryField.PARTY not in told or entry.counterparty.name, entry
    if EntryField.E2E_ID in told:
        assert is_e2e_id(entry.e2e_id), entry
        e2e_id = known.e2e_id if isinstance(known, OK) else ""
        assert e2e_id in {"", entry.e2e_id}, entry


async def _debits(trial: Trial, value: Money) -> list[Entry]:
    """Find the debits of an amount, which no other has, among the first entries."""
    page = await trial.adapter.list_statement(trial.account, trial.recent, None, 25)
    found = answers.statement(page, None, 25).items
    return [each for each in found if each.direction is Direction.DEBIT and each.value == value]


@case("bank.refund_settled", needs=REFUNDS)
async def refund_settled(trial: Trial) -> None:
    """A refund is given once, is found with its payment, and the payment shows it."""
    order = await _refund(trial, _PAYMENT)
    first = await trial.adapter.create_refund(trial.account, order, far())
    assert isinstance(first, OK), first
    await trial.stage.settle()
    found = await trial.adapter.find_refund(trial.account, order.provider_key)
    answers.refund(found, order.provider_key)
    await _shown(trial, order)
    assert found.status is RefundStatus.PAID, found
    assert found.value == order.value
    assert found.payment_e2e_id == order.payment_e2e_id
    assert await trial.paid(order.provider_key) == [order.value]


async def _shown(trial: Trial, order: RefundOrder) -> None:
    """Look for a refund wherever the adapter can look."""
    if trial.can(PortCall.FIND_RECEIVED):
        payment = await trial.adapter.find_received(trial.account, order.payment_e2e_id)
        assert payment.status is IncomingStatus.REFUNDED, payment
    if trial.can(PortCall.LIST_REFUNDS):
        page = await trial.adapter.list_refunds(trial.account, trial.recent, None, 10)
        answers.refund_page(page, None, 10)
        assert order.provider_key in [each.provider_key for each in page.items]
    if trial.can(PortCall.LIST_STATEMENT):
        # A bank may tell of it with the payment alone; told twice, it would count twice.
        entries = await _debits(trial, order.value)
        assert len(entries) <= 1, entries
        if EntryField.KIND in trial.capabilities.entry_fields:
            assert {each.kind for each in entries} <= {MovementKind.PIX_RETURN}


@case("bank.refund_duplicate", needs=REFUNDS)
async def refund_duplicate(trial: Trial) -> None:
    """The same refund again is the same refund, and is given once."""
    order = await _refund(trial, Money(4_00))
    second = await _twice(trial, order, order)
    assert isinstance(second, OK), second
    assert await trial.paid(order.provider_key) == [order.value]


@case("bank.refund_of_another_amount", needs=REFUNDS)
async def refund_of_another_amount(trial: Trial) -> None:
    """A known key with another amount gives nothing back, and is not taken for given."""
    order = await _refund(trial, Money(4_00))
    other = refund_order(order.payment_e2e_id, Money(5_00), order.provider_key)
    second = await _twice(trial, order, other)
    assert isinstance(second, Rejected | Unknown), second
    assert await trial.paid(order.provider_key) == [order.value]


@case("bank.refund_above_payment", needs=REFUNDS)
async def refund_above_payment(trial: Trial) -> None:
    """No more is given back than came in."""
    order = await _refund(trial, Money(10_00))
    more = refund_order(order.payment_e2e_id, Money(51))
    second = await _twice(trial, order, more)
    assert isinstance(second, Rejected | Unknown), second
    assert await trial.paid(more.provider_key) == []


@case("bank.refund_of_nothing", needs=REFUNDS)
async def refund_of_nothing(trial: Trial) -> None:
    """A payment that the bank does not know is not given back."""
    order = refund_order("E" + "0" * 31, _PAYMENT)
    outcome = await trial.adapter.create_refund(trial.account, order, far())
    assert not isinstance(outcome, OK), outcome
    with pytest.raises(NotFound):
        await trial.adapter.find_refund(trial.account, order.provider_key)


@case("bank.refund_deadline", needs=REFUNDS)
async def refund_deadline(trial: Trial) -> None:
    """After its deadline a refund is not sent."""
    order = await _refund(trial, _PAYMENT)
    outcome = await trial.adapter.create_refund(trial.account, order, passed())
    assert isinstance(outcome, NotSent), outcome
    assert await trial.paid(order.provider_key) == []


async def _refund(trial: Trial, value: Money) -> RefundOrder:
    """Return an order to give a payment of R$ 10.50 back that has just come in."""
    return refund_order(await trial.stage.put(trial.account, Received(value=_PAYMENT)), value)


async def _twice(trial: Trial, order: RefundOrder, other: RefundOrder) -> Outcome:
    """Order a refund, which is accepted, and another one; returns what became of the second."""
    first = await trial.adapter.create_refund(trial.account, order, far())
    assert isinstance(first, OK), first
    return await trial.adapter.create_refund(trial.account, other, far())
