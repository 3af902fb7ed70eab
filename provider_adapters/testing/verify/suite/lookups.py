"""Cases about looking payouts up: what is there, what became of it, and what proves nothing."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from typing import Final

import pytest

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
from provider_adapters.testing.verify.cases import applies_if, case
from provider_adapters.testing.verify.relay import Act, answering, from_request
from provider_adapters.testing.verify.stage import Fate
from provider_adapters.testing.verify.suite.bank import named
from provider_adapters.testing.verify.suite.calls import OK
from provider_adapters.testing.verify.suite.faults import close
from provider_adapters.testing.verify.suite.wire import money_request, needs_method
from provider_adapters.testing.verify.trial import Trial, far, new_provider_key

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
    found = await _found(trial, order, first)
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
    found = await _found(trial, order, first)
    assert isinstance(found, Rejected), found
    assert await trial.paid(order.provider_key) == []


@case("bank.returned", needs=LOOKS)
async def returned(trial: Trial) -> None:
    """A payout that settled stays settled when it comes back."""
    order = trial.order(await trial.stage.wish(Fate.RETURNS))
    first = await _accepted(trial, order)
    await trial.stage.settle()
    await trial.stage.settle()
    found = await _found(trial, order, first)
    assert isinstance(found, Settled), found
    assert sum(each.value.centavos for each in found.returns) in {0, order.value.centavos}
    assert all(is_e2e_id(each.id) for each in found.returns)


@case("bank.held", needs=LOOKS)
async def held(trial: Trial) -> None:
    """A payout under precautionary analysis is accepted, with the bank's own deadline."""
    order = trial.order(await trial.stage.wish(Fate.HELD))
    first = await _accepted(trial, order)
    now = datetime.now(UTC)
    for outcome in (first, await _found(trial, order, first)):
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
    found, _ = await _changed(trial, "amount", alterations.another_amount)
    if isinstance(found, Settled):
        assert found.value != Money(1050), "the bank's amount is not told"
    else:
        assert found is None or isinstance(found, Unknown), found


@case("bank.found_with_another_key", "key", alterations.another_key, needs=LOOKS)
@case("bank.found_with_malformed_e2e_id", "e2e_id", alterations.constant("E123"), needs=LOOKS)
async def found_contradicted(trial: Trial, field: str, change: Value) -> None:
    """A payout that is found with another key, or an end-to-end id that is none, is not final."""
    found, _ = await _changed(trial, field, change)
    assert found is None or isinstance(found, Unknown), found


@case("bank.found_with_unknown_word", needs=LOOKS)
async def found_with_unknown_word(trial: Trial) -> None:
    """A payout that is found in a state that is an unknown word is Unknown; it is counted."""
    found, events = await _changed(trial, "status", alterations.constant(UNKNOWN_WORD))
    assert isinstance(found, Unknown), found
    assert str(Event.UNKNOWN_STATUS) in events


async def _accepted(trial: Trial, order: PayoutOrder) -> Accepted | Settled:
    outcome = await trial.pay(order)
    assert isinstance(outcome, OK), outcome
    return outcome


async def _found(trial: Trial, order: PayoutOrder, first: Accepted | Settled) -> Outcome:
    key = order.provider_key
    return await trial.adapter.find_payout(trial.account, key, first.provider_id)


async def _changed(
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
            found: Outcome | None = await _found(fresh, order, first)
        except ProviderError:
            found = None
    return found, [event for event, _ in fresh.witness.counts]


def _needs_key(trial: Trial) -> None:
    applies_if(trial.capabilities.finds(), "payouts are found by the bank's id alone")
