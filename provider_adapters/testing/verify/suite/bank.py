"""Cases about the answers to an order: only what the adapter lists is definite."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Sequence
from typing import Final, cast

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
from provider_adapters.testing.verify.cases import case
from provider_adapters.testing.verify.relay import (
    Act,
    Alter,
    Script,
    answering,
    at_request,
    from_request,
)
from provider_adapters.testing.verify.stage import BankAnswer, ListedRefusal, NotApplicable
from provider_adapters.testing.verify.suite.calls import payouts
from provider_adapters.testing.verify.suite.wire import money_path
from provider_adapters.testing.verify.trial import Harness, Trial, far

PAYS: Final = frozenset({PortCall.CREATE_PAYOUT})
STATUSES: Final = (400, 401, 403, 404, 409, 422, 429, 500, 503)
"""Those by which banks refuse, and proxies too."""

_WRONG_E2E_IDS: Final = ("E123", "X" * 32, "E" + "0" * 40, "E\r\n" + "0" * 29, 7)
_RETRY_AFTER_S: Final = 7
_NO_BANK: Final = "999"
"""The central bank's list of participants has no such number."""
_PAGE: Final = b"<!doctype html><title>Em manuten\xc3\xa7\xc3\xa3o</title>"


@dataclasses.dataclass(frozen=True, slots=True)
class Answered:
    """
    What became of an order whose money request was answered in the suite's way.

    Attributes:
        counts: What the adapter counted.
    """

    outcome: Outcome
    paid: list[Money]
    order: PayoutOrder
    counts: Collection[tuple[str, str]] = ()


@case("bank.refusals", needs=PAYS)
async def refusals(trial: Trial) -> None:
    """Each listed refusal ends the payout as listed, and nothing is paid."""
    number = await money_request(trial)
    for refusal in trial.stage.refusals():
        # The bank itself answers what follows: an adapter may look for the payout first.
        played = at_request(number, Act(play=answering(refusal.answer)))
        answered = await _played(trial, played)
        _judge(trial, refusal, answered.outcome)
        trial.expect(not answered.paid, f"{refusal.name}: the bank paid {answered.paid}")


def _judge(trial: Trial, refusal: ListedRefusal, outcome: Outcome) -> None:
    """Compare an outcome with what is listed."""
    what = f"{refusal.name} is answered by {outcome!r}"
    if refusal.not_sent is not None:
        unsent = isinstance(outcome, NotSent) and outcome.evidence.reason == refusal.not_sent
        trial.expect(unsent, what)
        return
    trial.expect(isinstance(outcome, Rejected), what)
    if isinstance(outcome, Rejected):
        trial.expect(outcome.failure == refusal.failure, what)
        trial.expect(outcome.forbidden == refusal.forbidden, what)


@case("bank.unlisted_refusals", needs=PAYS)
async def unlisted_refusals(trial: Trial) -> None:
    """A refusal that is not listed proves nothing: the payout is Unknown, executed or not."""
    await _prove_nothing(trial, [trial.stage.refusal(each, UNKNOWN_WORD) for each in STATUSES])


@case("bank.doubtful_refusals", needs=PAYS)
async def doubtful_refusals(trial: Trial) -> None:
    """What the bank documents and does not call final proves nothing either."""
    answers = trial.stage.doubtful()
    if not answers:
        message = "the stage names no documented refusal that proves nothing (doubtful)"
        raise NotApplicable(message)
    await _prove_nothing(trial, answers)


async def _prove_nothing(trial: Trial, answers: Sequence[BankAnswer]) -> None:
    number = await money_request(trial)
    for answer in answers:
        for executed in (False, True):
            answered = await ordered(trial, number, answer, executed=executed)
            what = f"{answer.status} {answer.body[:80]!r}, executed: {executed}"
            unknown = isinstance(answered.outcome, Unknown)
            trial.expect(unknown, f"{what}: {answered.outcome!r}")
            once = [answered.order.value] if executed else []
            trial.expect(answered.paid == once, f"{what}: the bank paid {answered.paid}")


@case("bank.listed_code_of_another_status", needs=PAYS)
async def listed_code_of_another_status(trial: Trial) -> None:
    """A listed code that comes with a failure of the server proves nothing."""
    number = await money_request(trial)
    for refusal in trial.stage.refusals():
        failing = dataclasses.replace(refusal.answer, status=500)
        outcome = (await ordered(trial, number, failing, executed=True)).outcome
        unknown = isinstance(outcome, Unknown)
        trial.expect(unknown, f"{refusal.name}, answered with a 500, is {outcome!r}")


@case("bank.retry_after", needs=PAYS)
async def retry_after(trial: Trial) -> None:
    """How long a bank asks us to wait is handed on."""
    listed = [each for each in trial.stage.refusals() if each.not_sent is Reason.RATE_LIMITED]
    if not listed:
        message = "no refusal for too many calls is listed"
        raise NotApplicable(message)
    number = await money_request(trial)
    for refusal in listed:
        headers = {**refusal.answer.headers, "Retry-After": str(_RETRY_AFTER_S)}
        answer = dataclasses.replace(refusal.answer, headers=headers)
        outcome = (await ordered(trial, number, answer)).outcome
        waits = isinstance(outcome, NotSent) and outcome.retry_after == _RETRY_AFTER_S
        trial.expect(waits, f"{refusal.name} with Retry-After: {_RETRY_AFTER_S} is {outcome!r}")


@case("bank.maintenance", needs=PAYS)
async def maintenance(trial: Trial) -> None:
    """A page for people, with status 200, is no answer of the bank."""
    page = BankAnswer(status=200, body=_PAGE, headers={"Content-Type": "text/html"})
    number = await money_request(trial)
    for executed in (False, True):
        outcome = (await ordered(trial, number, page, executed=executed)).outcome
        trial.expect(isinstance(outcome, Unknown), f"executed: {executed}: {outcome!r}")
    if PortCall.GET_BALANCE in trial.capabilities.calls:
        async with trial.harness() as harness:
            harness.relay.begin(from_request(1, Act(play=answering(page))))
            await trial.raised(BadReply, harness.adapter.get_balance(trial.account), "a balance")


@case("bank.wrong_credentials", needs=PAYS)
async def wrong_credentials(trial: Trial) -> None:
    """Credentials that the bank does not know pay nothing, and are told as refused."""
    stranger, order = trial.stage.stranger(), trial.order()
    async with trial.harness() as harness:
        outcome = await harness.adapter.create_payout(stranger, order, far())
        trial.expect(isinstance(outcome, NotSent | Unknown), f"a payout is answered by {outcome!r}")
        if isinstance(outcome, NotSent):
            reason = outcome.evidence.reason
            trial.expect(reason == Reason.CREDENTIALS_REFUSED, f"the reason is {reason!r}")
        if PortCall.GET_BALANCE in trial.capabilities.calls:
            reading = harness.adapter.get_balance(stranger)
            await trial.raised(CredentialsRefused, reading, "a balance")
    paid = await trial.stage.executions(order.provider_key)
    trial.expect(not paid, f"the bank paid {list(paid)}")


@case("bank.insufficient_funds", needs=PAYS | {PortCall.GET_BALANCE})
async def insufficient_funds(trial: Trial) -> None:
    """More than the account has is not paid, and the reason is told where the bank has a word."""
    listed = {each.failure for each in trial.stage.refusals()}
    async with trial.harness() as harness:
        held = await harness.adapter.get_balance(trial.account)
        order = trial.order(value=Money(held.balance.centavos + 1_00))
        outcome = await harness.adapter.create_payout(trial.account, order, far())
    if FailureCode.INSUFFICIENT_FUNDS in listed:
        trial.expect(isinstance(outcome, Rejected), f"it is answered by {outcome!r}")
        told = outcome.failure if isinstance(outcome, Rejected) else None
        trial.expect(told is FailureCode.INSUFFICIENT_FUNDS, f"the failure is {told}")
    else:
        trial.expect(isinstance(outcome, Unknown), f"without a word it is {outcome!r}")
    paid = await trial.stage.executions(order.provider_key)
    trial.expect(not paid, f"the bank paid {list(paid)}")


@case("bank.unknown_bank_number", needs=PAYS)
async def unknown_bank_number(trial: Trial) -> None:
    """A bank number that nobody has is never told as something to send again."""
    needs_method(trial, PayoutMethod.BANK_ACCOUNT)
    payee = cast("BankDestination", trial.stage.payee(PayoutMethod.BANK_ACCOUNT))
    order = trial.order(destination=dataclasses.replace(payee, bank_number=_NO_BANK))
    async with trial.harness() as harness:
        outcome = await harness.adapter.create_payout(trial.account, order, far())
    trial.expect(not isinstance(outcome, NotSent), f"it is answered by {outcome!r}")
    if isinstance(outcome, Rejected):
        paid = await trial.stage.executions(order.provider_key)
        trial.expect(not paid, f"the bank paid {list(paid)}")


@case("bank.duplicate", needs=PAYS)
async def duplicate(trial: Trial) -> None:
    """The same order again is the same payout, and is paid once."""
    await _same_again(trial, trial.order())


@case("bank.duplicate_by_account", needs=PAYS)
async def duplicate_by_account(trial: Trial) -> None:
    """The same order to a bank account again is the same payout, and is paid once."""
    needs_method(trial, PayoutMethod.BANK_ACCOUNT)
    payee = trial.stage.payee(PayoutMethod.BANK_ACCOUNT)
    await _same_again(trial, trial.order(destination=payee))


async def _same_again(trial: Trial, order: PayoutOrder) -> None:
    _needs_keys(trial)
    first, second = await _twice(trial, order, order)
    trial.expect(isinstance(first, Accepted | Settled), f"at first: {first!r}")
    # Without a look-up by our key nobody can compare what the bank knows.
    allowed = Accepted | Settled if trial.capabilities.finds() else Accepted | Settled | Unknown
    trial.expect(isinstance(second, allowed), f"again: {second!r}")
    if isinstance(first, Accepted | Settled) and isinstance(second, Accepted | Settled):
        same = first.provider_id == second.provider_id
        trial.expect(same, f"the bank's ids are {first.provider_id!r}, {second.provider_id!r}")
        reason = second.evidence.reason
        trial.expect(reason != Reason.DUPLICATE, "nobody compared the payout with the order")
    await _paid_once(trial, order)


@case("bank.duplicate_of_another_amount", needs=PAYS)
async def duplicate_of_another_amount(trial: Trial) -> None:
    """A known key with another amount is Unknown: what the bank has is not this order."""
    _needs_keys(trial)
    order = trial.order()
    other = dataclasses.replace(order, value=Money(order.value.centavos + 1))
    _, second = await _twice(trial, order, other)
    trial.expect(isinstance(second, Unknown), f"with another amount: {second!r}")
    await _paid_once(trial, order)


@case("bank.duplicate_of_another_recipient", needs=PAYS)
async def duplicate_of_another_recipient(trial: Trial) -> None:
    """A known key with another recipient is Unknown: what the bank has is not this order."""
    await _another_recipient(trial, trial.method, trial.stage.other_payee(trial.method))


@case("bank.duplicate_of_another_bank_account", needs=PAYS)
async def duplicate_of_another_bank_account(trial: Trial) -> None:
    """The same holds for bank accounts, and for another account at the same bank."""
    method = PayoutMethod.BANK_ACCOUNT
    needs_method(trial, method)
    payee = cast("BankDestination", trial.stage.payee(method))
    other = cast("BankDestination", trial.stage.other_payee(method))
    await _another_recipient(trial, method, other)
    if other.account != payee.account:
        beside = dataclasses.replace(payee, account=other.account)
        await _another_recipient(trial, method, beside)


async def _another_recipient(trial: Trial, method: PayoutMethod, other: Destination) -> None:
    _needs_keys(trial)
    order = trial.order(destination=trial.stage.payee(method))
    _, second = await _twice(trial, order, dataclasses.replace(order, destination=other))
    trial.expect(isinstance(second, Unknown), f"with another recipient: {second!r}")
    await _paid_once(trial, order)


@case("bank.other_amount", needs=PAYS)
async def other_amount(trial: Trial) -> None:
    """An answer with another amount than was ordered is Unknown."""
    name = trial.stage.fields(PortCall.CREATE_PAYOUT).amount
    await _contradicted(trial, name, "amount", alterations.another_amount)


@case("bank.other_key", needs=PAYS)
async def other_key(trial: Trial) -> None:
    """An answer with another key than ours is Unknown."""
    name = trial.stage.fields(PortCall.CREATE_PAYOUT).key
    await _contradicted(trial, name, "key", alterations.another_key)


@case("bank.other_recipient", needs=PAYS)
async def other_recipient(trial: Trial) -> None:
    """An answer that shows another recipient than was ordered is Unknown."""
    name = trial.stage.fields(PortCall.CREATE_PAYOUT).destination
    await _contradicted(trial, name, "recipient", alterations.constant("of-the-suite@example.com"))


@case("bank.malformed_e2e_id", needs=PAYS)
async def malformed_e2e_id(trial: Trial) -> None:
    """An answer with an end-to-end id that is none is Unknown."""
    name = trial.stage.fields(PortCall.CREATE_PAYOUT).e2e_id
    for wrong in _WRONG_E2E_IDS:
        await _contradicted(trial, name, "end-to-end id", alterations.constant(wrong))


@case("bank.unknown_word", needs=PAYS)
async def unknown_word(trial: Trial) -> None:
    """An order whose state is an unknown word is not final, and the word is counted."""
    name = named(trial.stage.fields(PortCall.CREATE_PAYOUT).status, "state")
    number = await money_request(trial)
    alter = alterations.field(name, alterations.constant(UNKNOWN_WORD))
    answered = await altered(trial, number, alter)
    outcome = answered.outcome
    trial.expect(isinstance(outcome, Accepted | Unknown), f"it is answered by {outcome!r}")
    counted = [event for event, _ in answered.counts]
    trial.expect(str(Event.UNKNOWN_STATUS) in counted, f"it counted {counted}")


async def money_request(trial: Trial) -> int:
    """Return which request of a payout moves the money."""
    return (await money_path(trial, payouts(trial, trial.method)())).money


async def ordered(
    trial: Trial, number: int, answer: BankAnswer, *, executed: bool = False
) -> Answered:
    """Order a payout whose money request is answered so, executed by the bank or not."""
    return await _ordered(trial, number, Act(play=answering(answer), reaches_bank=executed))


async def altered(trial: Trial, number: int, alter: Alter) -> Answered:
    """Order a payout whose money request is answered by the bank, and changed on the way."""
    return await _ordered(trial, number, Act(alter=alter))


async def _ordered(trial: Trial, number: int, act: Act) -> Answered:
    return await _played(trial, from_request(number, act))


async def _played(trial: Trial, script: Script) -> Answered:
    order = trial.order()
    async with trial.harness() as harness:
        harness.relay.begin(script)
        outcome = await harness.adapter.create_payout(trial.account, order, far())
    paid = list(await trial.stage.executions(order.provider_key))
    return Answered(outcome, paid, order, tuple(harness.witness.counts))


async def _contradicted(trial: Trial, name: str, what: str, change: Value) -> None:
    """Expect Unknown of an order whose answer was changed in one field."""
    alter = alterations.field(named(name, what), change)
    answered = await altered(trial, await money_request(trial), alter)
    outcome = answered.outcome
    trial.expect(isinstance(outcome, Unknown), f"another {what} is answered by {outcome!r}")
    paid = answered.paid
    trial.expect(paid == [answered.order.value], f"the bank paid {paid}")


async def _twice(trial: Trial, order: PayoutOrder, other: PayoutOrder) -> tuple[Outcome, Outcome]:
    async with trial.harness() as harness:
        first = await _pay(trial, harness, order)
        return first, await _pay(trial, harness, other)


async def _pay(trial: Trial, harness: Harness, order: PayoutOrder) -> Outcome:
    return await harness.adapter.create_payout(trial.account, order, far())


async def _paid_once(trial: Trial, order: PayoutOrder) -> None:
    paid = list(await trial.stage.executions(order.provider_key))
    trial.expect(paid == [order.value], f"the bank paid {paid}")


def _needs_keys(trial: Trial) -> None:
    if trial.capabilities.repeat is Repeat.IGNORES:
        message = "the bank ignores keys, so the gateway never repeats an order"
        raise NotApplicable(message)


def needs_method(trial: Trial, method: PayoutMethod) -> None:
    """The case does not apply to an adapter that does not declare the method."""
    if method not in trial.capabilities.destinations:
        message = f"destinations: {method.value} is not declared"
        raise NotApplicable(message)


def named(name: str, what: str) -> str:
    """Return a field's name; the case does not apply to an answer without it."""
    if not name:
        message = f"the bank's answer shows no {what}"
        raise NotApplicable(message)
    return name
