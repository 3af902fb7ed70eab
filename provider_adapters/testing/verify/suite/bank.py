"""Cases about the meaning of a bank's answers, and outcomes of payouts and refunds."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, cast

import pytest

from gateway.banks.port import answers
from gateway.banks.port.capabilities import EntryField, PortCall, Repeat
from gateway.banks.port.payout_orders import BankDestination, FailureCode, PayoutMethod, PayoutOrder
from gateway.banks.port.providers import (
    Accepted,
    CredentialsRefused,
    NotFound,
    NotSent,
    NotSupported,
    Outcome,
    ProviderError,
    Reason,
    Rejected,
    Settled,
    Unknown,
)
from gateway.banks.port.refunds import IncomingStatus, RefundStatus
from gateway.banks.port.statements import Direction, Entry, MovementKind
from gateway.core.money import Money
from gateway.telemetry.ports import Event
from provider_adapters.kit.answers import is_e2e_id
from provider_adapters.testing.verify import relay
from provider_adapters.testing.verify.relay import UNKNOWN_WORD, Play, altering, answering, reading
from provider_adapters.testing.verify.stage import BankAnswer, Fate, NotApplicable, Received
from provider_adapters.testing.verify.suite.wire import caught, close, money_request, needs_method
from provider_adapters.testing.verify.trial import (
    OK,
    ORDERED,
    Trial,
    applies_if,
    case,
    far,
    new_provider_key,
    refund_order,
)

PAYS: Final = frozenset({PortCall.CREATE_PAYOUT})
LOOKS: Final = frozenset({PortCall.CREATE_PAYOUT, PortCall.FIND_PAYOUT})
REFUNDS: Final = frozenset({PortCall.CREATE_REFUND, PortCall.FIND_REFUND})
_NOT_GIVEN: Final = Rejected | Unknown
_LONGEST_HOLD: Final = timedelta(minutes=61)
_STATUSES: Final = (400, 401, 403, 404, 409, 422, 429, 500, 503)
"""Those by which banks refuse, and proxies too."""
_PAGE: Final = BankAnswer(status=200, body=b"<!doctype html><title>Em manutencao</title>")
_WRONG_E2E_IDS: Final = ("E123", "X" * 32, "E" + "0" * 40, "E\r\n" + "0" * 29, 7)


@case("bank.refusals", needs=PAYS)
async def refusals(trial: Trial) -> None:
    """Each listed refusal ends the payout as listed, and nothing is paid."""
    applies_if(trial.stage.refusals(), "the stage lists no refusals")
    number = await money_request(trial)
    for refusal in trial.stage.refusals():
        headers = {**refusal.answer.headers, "Retry-After": "7"}
        said = dataclasses.replace(refusal.answer, headers=headers)
        # The bank itself answers what follows: an adapter may look for the payout first.
        outcome, paid, _ = await _ordered(trial, answering(said), number, once=True)
        what = f"{refusal.name} is answered by {outcome!r}"
        assert paid == [], what
        if refusal.not_sent is not None:
            assert isinstance(outcome, NotSent), what
            assert outcome.evidence.reason == refusal.not_sent, what
            limited = refusal.not_sent is Reason.RATE_LIMITED
            assert outcome.retry_after == 7 or not limited, f"{what}, without its Retry-After"
        else:
            assert isinstance(outcome, Rejected), what
            wanted = refusal.failure, refusal.forbidden
            assert (outcome.failure, outcome.forbidden) == wanted, what


@case("bank.unlisted_refusals", needs=PAYS)
async def unlisted_refusals(trial: Trial) -> None:
    """An unlisted code, a listed one of a failing server, and a page for people prove nothing."""
    stage = trial.stage
    said = [_PAGE, *(stage.refusal(status, UNKNOWN_WORD) for status in _STATUSES)]
    with contextlib.suppress(NotApplicable):
        said += [dataclasses.replace(each.answer, status=500) for each in stage.refusals()]
    await _prove_nothing(trial, said)


@case("bank.doubtful_refusals", needs=PAYS)
async def doubtful_refusals(trial: Trial) -> None:
    """An error that the bank documents and does not call final proves nothing."""
    said = trial.stage.doubtful()
    applies_if(said, "the stage names no documented refusal that proves nothing (doubtful)")
    await _prove_nothing(trial, said)


async def _prove_nothing(trial: Trial, said: Sequence[BankAnswer]) -> None:
    """Expect Unknown of each answer to a payout, whether the bank has executed it or not."""
    number = await money_request(trial)
    for answer in said:
        for executed in (False, True):
            play = answering(answer, executed=executed)
            outcome, paid, _ = await _ordered(trial, play, number)
            what = f"{answer.status} {answer.body[:80]!r}, executed: {executed}"
            assert isinstance(outcome, Unknown), f"{what}: {outcome!r}"
            assert paid == ([ORDERED] if executed else []), what


@case("bank.wrong_credentials", needs=PAYS)
async def wrong_credentials(trial: Trial) -> None:
    """Unknown credentials pay nothing, and are reported as refused."""
    stranger, order = trial.stage.stranger(), trial.order()
    outcome = await trial.adapter.create_payout(stranger, order, far())
    assert isinstance(outcome, NotSent | Unknown), outcome
    if isinstance(outcome, NotSent):
        assert outcome.evidence.reason == Reason.CREDENTIALS_REFUSED
    if trial.can(PortCall.GET_BALANCE):
        with pytest.raises(CredentialsRefused):
            await trial.adapter.get_balance(stranger)
    assert await trial.paid(order) == []


@case("bank.insufficient_funds", needs=PAYS | {PortCall.GET_BALANCE})
async def insufficient_funds(trial: Trial) -> None:
    """More than the balance is not paid, and the reason is reported where the bank has a word."""
    known = FailureCode.INSUFFICIENT_FUNDS in {each.failure for each in trial.stage.refusals()}
    held = await trial.adapter.get_balance(trial.account)
    order = trial.order(Money(held.balance.centavos + 1_00))
    outcome = await trial.pay(order)
    assert isinstance(outcome, Rejected if known else Unknown), outcome
    assert not isinstance(outcome, Rejected) or outcome.failure is FailureCode.INSUFFICIENT_FUNDS
    assert await trial.paid(order) == []


@case("bank.unknown_bank_number", needs=PAYS)
async def unknown_bank_number(trial: Trial) -> None:
    """An unknown bank number is never reported as something to send again."""
    needs_method(trial, PayoutMethod.BANK_ACCOUNT)
    payee = cast("BankDestination", trial.stage.payee(PayoutMethod.BANK_ACCOUNT))
    # the central bank's list of participants has no such number
    order = trial.order(destination=dataclasses.replace(payee, bank_number="999"))
    outcome = await trial.pay(order)
    assert not isinstance(outcome, NotSent), outcome
    if isinstance(outcome, Rejected):
        assert await trial.paid(order) == []


@case("bank.duplicate", needs=PAYS)
@case("bank.duplicate_by_account", PayoutMethod.BANK_ACCOUNT, needs=PAYS)
async def duplicate(trial: Trial, method: PayoutMethod | None = None) -> None:
    """A known key is the same payout, paid once; with another amount or recipient it is Unknown."""
    method = method or trial.method
    needs_method(trial, method)
    ignores = trial.capabilities.repeat is Repeat.IGNORES
    applies_if(not ignores, "the bank ignores keys, so the gateway never repeats an order")
    order = trial.order(destination=trial.stage.payee(method))
    first, second = await trial.pay(order), await trial.pay(order)
    assert isinstance(first, OK), first
    # Without a look-up by our key nobody can compare what the bank knows.
    assert isinstance(second, OK if trial.capabilities.finds() else OK | Unknown), second
    if isinstance(second, OK):
        assert first.provider_id == second.provider_id
        assert second.evidence.reason != Reason.DUPLICATE, "nobody compared it with the order"
    payee, other = order.destination, trial.stage.other_payee(method)
    changed = [
        dataclasses.replace(order, value=Money(order.value.centavos + 1)),
        dataclasses.replace(order, destination=other),
    ]
    if isinstance(payee, BankDestination) and isinstance(other, BankDestination):
        neighbour = dataclasses.replace(payee, account=other.account)
        changed.append(dataclasses.replace(order, destination=neighbour))
    for each in changed:
        outcome = await trial.pay(each)
        assert isinstance(outcome, Unknown), f"{each} is answered by {outcome!r}"
    assert await trial.paid(order) == [order.value]


@case("bank.other_amount", "amount", relay.another, needs=PAYS)
@case("bank.other_key", "key", relay.another, needs=PAYS)
@case("bank.other_recipient", "destination", "a@example.com", needs=PAYS)
@case("bank.malformed_e2e_id", "e2e_id", *_WRONG_E2E_IDS, needs=PAYS)
@case("bank.unknown_word", "status", UNKNOWN_WORD, needs=PAYS)
async def contradicted(trial: Trial, field: str, *changes: object) -> None:
    """An answer that shows something else than was ordered, or an unknown state, is not final."""
    name, number = named(trial, PortCall.CREATE_PAYOUT, field), await money_request(trial)
    for change in changes:
        play = altering(relay.alter_field(name, change))
        outcome, paid, events = await _ordered(trial, play, number)
        assert isinstance(outcome, Accepted | Unknown if field == "status" else Unknown), outcome
        assert field != "status" or Event.UNKNOWN_STATUS in events, "the word is not counted"
        assert paid == [ORDERED]


async def _ordered(
    trial: Trial, play: Play, number: int, *, once: bool = False
) -> tuple[Outcome, Sequence[Money], Sequence[Event]]:
    """Order a payout of R$ 10.50 amid a play; returns outcome, executions and counted events."""
    order = trial.order()
    async with trial.again(play, at=number, once=once) as fresh:
        outcome = await fresh.pay(order)
    return outcome, await trial.paid(order), fresh.witness.counts


def named(trial: Trial, call: PortCall, field: str) -> str:
    """Return a field's name; the case does not apply to an answer without it."""
    name: str = getattr(trial.stage.fields(call), field)
    applies_if(name, f"the bank's answer shows no {field}")
    return name


@case("bank.settled", needs=LOOKS)
@case("bank.settled_by_account", PayoutMethod.BANK_ACCOUNT, needs=LOOKS)
async def settled(trial: Trial, method: PayoutMethod | None = None) -> None:
    """A payout that settled is found settled, as it was ordered."""
    needs_method(trial, method or trial.method)
    order, first, found = await _fulfilled(trial, Fate.SETTLES, method)
    assert isinstance(found, Settled), found
    assert found.value == order.value
    assert found.provider_key in {"", order.provider_key}
    assert first.provider_id in {"", found.provider_id}
    e2e = {first.e2e_id, found.e2e_id} - {""}
    assert len(e2e) <= 1
    assert all(map(is_e2e_id, e2e)), e2e
    assert await trial.paid(order) == [order.value]


@case("bank.failed_later", needs=LOOKS)
async def failed_later(trial: Trial) -> None:
    """A payout that was accepted and failed is found rejected."""
    order, first, found = await _fulfilled(trial, Fate.FAILS)
    assert not isinstance(first, Settled), "it was told as paid before it failed"
    assert isinstance(found, Rejected), found
    assert await trial.paid(order) == []


@case("bank.returned", needs=LOOKS)
async def returned(trial: Trial) -> None:
    """A payout that settled stays settled when it comes back."""
    order, _, found = await _fulfilled(trial, Fate.RETURNS)
    assert isinstance(found, Settled), found
    assert sum(each.value.centavos for each in found.returns) in {0, order.value.centavos}
    assert all(is_e2e_id(each.id) for each in found.returns)


async def _fulfilled(
    trial: Trial, fate: Fate, method: PayoutMethod | None = None
) -> tuple[PayoutOrder, Accepted | Settled, Outcome]:
    """Order a payout, let its fate come true, and look it up."""
    wish = await trial.stage.wish(fate)
    to = trial.stage.payee(method) if method else wish.destination
    order = trial.order(wish.value, to)
    first = await _accepted(trial, order)
    await trial.stage.settle()
    await trial.stage.settle()
    return order, first, await _look_up(trial, order, first)


@case("bank.held", needs=LOOKS)
async def held(trial: Trial) -> None:
    """A payout under precautionary analysis is accepted, with the bank's own deadline."""
    order = await trial.wished(Fate.HELD)
    first = await _accepted(trial, order)
    now = datetime.now(UTC)
    for outcome in (first, await _look_up(trial, order, first)):
        assert isinstance(outcome, Accepted), outcome
        assert outcome.held_until is not None, outcome
        assert now < outcome.held_until < now + _LONGEST_HOLD


@case("bank.absent", needs={PortCall.FIND_PAYOUT})
async def absent(trial: Trial) -> None:
    """An unknown payout is NotFound, or NotSupported without a way to look."""
    finds = trial.capabilities.finds()
    with pytest.raises(NotFound if finds else NotSupported):
        await trial.adapter.find_payout(trial.account, new_provider_key(), "")
    if finds:  # an unlisted 404 proves no absence, and what is believed absent is paid twice
        trial.relay.begin(answering(trial.stage.refusal(404, UNKNOWN_WORD)))
        with pytest.raises(ProviderError) as raised:
            await trial.adapter.find_payout(trial.account, new_provider_key(), "")
        assert not isinstance(raised.value, NotFound), "an unlisted 404 is told as NotFound"


@case("bank.absent_then_visible", needs=LOOKS)
async def absent_then_visible(trial: Trial) -> None:
    """A payout whose answer was lost is not there before, and is found afterwards."""
    applies_if(trial.capabilities.finds(), "payouts are found by the bank's id alone")
    number, order = await money_request(trial), trial.order()
    with pytest.raises(NotFound):
        await trial.adapter.find_payout(trial.account, order.provider_key, "")
    async with trial.again(reading(close, executed=True), at=number) as fresh:
        outcome = await fresh.pay(order)
    assert isinstance(outcome, Unknown), outcome
    found = await trial.adapter.find_payout(trial.account, order.provider_key, "")
    assert isinstance(found, OK), found


@case("bank.other_account", needs=LOOKS)
async def other_account(trial: Trial) -> None:
    """A payout of another account is not found."""
    order, finds = trial.order(), trial.capabilities.finds()
    first = await trial.adapter.create_payout(trial.stage.accounts[1], order, far())
    assert isinstance(first, OK), first
    # A bank that is asked by its own id may have no word of its own for "absent".
    with pytest.raises(NotFound if finds else ProviderError):
        await trial.adapter.find_payout(
            trial.account, order.provider_key, "" if finds else first.provider_id
        )


@case("bank.found_with_another_amount", "amount", relay.another, needs=LOOKS)
@case("bank.found_with_another_key", "key", relay.another, needs=LOOKS)
@case("bank.found_with_malformed_e2e_id", "e2e_id", "E123", needs=LOOKS)
@case("bank.found_with_unknown_word", "status", UNKNOWN_WORD, needs=LOOKS)
async def found_contradicted(trial: Trial, field: str, change: object) -> None:
    """A payout found with another key, no end-to-end id, or an unknown state is not final."""
    name, order = named(trial, PortCall.FIND_PAYOUT, field), trial.order()
    first = await _accepted(trial, order)
    await trial.stage.settle()
    async with trial.again(altering(relay.alter_field(name, change))) as fresh:
        found = await caught(_look_up(fresh, order, first))
    if field == "status":
        assert isinstance(found, Unknown), found
        assert Event.UNKNOWN_STATUS in fresh.witness.counts
    elif field == "amount" and isinstance(found, Settled):
        assert found.value != order.value, "the bank's amount is not told; who asked compares it"
    else:
        assert isinstance(found, Unknown | ProviderError), found


async def _accepted(trial: Trial, order: PayoutOrder) -> Accepted | Settled:
    outcome = await trial.pay(order)
    assert isinstance(outcome, OK), outcome
    return outcome


async def _look_up(trial: Trial, order: PayoutOrder, first: Accepted | Settled) -> Outcome:
    return await trial.adapter.find_payout(trial.account, order.provider_key, first.provider_id)


@case("bank.payout_in_balance", needs={PortCall.CREATE_PAYOUT, PortCall.GET_BALANCE})
async def payout_in_balance(trial: Trial) -> None:
    """A settled payout is gone from the balance, and from the available amount before that."""
    order, read = await trial.wished(Fate.SETTLES), trial.adapter.get_balance
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
    order = await trial.wished(Fate.SETTLES)
    await trial.pay(order)
    await trial.stage.settle()
    [entry] = await _debits(trial, order.value)
    told = trial.capabilities.entry_fields
    assert EntryField.KIND not in told or entry.is_pix, entry
    assert EntryField.OUR_KEY not in told or entry.provider_key == order.provider_key, entry
    assert EntryField.PARTY not in told or entry.counterparty.name, entry
    assert EntryField.E2E_ID not in told or is_e2e_id(entry.e2e_id), entry


async def _debits(trial: Trial, value: Money) -> list[Entry]:
    """Find the debits of an amount, which no other has, among the first entries."""
    page = await trial.adapter.list_statement(trial.account, trial.days(-1, 1), None, 25)
    found = answers.statement(page, None, 25).items
    return [each for each in found if each.direction is Direction.DEBIT and each.value == value]


@case("bank.refund_settled", needs=REFUNDS)
async def refund_settled(trial: Trial) -> None:
    """A refund is given once, is found with its payment, and the payment shows it."""
    e2e_id = await trial.stage.put(trial.account, Received(value=ORDERED))
    order = refund_order(e2e_id, ORDERED)
    first = await trial.pay(order)
    assert isinstance(first, OK), first
    await trial.stage.settle()
    found = await trial.adapter.find_refund(trial.account, order.provider_key)
    answers.refund(found, order.provider_key)
    assert found.status is RefundStatus.PAID, found
    assert found.value == order.value
    assert found.payment_e2e_id == order.payment_e2e_id
    assert await trial.paid(order) == [order.value]
    if trial.can(PortCall.FIND_RECEIVED):
        payment = await trial.adapter.find_received(trial.account, order.payment_e2e_id)
        assert payment.status is IncomingStatus.REFUNDED, payment
    if trial.can(PortCall.LIST_REFUNDS):
        page = await trial.adapter.list_refunds(trial.account, trial.days(-1, 1), None, 10)
        answers.refund_page(page, None, 10)
        assert order.provider_key in [each.provider_key for each in page.items]
    if trial.can(PortCall.LIST_STATEMENT):
        # A bank may tell of it with the payment alone; told twice, it would count twice.
        entries = await _debits(trial, order.value)
        assert len(entries) <= 1, entries
        if EntryField.KIND in trial.capabilities.entry_fields:
            assert {each.kind for each in entries} <= {MovementKind.PIX_RETURN}


@case("bank.refund_again", needs=REFUNDS)
async def refund_again(trial: Trial) -> None:
    """A refund is given once; another amount, more than came in, or no payment is not given."""
    e2e_id = await trial.stage.put(trial.account, Received(value=ORDERED))
    order, more = refund_order(e2e_id, Money(4_00)), refund_order(e2e_id, Money(6_51))
    other = dataclasses.replace(order, value=Money(5_00))
    nothing = refund_order("E" + "0" * 31, ORDERED)
    for given, kinds in ((order, OK), (order, OK), (other, _NOT_GIVEN), (more, _NOT_GIVEN)):
        outcome = await trial.pay(given)
        assert isinstance(outcome, kinds), f"{given} is answered by {outcome!r}"
    assert not isinstance(await trial.pay(nothing), OK)
    assert await trial.paid(order) == [order.value]
    assert await trial.paid(more) == []
    with pytest.raises(NotFound):
        await trial.adapter.find_refund(trial.account, nothing.provider_key)
