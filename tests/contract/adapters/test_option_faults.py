"""What the wire does wrong to the optional calls: each fails in one way, none is sent twice."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator
from datetime import UTC, date, datetime

import pytest

from gateway.domain.bank.capabilities import OPTIONAL_CALLS, PortCall
from gateway.domain.bank.charges import ChargeOrder, ChargeType
from gateway.domain.bank.pix_keys import KeyOrder, PixKey, PixKeyStatus, PixKeyType
from gateway.domain.bank.provider_callbacks import CallbackOrder
from gateway.domain.bank.providers import (
    NotSent,
    ProviderAccount,
    ProviderError,
    Unavailable,
    Unknown,
    Unreachable,
)
from gateway.domain.bank.refunds import RefundOrder
from gateway.domain.kernel.money import Money
from gateway.domain.kernel.windows import Window
from provider_adapters import registry
from tests.contract.adapters.harness import FAR, KEY, account_of, on_stage
from tests.contract.adapters.test_options import Offering
from tests.contract.adapters.test_wire_faults import PATIENCE_S, _before_a_byte
from tests.contract.adapters.wire_faults import FAULTS, WireFault
from tests.unit.provider_adapters.scripted import ScriptedBank, standing
from tests.unit.provider_adapters.witness import SHORT, Witness

adapters = pytest.mark.parametrize("name", list(registry.ADAPTERS))
faults = pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)

Call = Callable[[Offering, ProviderAccount], Awaitable[object]]

E2E_ID = "E9999999920261120134012345678901"
DAY = Window(date(2026, 11, 20), date(2026, 11, 20))
OWN_KEY = PixKey(
    provider_id="CH0000000007",
    key="52998224725",
    type=PixKeyType.CPF,
    status=PixKeyStatus.ACTIVE,
    created_at=datetime(2026, 11, 20, tzinfo=UTC),
)
CHARGE = ChargeOrder(
    reference="order-1", type=ChargeType.DYNAMIC, key="loja@example.com", value=Money(1050)
)
REFUND = RefundOrder(
    provider_key=KEY, reference="r-1", payment_e2e_id=E2E_ID, value=Money(1), description=""
)

LISTENER = CallbackOrder(url="http://127.0.0.1:8080/callbacks/p/t", secret=b"secret")
REPEATABLE: dict[PortCall, Call] = {
    PortCall.CANCEL_KEY: lambda bank, of: bank.cancel_key(of, OWN_KEY),
    PortCall.LOOK_UP_KEY: lambda bank, of: bank.look_up_key(of, "maria@example.com"),
    PortCall.CANCEL_CHARGE: lambda bank, of: bank.cancel_charge(of, "order-1"),
    PortCall.FIND_RECEIVED: lambda bank, of: bank.find_received(of, E2E_ID),
    PortCall.LIST_RECEIVED: lambda bank, of: bank.list_received(of, DAY, None, 10),
    PortCall.FIND_REFUND: lambda bank, of: bank.find_refund(of, KEY),
    PortCall.LIST_BLOCKS: lambda bank, of: bank.list_blocks(of),
    PortCall.LIST_CALLBACKS: lambda bank, of: bank.list_callbacks(of),
    PortCall.REMOVE_CALLBACK: lambda bank, of: bank.remove_callback(of, "av_1"),
    PortCall.LIST_MISSED_EVENTS: lambda bank, of: bank.list_missed_events(of, 10),
    PortCall.ACKNOWLEDGE_EVENTS: lambda bank, of: bank.acknowledge_events(of, ["evt_1"]),
    PortCall.LIST_REFUNDS: lambda bank, of: bank.list_refunds(of, DAY, None, 10),
}
ONCE: dict[PortCall, Call] = {
    PortCall.CREATE_KEY: lambda bank, of: bank.create_key(of, KeyOrder(PixKeyType.EVP, "")),
    PortCall.CREATE_CHARGE: lambda bank, of: bank.create_charge(of, CHARGE),
    PortCall.REGISTER_CALLBACK: lambda bank, of: bank.register_callback(of, LISTENER),
}
ALL = {**REPEATABLE, **ONCE}
READS_FIRST = frozenset({("woovi", PortCall.REGISTER_CALLBACK)})
"""Changes that begin with a read, which is what is repeated here."""
BODILESS = frozenset({("woovi", PortCall.CANCEL_KEY)})
"""Calls that the bank answers with 204: a body that cannot be read is another status to them."""
AT_ONCE = 4


def test_every_option_is_tried():
    assert {*ALL, PortCall.CREATE_REFUND} == OPTIONAL_CALLS


@adapters
@faults
async def test_each_call_fails_with_a_provider_error(name: str, fault: WireFault):
    """In time, with the fixed reason, told once for every try; what changes is tried once."""
    for some in batched(offered(name)):
        async with asyncio.TaskGroup() as together:
            for option in some:
                if (name, option) in BODILESS and fault.name.startswith("status 204"):
                    continue
                together.create_task(fails(name, fault, option), name=option.value)


async def fails(name: str, fault: WireFault, option: PortCall) -> None:
    """Make one call of a bank of its own."""
    told = Witness()
    async with (
        standing(ScriptedBank(fault.play, reads=fault.reads)) as bank,
        on_stage(name, bank.url, told, SHORT) as adapter,
    ):
        begun = time.monotonic()
        with pytest.raises(ProviderError) as failed:
            await ALL[option](adapter, account_of(name))  # type: ignore[arg-type]
        took = time.monotonic() - begun

    # A change is sent as money is, whose outcome tells the reason and no class.
    expected = fault.read | Unavailable if option in ONCE else fault.read
    said = failed.value.reason
    bodiless = (name, option) in BODILESS and said == "unexpected_status"
    assert isinstance(failed.value, expected) or bodiless, option
    assert said == fault.reason or not fault.reason or bodiless, option
    assert took < SHORT.read_s + PATIENCE_S, option
    once = option in ONCE and (name, option) not in READS_FIRST
    assert bank.connections == len(told.calls) <= (1 if once else 2), option
    assert {call.operation for call in told.calls} == {option.value}


@adapters
@faults
async def test_a_refund_is_sent_once_and_unknown(name: str, fault: WireFault):
    """As a payout is: only listed answers are definite, nothing is sent twice."""
    told = Witness()
    async with (
        standing(ScriptedBank(fault.play, reads=fault.reads)) as bank,
        on_stage(name, bank.url, told, SHORT) as adapter,
    ):
        outcome = await adapter.create_refund(account_of(name), REFUND, FAR)  # type: ignore[attr-defined]

    assert isinstance(outcome, Unknown)
    assert outcome.evidence.bytes_left
    assert outcome.evidence.reason == fault.reason or not fault.reason
    assert bank.connections == 1
    assert told.retries == []
    assert [(call.operation, call.bytes_left) for call in told.calls] == [("create_refund", True)]


@adapters
@pytest.mark.parametrize("fault", ["refused", "stalled"])
async def test_what_fails_before_a_byte_is_unreachable(name: str, fault: str):
    with _before_a_byte(fault) as (url, reason):
        for some in batched(offered(name)):
            failed = await asyncio.gather(*(unreached(name, url, option) for option in some))

            assert failed == [reason] * len(failed), some


async def unreached(name: str, url: str, option: PortCall) -> str:
    """Make one call; return the reason why it did not leave."""
    async with on_stage(name, url, Witness(), SHORT) as adapter:
        with pytest.raises(Unreachable) as failed:
            await ALL[option](adapter, account_of(name))  # type: ignore[arg-type]
    return failed.value.reason


def offered(name: str) -> list[PortCall]:
    """Those of an adapter."""
    return [option for option in ALL if option in registry.ADAPTERS[name].capabilities.calls]


def batched(options: Iterable[PortCall]) -> Iterator[list[PortCall]]:
    """
    Return a few calls at a time.

    Most faults end with a deadline: together they take no longer than one. All of them together
    would keep one another from connecting in time.
    """
    left = list(options)
    return (left[first : first + AT_ONCE] for first in range(0, len(left), AT_ONCE))


@adapters
@pytest.mark.parametrize("fault", ["refused", "stalled"])
async def test_a_refund_that_fails_before_a_byte_is_not_sent(name: str, fault: str):
    with _before_a_byte(fault) as (url, reason):
        async with on_stage(name, url, Witness(), SHORT) as adapter:
            outcome = await adapter.create_refund(account_of(name), REFUND, FAR)  # type: ignore[attr-defined]

    assert isinstance(outcome, NotSent)
    assert (outcome.evidence.bytes_left, outcome.evidence.reason) == (False, reason)
