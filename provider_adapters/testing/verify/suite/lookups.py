"""Cases about looking payouts up: what is there, what became of it, and what proves nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from gateway.domain.bank.capabilities import PortCall
from gateway.domain.bank.payout_orders import PayoutMethod, PayoutOrder
from gateway.domain.bank.providers import (
    Accepted,
    NotFound,
    NotSupported,
    Outcome,
    ProviderError,
    Rejected,
    Settled,
    Unknown,
)
from gateway.domain.kernel.money import Money
from gateway.telemetry.ports import Event
from provider_adapters.kit.answers import is_e2e_id
from provider_adapters.testing.verify import alterations
from provider_adapters.testing.verify.alterations import UNKNOWN_WORD, Value
from provider_adapters.testing.verify.cases import CaseFailed, case
from provider_adapters.testing.verify.relay import Act, answering, from_request
from provider_adapters.testing.verify.stage import Fate, NotApplicable
from provider_adapters.testing.verify.suite.bank import money_request, named, needs_method
from provider_adapters.testing.verify.suite.faults import close
from provider_adapters.testing.verify.trial import Harness, Trial, far, new_provider_key

LOOKS: Final = frozenset({PortCall.CREATE_PAYOUT, PortCall.FIND_PAYOUT})
_LONGEST_HOLD: Final = timedelta(minutes=61)


@case("bank.settled", needs=LOOKS)
async def settled(trial: Trial) -> None:
    """A payout by key that settled is found settled, as it was ordered."""
    await _settles(trial, trial.order(await trial.stage.wish(Fate.SETTLES)))


@case("bank.settled_by_account", needs=LOOKS)
async def settled_by_account(trial: Trial) -> None:
    """A payout to a bank account that settled is found settled, as it was ordered."""
    needs_method(trial, PayoutMethod.BANK_ACCOUNT)
    destination = trial.stage.payee(PayoutMethod.BANK_ACCOUNT)
    wish = await trial.stage.wish(Fate.SETTLES)
    await _settles(trial, trial.order(value=wish.value, destination=destination))


async def _settles(trial: Trial, order: PayoutOrder) -> None:
    async with trial.harness() as harness:
        first = await _ordered(trial, harness, order)
        await trial.stage.settle()
        found = await _found(trial, harness, order, first)
    trial.expect(isinstance(found, Settled), f"it is found as {found!r}")
    if not isinstance(found, Settled):
        return
    trial.expect(found.value == order.value, f"the amount is told as {found.value}")
    key = found.provider_key
    trial.expect(key in {"", order.provider_key}, f"the key is told as {key!r}")
    trial.expect(found.provider_id == first.provider_id or not first.provider_id, "another id")
    e2e = {first.e2e_id, found.e2e_id} - {""}
    right = len(e2e) <= 1 and all(map(is_e2e_id, e2e))
    trial.expect(right, f"the end-to-end ids are {e2e}")
    at = found.settled_at
    trial.expect(at is None or at.tzinfo is not None, f"it was settled at {at!r}, without a zone")
    paid = list(await trial.stage.executions(order.provider_key))
    trial.expect(paid == [order.value], f"the bank paid {paid}")


@case("bank.failed_later", needs=LOOKS)
async def failed_later(trial: Trial) -> None:
    """A payout that was accepted and failed is found rejected."""
    order = trial.order(await trial.stage.wish(Fate.FAILS))
    async with trial.harness() as harness:
        first = await _ordered(trial, harness, order)
        trial.expect(not isinstance(first, Settled), "it was told as paid before it failed")
        await trial.stage.settle()
        found = await _found(trial, harness, order, first)
    trial.expect(isinstance(found, Rejected), f"it is found as {found!r}")
    paid = list(await trial.stage.executions(order.provider_key))
    trial.expect(not paid, f"the bank paid {paid}")


@case("bank.returned", needs=LOOKS)
async def returned(trial: Trial) -> None:
    """A payout that settled stays settled when it comes back."""
    order = trial.order(await trial.stage.wish(Fate.RETURNS))
    async with trial.harness() as harness:
        first = await _ordered(trial, harness, order)
        await trial.stage.settle()
        await trial.stage.settle()
        found = await _found(trial, harness, order, first)
    trial.expect(isinstance(found, Settled), f"it is found as {found!r}")
    if isinstance(found, Settled):
        back = sum(each.value.centavos for each in found.returns)
        told = back in {0, order.value.centavos}
        trial.expect(told, f"of {order.value} came back {found.returns}")
        named = all(is_e2e_id(each.id) for each in found.returns)
        trial.expect(named, f"the returns are {found.returns}")


@case("bank.held", needs=LOOKS)
async def held(trial: Trial) -> None:
    """A payout under precautionary analysis is accepted, with the bank's own deadline."""
    order = trial.order(await trial.stage.wish(Fate.HELD))
    async with trial.harness() as harness:
        first = await _ordered(trial, harness, order)
        found = await _found(trial, harness, order, first)
    now = datetime.now(UTC)
    for outcome in (first, found):
        until = outcome.held_until if isinstance(outcome, Accepted) else None
        within = until is not None and now < until < now + _LONGEST_HOLD
        trial.expect(within, f"it is told as {outcome!r}")


@case("bank.absent", needs={PortCall.FIND_PAYOUT})
async def absent(trial: Trial) -> None:
    """A payout that the bank does not know is NotFound; without a way to look, NotSupported."""
    kind = NotFound if trial.capabilities.finds() else NotSupported
    async with trial.harness() as harness:
        looking = harness.adapter.find_payout(trial.account, new_provider_key(), "")
        await trial.raised(kind, looking, "a payout that is not there")


@case("bank.absent_is_the_bank_s_word", needs={PortCall.FIND_PAYOUT})
async def absent_is_the_bank_s_word(trial: Trial) -> None:
    """A 404 with an unlisted code proves no absence: what is believed absent is paid twice."""
    _needs_key(trial)
    refusal = trial.stage.refusal(404, UNKNOWN_WORD)
    async with trial.harness() as harness:
        harness.relay.begin(from_request(1, Act(play=answering(refusal))))
        looking = harness.adapter.find_payout(trial.account, new_provider_key(), "")
        failure = await trial.raised(ProviderError, looking, "an unlisted 404")
    trial.expect(not isinstance(failure, NotFound), "an unlisted 404 is told as NotFound")


@case("bank.absent_then_visible", needs=LOOKS)
async def absent_then_visible(trial: Trial) -> None:
    """A payout whose answer was lost is not there before, and is found afterwards."""
    _needs_key(trial)
    number, order = await money_request(trial), trial.order()
    async with trial.harness() as harness:
        looking = harness.adapter.find_payout(trial.account, order.provider_key, "")
        await trial.raised(NotFound, looking, "before it was ordered")
    async with trial.harness() as harness:
        harness.relay.begin(from_request(number, Act(play=close, reaches_bank=True)))
        outcome = await harness.adapter.create_payout(trial.account, order, far())
        trial.expect(isinstance(outcome, Unknown), f"its answer was lost: {outcome!r}")
    async with trial.harness() as harness:
        found = await harness.adapter.find_payout(trial.account, order.provider_key, "")
    trial.expect(isinstance(found, Accepted | Settled), f"it is found as {found!r}")


@case("bank.other_account", needs=LOOKS)
async def other_account(trial: Trial) -> None:
    """A payout of another account is not found."""
    order, other = trial.order(), trial.stage.accounts[1]
    async with trial.harness() as harness:
        first = await harness.adapter.create_payout(other, order, far())
        accepted = isinstance(first, Accepted | Settled)
        trial.expect(accepted, f"the second account's payout is answered by {first!r}")
        known = "" if trial.capabilities.finds() else _id_of(first)
        looking = harness.adapter.find_payout(trial.account, order.provider_key, known)
        # A bank that is asked by its own id may have no word of its own for "absent".
        kind = NotFound if trial.capabilities.finds() else ProviderError
        await trial.raised(kind, looking, "a payout of another account")


@case("bank.found_with_another_amount", needs=LOOKS)
async def found_with_another_amount(trial: Trial) -> None:
    """The amount of a payout that is found is the bank's; who asked compares it."""
    name = trial.stage.fields(PortCall.FIND_PAYOUT).amount
    found = (await _changed(trial, name, "amount", alterations.another_amount)).outcome
    if isinstance(found, Settled):
        trial.expect(found.value != Money(1050), "the bank's amount is not told")
    else:
        trial.expect(found is None or isinstance(found, Unknown), f"it is found as {found!r}")


@case("bank.found_with_another_key", needs=LOOKS)
async def found_with_another_key(trial: Trial) -> None:
    """A payout that is found with another key than was asked for is not that payout."""
    name = trial.stage.fields(PortCall.FIND_PAYOUT).key
    found = (await _changed(trial, name, "key", alterations.another_key)).outcome
    trial.expect(found is None or isinstance(found, Unknown), f"it is found as {found!r}")


@case("bank.found_with_malformed_e2e_id", needs=LOOKS)
async def found_with_malformed_e2e_id(trial: Trial) -> None:
    """A payout that is found with an end-to-end id that is none is not final."""
    name = trial.stage.fields(PortCall.FIND_PAYOUT).e2e_id
    wrong = alterations.constant("E123")
    found = (await _changed(trial, name, "end-to-end id", wrong)).outcome
    trial.expect(found is None or isinstance(found, Unknown), f"it is found as {found!r}")


@case("bank.found_with_unknown_word", needs=LOOKS)
async def found_with_unknown_word(trial: Trial) -> None:
    """A payout that is found in a state that is an unknown word is Unknown; it is counted."""
    name = trial.stage.fields(PortCall.FIND_PAYOUT).status
    changed = await _changed(trial, name, "state", alterations.constant(UNKNOWN_WORD))
    trial.expect(isinstance(changed.outcome, Unknown), f"it is found as {changed.outcome!r}")
    counted = [event for event, _ in changed.counts]
    trial.expect(str(Event.UNKNOWN_STATUS) in counted, f"it counted {counted}")


async def _ordered(trial: Trial, harness: Harness, order: PayoutOrder) -> Accepted | Settled:
    outcome = await harness.adapter.create_payout(trial.account, order, far())
    if not isinstance(outcome, Accepted | Settled):
        message = f"it is answered by {outcome!r}"
        raise CaseFailed(message)
    return outcome


async def _found(trial: Trial, harness: Harness, order: PayoutOrder, first: Outcome) -> Outcome:
    known = _id_of(first)
    return await harness.adapter.find_payout(trial.account, order.provider_key, known)


def _id_of(outcome: Outcome) -> str:
    return outcome.provider_id if isinstance(outcome, Accepted | Settled) else ""


@dataclass(frozen=True, slots=True)
class _Changed:
    """What a look-up made of a changed answer; no outcome for a ``ProviderError``."""

    outcome: Outcome | None
    counts: Sequence[tuple[str, str]]


async def _changed(trial: Trial, name: str, what: str, change: Value) -> _Changed:
    """Look a settled payout of R$ 10.50 up, one field of the answer being changed on the way."""
    alter, order = alterations.field(named(name, what), change), trial.order()
    async with trial.harness() as harness:
        first = await _ordered(trial, harness, order)
        await trial.stage.settle()
    async with trial.harness() as harness:
        harness.relay.begin(from_request(1, Act(alter=alter)))
        try:
            found: Outcome | None = await _found(trial, harness, order, first)
        except ProviderError:
            found = None
    return _Changed(found, tuple(harness.witness.counts))


def _needs_key(trial: Trial) -> None:
    if not trial.capabilities.finds():
        message = "payouts are found by the bank's id alone"
        raise NotApplicable(message)
