"""Cases about the answers to an order: only what the adapter lists is definite."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Final, cast

import pytest

from gateway.domain.bank.capabilities import PortCall, Repeat
from gateway.domain.bank.payout_orders import (
    BankDestination,
    Destination,
    FailureCode,
    PayoutMethod,
    PayoutOrder,
)
from gateway.domain.bank.provider_reasons import Reason
from gateway.domain.bank.providers import (
    Accepted,
    BadReply,
    CredentialsRefused,
    NotSent,
    Outcome,
    Rejected,
    Settled,
    Unknown,
)
from gateway.domain.kernel.money import Money
from gateway.telemetry.ports import Event
from provider_adapters.testing.verify import alterations
from provider_adapters.testing.verify.alterations import UNKNOWN_WORD, Value
from provider_adapters.testing.verify.cases import applies_if, case
from provider_adapters.testing.verify.relay import Act, Script, answering, at_request, from_request
from provider_adapters.testing.verify.stage import BankAnswer, ListedRefusal
from provider_adapters.testing.verify.suite.calls import OK
from provider_adapters.testing.verify.suite.wire import money_request, needs_method
from provider_adapters.testing.verify.trial import Trial, far

PAYS: Final = frozenset({PortCall.CREATE_PAYOUT})
STATUSES: Final = (400, 401, 403, 404, 409, 422, 429, 500, 503)
"""Those by which banks refuse, and proxies too."""
_PAGE: Final = BankAnswer(
    status=200,
    body=b"<!doctype html><title>Em manuten\xc3\xa7\xc3\xa3o</title>",
    headers={"Content-Type": "text/html"},
)
_WRONG_E2E_IDS: Final = ("E123", "X" * 32, "E" + "0" * 40, "E\r\n" + "0" * 29, 7)
_NAMES: Final = {
    "amount": "amount",
    "key": "key",
    "e2e_id": "end-to-end id",
    "status": "state",
    "destination": "recipient",
}


@dataclasses.dataclass(frozen=True, slots=True)
class _Ordered:
    """What became of an order whose money request was answered in the suite's way."""

    outcome: Outcome
    paid: Sequence[Money]
    order: PayoutOrder
    events: Sequence[str]


@case("bank.refusals", needs=PAYS)
async def refusals(trial: Trial) -> None:
    """Each listed refusal ends the payout as listed, and nothing is paid."""
    number = await money_request(trial)
    for refusal in trial.stage.refusals():
        # The bank itself answers what follows: an adapter may look for the payout first.
        script = at_request(number, Act(play=answering(refusal.answer)))
        ordered = await _ordered(trial, script)
        _judge(refusal, ordered.outcome)
        assert ordered.paid == [], refusal.name


def _judge(refusal: ListedRefusal, outcome: Outcome) -> None:
    """Compare an outcome with what is listed."""
    what = f"{refusal.name} is answered by {outcome!r}"
    if refusal.not_sent is not None:
        assert isinstance(outcome, NotSent), what
        assert outcome.evidence.reason == refusal.not_sent, what
    else:
        assert isinstance(outcome, Rejected), what
        assert outcome.failure == refusal.failure, what
        assert outcome.forbidden == refusal.forbidden, what


@case("bank.unlisted_refusals", needs=PAYS)
async def unlisted_refusals(trial: Trial) -> None:
    """A refusal that is not listed proves nothing: the payout is Unknown, executed or not."""
    await _prove_nothing(trial, [trial.stage.refusal(each, UNKNOWN_WORD) for each in STATUSES])


@case("bank.doubtful_refusals", needs=PAYS)
async def doubtful_refusals(trial: Trial) -> None:
    """What the bank documents and does not call final proves nothing either."""
    answers = trial.stage.doubtful()
    applies_if(answers, "the stage names no documented refusal that proves nothing (doubtful)")
    await _prove_nothing(trial, answers)


@case("bank.listed_code_of_another_status", needs=PAYS)
async def listed_code_of_another_status(trial: Trial) -> None:
    """A listed code that comes with a failure of the server proves nothing."""
    answers = [dataclasses.replace(each.answer, status=500) for each in trial.stage.refusals()]
    await _prove_nothing(trial, answers)


async def _prove_nothing(trial: Trial, answers: Sequence[BankAnswer]) -> None:
    number = await money_request(trial)
    for answer in answers:
        for executed in (False, True):
            act = Act(play=answering(answer), reaches_bank=executed)
            ordered = await _ordered(trial, from_request(number, act))
            what = f"{answer.status} {answer.body[:80]!r}, executed: {executed}"
            assert isinstance(ordered.outcome, Unknown), f"{what}: {ordered.outcome!r}"
            assert ordered.paid == ([ordered.order.value] if executed else []), what


@case("bank.retry_after", needs=PAYS)
async def retry_after(trial: Trial) -> None:
    """How long a bank asks us to wait is handed on."""
    listed = [each for each in trial.stage.refusals() if each.not_sent is Reason.RATE_LIMITED]
    applies_if(listed, "no refusal for too many calls is listed")
    number = await money_request(trial)
    for refusal in listed:
        headers = {**refusal.answer.headers, "Retry-After": "7"}
        answer = dataclasses.replace(refusal.answer, headers=headers)
        ordered = await _ordered(trial, from_request(number, Act(play=answering(answer))))
        assert isinstance(ordered.outcome, NotSent), ordered.outcome
        assert ordered.outcome.retry_after == 7, refusal.name


@case("bank.maintenance", needs=PAYS)
async def maintenance(trial: Trial) -> None:
    """A page for people, with status 200, is no answer of the bank."""
    await _prove_nothing(trial, [_PAGE])
    if trial.can(PortCall.GET_BALANCE):
        trial.relay.begin(from_request(1, Act(play=answering(_PAGE))))
        with pytest.raises(BadReply):
            await trial.adapter.get_balance(trial.account)


@case("bank.wrong_credentials", needs=PAYS)
async def wrong_credentials(trial: Trial) -> None:
    """Credentials that the bank does not know pay nothing, and are told as refused."""
    stranger, order = trial.stage.stranger(), trial.order()
    outcome = await trial.adapter.create_payout(stranger, order, far())
    assert isinstance(outcome, NotSent | Unknown), outcome
    if isinstance(outcome, NotSent):
        assert outcome.evidence.reason == Reason.CREDENTIALS_REFUSED
    if trial.can(PortCall.GET_BALANCE):
        with pytest.raises(CredentialsRefused):
            await trial.adapter.get_balance(stranger)
    assert await trial.paid(order.provider_key) == []


@case("bank.insufficient_funds", needs=PAYS | {PortCall.GET_BALANCE})
async def insufficient_funds(trial: Trial) -> None:
    """More than the account has is not paid, and the reason is told where the bank has a word."""
    listed = {each.failure for each in trial.stage.refusals()}
    held = await trial.adapter.get_balance(trial.account)
    order = trial.order(value=Money(held.balance.centavos + 1_00))
    outcome = await trial.pay(order)
    if FailureCode.INSUFFICIENT_FUNDS in listed:
        assert isinstance(outcome, Rejected), outcome
        assert outcome.failure is FailureCode.INSUFFICIENT_FUNDS
    else:
        assert isinstance(outcome, Unknown), outcome
    assert await trial.paid(order.provider_key) == []


@case("bank.unknown_bank_number", needs=PAYS)
async def unknown_bank_number(trial: Trial) -> None:
    """A bank number that nobody has is never told as something to send again."""
    needs_method(trial, PayoutMethod.BANK_ACCOUNT)
    payee = cast("BankDestination", trial.stage.payee(PayoutMethod.BANK_ACCOUNT))
    # the central bank's list of participants has no such number
    order = trial.order(destination=dataclasses.replace(payee, bank_number="999"))
    outcome = await trial.pay(order)
    assert not isinstance(outcome, NotSent), outcome
    if isinstance(outcome, Rejected):
        assert await trial.paid(order.provider_key) == []


@case("bank.duplicate", needs=PAYS)
@case("bank.duplicate_by_account", PayoutMethod.BANK_ACCOUNT, needs=PAYS)
async def duplicate(trial: Trial, method: PayoutMethod | None = None) -> None:
    """The same order again is the same payout, and is paid once."""
    method = method or trial.method
    needs_method(trial, method)
    order = trial.order(destination=trial.stage.payee(method))
    first, second = await _twice(trial, order, order)
    # Without a look-up by our key nobody can compare what the bank knows.
    assert isinstance(second, OK if trial.capabilities.finds() else OK | Unknown), second
    if isinstance(second, OK):
        assert first.provider_id == second.provider_id
        assert second.evidence.reason != Reason.DUPLICATE, "nobody compared it with the order"


@case("bank.duplicate_of_another_amount", needs=PAYS)
async def duplicate_of_another_amount(trial: Trial) -> None:
    """A known key with another amount is Unknown: what the bank has is not this order."""
    order = trial.order()
    other = dataclasses.replace(order, value=Money(order.value.centavos + 1))
    _, second = await _twice(trial, order, other)
    assert isinstance(second, Unknown), second


@case("bank.duplicate_of_another_recipient", needs=PAYS)
@case("bank.duplicate_of_another_bank_account", PayoutMethod.BANK_ACCOUNT, needs=PAYS)
async def duplicate_of_another_recipient(trial: Trial, method: PayoutMethod | None = None) -> None:
    """A known key with another recipient is Unknown; so is another account at the same bank."""
    method = method or trial.method
    needs_method(trial, method)
    payee, other = trial.stage.payee(method), trial.stage.other_payee(method)
    others: list[Destination] = [other]
    if isinstance(payee, BankDestination) and isinstance(other, BankDestination):
        others.append(dataclasses.replace(payee, account=other.account))
    for each in others:
        order = trial.order(destination=payee)
        _, second = await _twice(trial, order, dataclasses.replace(order, destination=each))
        assert isinstance(second, Unknown), second


async def _twice(
    trial: Trial, order: PayoutOrder, other: PayoutOrder
) -> tuple[Accepted | Settled, Outcome]:
    """Order a payout, and another one with the same key; the first is paid, and once."""
    ignores = trial.capabilities.repeat is Repeat.IGNORES
    applies_if(not ignores, "the bank ignores keys, so the gateway never repeats an order")
    first, second = await trial.pay(order), await trial.pay(other)
    assert isinstance(first, OK), first
    assert await trial.paid(order.provider_key) == [order.value]
    return first, second


@case("bank.other_amount", "amount", alterations.another_amount, needs=PAYS)
@case("bank.other_key", "key", alterations.another_key, needs=PAYS)
@case("bank.other_recipient", "destination", alterations.constant("a@example.com"), needs=PAYS)
@case("bank.malformed_e2e_id", "e2e_id", *map(alterations.constant, _WRONG_E2E_IDS), needs=PAYS)
async def contradicted(trial: Trial, field: str, *changes: Value) -> None:
    """An answer that shows something else than was ordered is Unknown."""
    name, number = named(trial, PortCall.CREATE_PAYOUT, field), await money_request(trial)
    for change in changes:
        act = Act(alter=alterations.field(name, change))
        ordered = await _ordered(trial, from_request(number, act))
        assert isinstance(ordered.outcome, Unknown), ordered.outcome
        assert ordered.paid == [ordered.order.value]


@case("bank.unknown_word", needs=PAYS)
async def unknown_word(trial: Trial) -> None:
    """An order whose state is an unknown word is not final, and the word is counted."""
    name = named(trial, PortCall.CREATE_PAYOUT, "status")
    act = Act(alter=alterations.field(name, alterations.constant(UNKNOWN_WORD)))
    ordered = await _ordered(trial, from_request(await money_request(trial), act))
    assert isinstance(ordered.outcome, Accepted | Unknown), ordered.outcome
    assert str(Event.UNKNOWN_STATUS) in ordered.events


async def _ordered(trial: Trial, script: Script) -> _Ordered:
    """Order a payout while the relay plays a script."""
    order = trial.order()
    async with trial.again() as fresh:
        fresh.relay.begin(script)
        outcome = await fresh.pay(order)
    events = [event for event, _ in fresh.witness.counts]
    return _Ordered(outcome, await trial.paid(order.provider_key), order, events)


def named(trial: Trial, call: PortCall, field: str) -> str:
    """Return a field's name; the case does not apply to an answer without it."""
    name: str = getattr(trial.stage.fields(call), field)
    applies_if(name, f"the bank's answer shows no {_NAMES[field]}")
    return name
