"""
Cases about what a bank's answers mean, and what becomes of payouts and refunds.

Only what the adapter lists is definite, and only what the bank found is there or absent.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, cast

import pytest

from gateway.domain.bank import answers
from gateway.domain.bank.capabilities import EntryField, PortCall, Repeat
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
    NotFound,
    NotSent,
    NotSupported,
    Outcome,
    ProviderError,
    Rejected,
    Settled,
    Unknown,
)
from gateway.domain.bank.refunds import IncomingStatus, RefundOrder, RefundStatus
from gateway.domain.bank.statements import Direction, Entry, MovementKind
from gateway.domain.kernel.money import Money
from gateway.telemetry.ports import Event
from provider_adapters.kit.answers import is_e2e_id
from provider_adapters.testing.verify import alterations
from provider_adapters.testing.verify.alterations import UNKNOWN_WORD, Value
from provider_adapters.testing.verify.cases import applies_if, case
from provider_adapters.testing.verify.relay import Act, Script, answering, at_request, from_request
from provider_adapters.testing.verify.stage import BankAnswer, Fate, ListedRefusal, Received, Stage
from provider_adapters.testing.verify.suite.calls import OK, refund_order
from provider_adapters.testing.verify.suite.faults import close
from provider_adapters.testing.verify.suite.wire import money_request, needs_method
from provider_adapters.testing.verify.trial import Trial, far, new_provider_key, passed

PAYS: Final = frozenset({PortCall.CREATE_PAYOUT})
STATUSES: Final = (400, 401, 403, 404, 409, 422, 429, 500, 503)
"""Those by which banks refuse, and proxies too."""
_PAGE: Final = BankAnswer(
    status=200,
    body=b"<!doctype html><title>Em manuten\xc3\xa7\xc3\xa3o</title>",
    headers={"Content-Type": "text/html"},
)
AnswersOf = Callable[[Stage], Sequence[BankAnswer]]
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


def _unlisted(stage: Stage) -> Sequence[BankAnswer]:
    return [stage.refusal(status, UNKNOWN_WORD) for status in STATUSES]


def _failing(stage: Stage) -> Sequence[BankAnswer]:
    return [dataclasses.replace(each.answer, status=500) for each in stage.refusals()]


def _doubtful(stage: Stage) -> Sequence[BankAnswer]:
    reason = "the stage names no documented refusal that proves nothing (doubtful)"
    applies_if(stage.doubtful(), reason)
    return stage.doubtful()


@case("bank.unlisted_refusals", _unlisted, needs=PAYS)
@case("bank.listed_code_of_another_status", _failing, needs=PAYS)
@case("bank.doubtful_refusals", _doubtful, needs=PAYS)
@case("bank.maintenance", lambda _: [_PAGE], needs=PAYS)
async def nothing_proven(trial: Trial, answers_of: AnswersOf) -> None:
    """
    What is not listed as a refusal proves nothing: the payout is Unknown, executed or not.

    Neither does a listed code that comes with a failure of the server, nor an error that the bank
    documents and does not call final, nor a page for people with status 200.
    """
    said, number = answers_of(trial.stage), await money_request(trial)
    for answer in said:
        for executed in (False, True):
            act = Act(play=answering(answer), reaches_bank=executed)
            ordered = await _ordered(trial, from_request(number, act))
            what = f"{answer.status} {answer.body[:80]!r}, executed: {executed}"
            assert isinstance(ordered.outcome, Unknown), f"{what}: {ordered.outcome!r}"
            assert ordered.paid == ([ordered.order.value] if executed else []), what
    if said == [_PAGE] and trial.can(PortCall.GET_BALANCE):
        trial.relay.begin(from_request(1, Act(play=answering(_PAGE))))
        with pytest.raises(BadReply):
            await trial.adapter.get_balance(trial.account)


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


LOOKS: Final = frozenset({PortCall.CREATE_PAYOUT, PortCall.FIND_PAYOUT})
_LONGEST_HOLD: Final = timedelta(minutes=61)


@case("bank.settled", needs=LOOKS)
@case("bank.settled_by_account", PayoutMethod.BANK_ACCOUNT, needs=LOOKS)
async def settled(trial: Trial, method: PayoutMethod | None = None) -> None:
    """A payout that settled is found settled, as it was ordered."""
    needs_method(trial, method or trial.method)
    wish = await trial.stage.wish(Fate.SETTLES)
    to = trial.stage.payee(method) if method else wish.destination
    order = trial.order(value=wish.value, destination=to)
    first = await _accepted(trial, order)
    await trial.stage.settle()
    found = await _look_up(trial, order, first)
    assert isinstance(found, Settled), found
    assert found.value == order.value
    assert found.provider_key in {"", order.provider_key}
    assert first.provider_id in {"", found.provider_id}
    e2e = {first.e2e_id, found.e2e_id} - {""}
    assert len(e2e) <= 1
    assert all(map(is_e2e_id, e2e)), e2e
    assert found.settled_at is None or found.settled_at.tzinfo is not None
    assert await trial.paid(order.provider_key) == [order.value]


@case("bank.failed_later", needs=LOOKS)
async def failed_later(trial: Trial) -> None:
    """A payout that was accepted and failed is found rejected."""
    order = trial.order(await trial.stage.wish(Fate.FAILS))
    first = await _accepted(trial, order)
    assert not isinstance(first, Settled), "it was told as paid before it failed"
    await trial.stage.settle()
    found = await _look_up(trial, order, first)
    assert isinstance(found, Rejected), found
    assert await trial.paid(order.provider_key) == []


@case("bank.returned", needs=LOOKS)
async def returned(trial: Trial) -> None:
    """A payout that settled stays settled when it comes back."""
    order = trial.order(await trial.stage.wish(Fate.RETURNS))
    first = await _accepted(trial, order)
    await trial.stage.settle()
    await trial.stage.settle()
    found = await _look_up(trial, order, first)
    assert isinstance(found, Settled), found
    assert sum(each.value.centavos for each in found.returns) in {0, order.value.centavos}
    assert all(is_e2e_id(each.id) for each in found.returns)


@case("bank.held", needs=LOOKS)
async def held(trial: Trial) -> None:
    """A payout under precautionary analysis is accepted, with the bank's own deadline."""
    order = trial.order(await trial.stage.wish(Fate.HELD))
    first = await _accepted(trial, order)
    now = datetime.now(UTC)
    for outcome in (first, await _look_up(trial, order, first)):
        assert isinstance(outcome, Accepted), outcome
        assert outcome.held_until is not None, outcome
        assert now < outcome.held_until < now + _LONGEST_HOLD


@case("bank.absent", needs={PortCall.FIND_PAYOUT})
async def absent(trial: Trial) -> None:
    """A payout that the bank does not know is NotFound; without a way to look, NotSupported."""
    with pytest.raises(NotFound if trial.capabilities.finds() else NotSupported):
        await trial.adapter.find_payout(trial.account, new_provider_key(), "")


@case("bank.absent_is_the_bank_s_word", needs={PortCall.FIND_PAYOUT})
async def absent_is_the_bank_s_word(trial: Trial) -> None:
    """A 404 with an unlisted code proves no absence: what is believed absent is paid twice."""
    _needs_key(trial)
    refusal = trial.stage.refusal(404, UNKNOWN_WORD)
    trial.relay.begin(from_request(1, Act(play=answering(refusal))))
    with pytest.raises(ProviderError) as raised:
        await trial.adapter.find_payout(trial.account, new_provider_key(), "")
    assert not isinstance(raised.value, NotFound), "an unlisted 404 is told as NotFound"


@case("bank.absent_then_visible", needs=LOOKS)
async def absent_then_visible(trial: Trial) -> None:
    """A payout whose answer was lost is not there before, and is found afterwards."""
    _needs_key(trial)
    number, order = await money_request(trial), trial.order()
    with pytest.raises(NotFound):
        await trial.adapter.find_payout(trial.account, order.provider_key, "")
    async with trial.again() as fresh:
        fresh.relay.begin(from_request(number, Act(play=close, reaches_bank=True)))
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


@case("bank.found_with_another_amount", needs=LOOKS)
async def found_with_another_amount(trial: Trial) -> None:
    """The amount of a payout that is found is the bank's; who asked compares it."""
    found, _ = await _looked_up(trial, "amount", alterations.another_amount)
    if isinstance(found, Settled):
        assert found.value != Money(1050), "the bank's amount is not told"
    else:
        assert found is None or isinstance(found, Unknown), found


@case("bank.found_with_another_key", "key", alterations.another_key, needs=LOOKS)
@case("bank.found_with_malformed_e2e_id", "e2e_id", alterations.constant("E123"), needs=LOOKS)
async def found_contradicted(trial: Trial, field: str, change: Value) -> None:
    """A payout that is found with another key, or an end-to-end id that is none, is not final."""
    found, _ = await _looked_up(trial, field, change)
    assert found is None or isinstance(found, Unknown), found


@case("bank.found_with_unknown_word", needs=LOOKS)
async def found_with_unknown_word(trial: Trial) -> None:
    """A payout that is found in a state that is an unknown word is Unknown; it is counted."""
    found, events = await _looked_up(trial, "status", alterations.constant(UNKNOWN_WORD))
    assert isinstance(found, Unknown), found
    assert str(Event.UNKNOWN_STATUS) in events


async def _accepted(trial: Trial, order: PayoutOrder) -> Accepted | Settled:
    outcome = await trial.pay(order)
    assert isinstance(outcome, OK), outcome
    return outcome


async def _look_up(trial: Trial, order: PayoutOrder, first: Accepted | Settled) -> Outcome:
    key = order.provider_key
    return await trial.adapter.find_payout(trial.account, key, first.provider_id)


async def _looked_up(
    trial: Trial, field: str, change: Value
) -> tuple[Outcome | None, Collection[str]]:
    """
    Look a settled payout of R$ 10.50 up, one field of the answer being changed on the way.

    Returns the outcome, or None for a ``ProviderError``, and what the adapter counted.
    """
    name, order = named(trial, PortCall.FIND_PAYOUT, field), trial.order()
    first = await _accepted(trial, order)
    await trial.stage.settle()
    async with trial.again() as fresh:
        fresh.relay.begin(from_request(1, Act(alter=alterations.field(name, change))))
        try:
            found: Outcome | None = await _look_up(fresh, order, first)
        except ProviderError:
            found = None
    return found, [event for event, _ in fresh.witness.counts]


def _needs_key(trial: Trial) -> None:
    applies_if(trial.capabilities.finds(), "payouts are found by the bank's id alone")


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
    entries = await _debits(trial, order.value)
    assert len(entries) == 1, entries
    entry = entries[0]
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
    await _refund_shown(trial, order)
    assert found.status is RefundStatus.PAID, found
    assert found.value == order.value
    assert found.payment_e2e_id == order.payment_e2e_id
    assert await trial.paid(order.provider_key) == [order.value]


async def _refund_shown(trial: Trial, order: RefundOrder) -> None:
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


@case("bank.refund_duplicate", 4_00, 4_00, OK, needs=REFUNDS)
@case("bank.refund_of_another_amount", 4_00, 5_00, Rejected | Unknown, needs=REFUNDS)
async def refund_again(trial: Trial, first: int, second: int, kinds: type[Outcome]) -> None:
    """The same refund again is given once; with another amount it is not taken for given."""
    order = await _refund(trial, Money(first))
    other = dataclasses.replace(order, value=Money(second))
    outcome = await _refund_twice(trial, order, other)
    assert isinstance(outcome, kinds), outcome
    assert await trial.paid(order.provider_key) == [order.value]


@case("bank.refund_above_payment", needs=REFUNDS)
async def refund_above_payment(trial: Trial) -> None:
    """No more is given back than came in."""
    order = await _refund(trial, Money(10_00))
    more = refund_order(order.payment_e2e_id, Money(51))
    outcome = await _refund_twice(trial, order, more)
    assert isinstance(outcome, Rejected | Unknown), outcome
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


async def _refund_twice(trial: Trial, order: RefundOrder, other: RefundOrder) -> Outcome:
    """Order a refund, which is accepted, and another one; returns what became of the second."""
    first = await trial.adapter.create_refund(trial.account, order, far())
    assert isinstance(first, OK), first
    return await trial.adapter.create_refund(trial.account, other, far())
