"""What the wire does wrong: a read fails in one way, a payout is unknown or proven unsent."""

from __future__ import annotations

import socket
import time

import pytest

from gateway.domain.bank.providers import NotSent, ProviderError, Unknown, Unreachable
from gateway.net.client.transport import HttpTransport
from provider_adapters import registry
from provider_adapters.kit.factory import MakeTransport
from tests.contract.adapters.harness import FAR, PASSED, SETTINGS, account_of, on_stage, order
from tests.contract.adapters.wire_faults import FAULTS, WireFault, close, hang
from tests.unit.provider_adapters.scripted import ScriptedBank, standing
from tests.unit.provider_adapters.stock import StockTransport
from tests.unit.provider_adapters.witness import SHORT, Witness

PATIENCE_S = 10
"""Bank and adapter share one loop on a machine that may be busy; what does not end takes longer."""

adapters = pytest.mark.parametrize("name", list(registry.ADAPTERS))
faults = pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)


transports = pytest.mark.parametrize(
    "transport", [HttpTransport, StockTransport], ids=["ours", "stock"]
)
"""Every adapter calls over ours, and over aiohttp's client: one table holds for both."""


def test_every_registered_adapter_stands_on_the_stage():
    assert set(SETTINGS) == set(registry.ADAPTERS)


@transports
@adapters
@faults
async def test_a_read_fails_with_a_provider_error(
    name: str, fault: WireFault, transport: MakeTransport
):
    """In time, with the fixed reason, and told once for every try."""
    told = Witness()
    async with (
        standing(ScriptedBank(fault.play, reads=fault.reads)) as bank,
        on_stage(name, bank.url, told, SHORT, transport) as adapter,
    ):
        begun = time.monotonic()
        with pytest.raises(ProviderError) as failed:
            await adapter.get_balance(account_of(name))
        took = time.monotonic() - begun

    assert isinstance(failed.value, fault.read)
    assert failed.value.reason == fault.reason or not fault.reason
    assert took < SHORT.read_s + PATIENCE_S
    assert len(told.calls) == 1 + len(told.retries) <= 2
    assert bank.connections == len(told.calls)


@transports
@adapters
@faults
async def test_a_payout_is_sent_once_and_unknown(
    name: str, fault: WireFault, transport: MakeTransport
):
    """Payout protocol: only listed answers are definite, nothing is sent twice."""
    told = Witness()
    async with (
        standing(ScriptedBank(fault.play, reads=fault.reads)) as bank,
        on_stage(name, bank.url, told, SHORT, transport) as adapter,
    ):
        outcome = await adapter.create_payout(account_of(name), order(), FAR)

    assert isinstance(outcome, Unknown)
    assert outcome.evidence.bytes_left
    assert outcome.evidence.reason == fault.reason or not fault.reason
    assert bank.connections == 1
    assert told.retries == []
    assert [(call.operation, call.bytes_left) for call in told.calls] == [("create_payout", True)]


@transports
@adapters
@pytest.mark.parametrize("fault", ["refused", "stalled", "tls"])
async def test_what_fails_before_a_byte_is_unreachable(
    name: str, fault: str, transport: MakeTransport
):
    """The one class that proves that nothing was sent (contract part 7: SVC.ACC.005)."""
    told = Witness()
    with _before_a_byte(fault) as (url, reason):
        async with on_stage(name, url, told, SHORT, transport) as adapter:
            outcome = await adapter.create_payout(account_of(name), order(), FAR)
            with pytest.raises(Unreachable) as failed:
                await adapter.get_balance(account_of(name))

    assert isinstance(outcome, NotSent)
    assert (outcome.evidence.bytes_left, outcome.evidence.reason) == (False, reason)
    assert failed.value.reason == reason
    assert {(call.outcome, call.bytes_left) for call in told.calls} == {("connect_error", False)}


@transports
@adapters
async def test_a_plain_bank_behind_an_encrypted_address_is_sent_nothing(
    name: str, transport: MakeTransport
):
    async with (
        standing(ScriptedBank(hang, reads=False)) as bank,
        on_stage(name, bank.url.replace("http", "https"), Witness(), SHORT, transport) as adapter,
    ):
        outcome = await adapter.create_payout(account_of(name), order(), FAR)

    assert isinstance(outcome, NotSent)
    assert outcome.evidence.reason == "connect_timeout"


@transports
@adapters
async def test_after_the_deadline_nothing_is_written(name: str, transport: MakeTransport):
    """Payout protocol: checked in the same step as the write, so after connecting."""
    told = Witness()
    async with (
        standing(ScriptedBank(close)) as bank,
        on_stage(name, bank.url, told, SHORT, transport) as adapter,
    ):
        outcome = await adapter.create_payout(account_of(name), order(), PASSED)

    assert isinstance(outcome, NotSent)
    assert (outcome.evidence.reason, outcome.evidence.phase) == ("deadline_passed", "connected")
    assert (bank.connections, bank.requests) == (1, [])
    assert told.states == []


class _before_a_byte:  # noqa: N801 - reads as what it is: a place in a sentence
    """Stand where connecting fails in a known way."""

    def __init__(self, fault: str) -> None:
        self.fault = fault
        self.sockets: list[socket.socket] = []

    def __enter__(self) -> tuple[str, str]:
        listening = socket.socket()
        self.sockets.append(listening)
        listening.bind(("127.0.0.1", 0))
        address = listening.getsockname()
        if self.fault == "refused":
            return f"http://127.0.0.1:{address[1]}", "connect_failed"
        if self.fault == "tls":
            return f"https://127.0.0.1:{address[1]}", "connect_failed"
        listening.listen(0)
        for _ in range(4):  # fill the queue: the next one is neither taken nor refused
            waiting = socket.socket()
            waiting.setblocking(False)
            waiting.connect_ex(address)
            self.sockets.append(waiting)
        return f"http://127.0.0.1:{address[1]}", "connect_timeout"

    def __exit__(self, *_: object) -> None:
        for one in self.sockets:
            one.close()
