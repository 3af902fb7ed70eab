"""Every registered adapter lives on simulated time, chance and network: it knows no others."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from random import Random

import pytest

from gateway.banks.client.messages import ProviderAnswer, ProviderRequest, SendProgress, SendRefused
from gateway.banks.port.providers import (
    NotSent,
    ProviderAdapter,
    ProviderError,
    Reason,
    Unavailable,
    Unknown,
)
from gateway.core.account import Environment
from gateway.core.clocks import Deadline
from gateway.net.common.runtime import Runtime
from provider_adapters import registry
from provider_adapters.kit.factory import AdapterContext
from tests.proofs.simulation.loop import Loop
from tests.world.banks.harness import (
    SETTINGS,
    KnownTokens,
    account_of,
    order_by_account,
)
from tests.world.banks.witness import Witness

BEGIN = datetime(2026, 11, 20, 12, tzinfo=UTC)
adapters = pytest.mark.parametrize("name", list(registry.ADAPTERS))


class Net:
    """A network of one bank that hears everything and never answers."""

    def __init__(self, *_made_as: object, connect_s: float = 0.0, lost: int = 0) -> None:
        self.connect_s, self.lost = connect_s, lost
        self.heard: list[tuple[float, ProviderRequest]] = []

    async def start(self) -> None: ...

    async def close(self) -> None: ...

    async def call(
        self, request: ProviderRequest, progress: SendProgress, within_s: float = 60.0
    ) -> ProviderAnswer:
        progress.connecting()
        await asyncio.sleep(self.connect_s)
        progress.connected()
        try:
            progress.sending()
        except SendRefused:
            raise Unavailable(Reason.DEADLINE_PASSED) from None
        self.heard.append((asyncio.get_running_loop().time(), request))
        if self.lost:
            self.lost -= 1
            raise Unavailable(Reason.CONNECTION_LOST)
        await asyncio.sleep(within_s)
        raise Unavailable(Reason.TIMEOUT)


Deed = Callable[[ProviderAdapter], Awaitable[object]]


def live(name: str, net: Net, deed: Deed, seed: int = 1) -> tuple[object, float, str]:
    """Let an adapter do something in a life of its own; return what, how long, and the trace."""
    loop = Loop(Random(seed))
    runtime = Runtime(
        clock=loop.time,
        now=lambda: BEGIN + timedelta(seconds=loop.time()),
        random=Random(seed).random,
    )
    context = AdapterContext(
        name=name,
        environment=Environment.SANDBOX,
        observer=Witness(),
        runtime=runtime,
        transport=lambda *_made_as: net,
        cache=KnownTokens(),
    )

    async def life() -> object:
        adapter = registry.find(name)(SETTINGS[name]("http://127.0.0.1:1"), context)
        await adapter.start()
        try:
            return await deed(adapter)
        except ProviderError as failure:
            return failure
        finally:
            await adapter.close()

    try:
        return loop.run_until_complete(life()), loop.time(), loop.digest()
    finally:
        loop.close()


@pytest.fixture(autouse=True)
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_asked: object, **_more: object) -> None:
        raise AssertionError

    monkeypatch.setattr(socket.socket, "connect", refused)


def paying(name: str, loop_time: float = 20.0) -> Deed:
    """Ask for a payout that may be sent until then."""

    async def pay(adapter: ProviderAdapter) -> object:
        by = Deadline(loop_time, asyncio.get_running_loop().time)
        return await adapter.create_payout(account_of(name), order_by_account(), by)  # type: ignore[attr-defined]

    return pay


def reading(name: str) -> Deed:
    async def read(adapter: ProviderAdapter) -> object:
        return await adapter.get_balance(account_of(name))  # type: ignore[attr-defined]

    return read


@adapters
def test_a_timeout_of_a_silent_bank_takes_simulated_time(name: str):
    net = Net()

    outcome, took, _ = live(name, net, paying(name))

    assert isinstance(outcome, Unknown)
    assert outcome.evidence.reason == "timeout"
    assert (took, len(net.heard)) == (20.0, 1)


@adapters
def test_after_its_simulated_deadline_a_payout_is_not_sent(name: str):
    net = Net(connect_s=25.0)

    outcome, took, _ = live(name, net, paying(name))

    assert isinstance(outcome, NotSent)
    assert (took, net.heard) == (25.0, [])


@adapters
def test_the_delay_before_a_repeated_read_depends_on_the_seed(name: str):
    nets = [Net(lost=1), Net(lost=1), Net(lost=1)]

    seeds = (1, 1, 2)
    lives = [live(name, net, reading(name), seed) for net, seed in zip(nets, seeds, strict=True)]

    pauses = [net.heard[1][0] - net.heard[0][0] for net in nets]
    assert pauses[0] == pauses[1] != pauses[2]
    assert lives[0][2] == lives[1][2]
