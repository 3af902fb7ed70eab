"""What the bank allows, counted by all processes together."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from gateway.banks.client.messages import ProviderRequest
from gateway.banks.port.providers import RateLimited
from gateway.core.limits import CallRate
from provider_adapters.kit.bank_limits import BankLimits
from provider_adapters.kit.limits import (
    ALL_OPERATIONS,
    AccountLimits,
    BulkheadLimits,
    ClientLimits,
)
from tests.world.banks.witness import Clock, still
from tests.world.shared_limits import Counting
from tests.world.waiting import forever, settle

BALANCE, KEYS = "get_balance", "list_keys"


def call(operation: str = BALANCE, account: str = "a") -> ProviderRequest:
    return ProviderRequest(
        operation=operation, method="GET", template="/", path="/", account=account
    )


class Processes:
    """Some processes that call one bank; ``slept`` is what their calls waited."""

    def __init__(self, number: int = 4, wait_s: float = 0.05, **rates: CallRate) -> None:
        self.clock = Clock()
        self.shared = Counting(self.clock, processes=number)
        self.refused: list[str] = []
        self.slept: list[float] = []
        limits = ClientLimits(
            bulkhead=BulkheadLimits(wait_s=wait_s), account_limits=AccountLimits(rates=dict(rates))
        )
        runtime = replace(still(self.clock), sleep=self.sleep, shared=self.shared)
        self.each = [
            BankLimits(limits, runtime, lambda _, why: self.refused.append(why), "bank")
            for _ in range(number)
        ]

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)

    async def passes(self, at: int, request: ProviderRequest) -> bool:
        limits = self.each[at % len(self.each)]
        if not limits.enter_now(request):
            try:
                await limits.enter(request)
            except RateLimited:
                return False
        limits.leave(request)
        return True

    async def asked(self, per_second: int, seconds: int) -> int:
        """Call in turn; return how many calls reached the bank."""
        asked = 0
        for number in range(per_second * seconds):
            asked += await self.passes(number, call())
            self.clock.passes(1 / per_second)
        return asked


def rate(per_second: float, burst: int) -> CallRate:
    return CallRate(rate=per_second, burst=burst)


async def test_four_processes_together_call_a_bank_at_its_rate():
    """Ten a second for ten seconds plus a burst of ten, with and without shared counters."""
    asked = []
    for away in (False, True):
        processes = Processes(**{ALL_OPERATIONS: rate(10, 10)})
        processes.shared.away = away
        asked.append(await processes.asked(60, 10))

    assert [100 <= each <= 115 for each in asked] == [True, True]


async def test_one_process_alone_may_use_an_account_s_whole_rate():
    """Eight calls a second of ten, at one of four processes, with and without shared counters."""
    processes = Processes(**{BALANCE: rate(10, 10)})
    passed = []
    for away in (False, True):
        processes.shared.away = away
        for _ in range(80):
            passed.append(await processes.passes(0, call()))
            processes.clock.passes(1 / 8)

    assert passed == [True] * 160


async def test_an_intermittent_counter_server_does_not_allow_more_calls():
    processes = Processes(**{BALANCE: rate(10, 10)})
    asked = 0
    for number in range(20):
        processes.shared.away = number % 2 == 1
        asked += await processes.asked(60, 1)

    assert 180 <= asked <= 220


async def test_one_process_may_use_the_whole_limit():
    processes = Processes(**{BALANCE: rate(10, 10)})

    assert sum([await processes.passes(0, call()) for _ in range(20)]) == 10
    assert [await processes.passes(0, call(KEYS)), await processes.passes(1, call())] == [
        *(True, False)
    ]


async def test_a_call_waits_for_its_token_up_to_the_longest_wait():
    processes = Processes(wait_s=1.0, **{BALANCE: rate(2, 1)})

    passed = [await processes.passes(at, call()) for at in range(4)]

    assert passed == [True, True, True, False]
    assert processes.slept == pytest.approx([0.5, 1.0])
    assert processes.refused == ["rate"]


async def test_a_call_that_is_not_made_returns_its_tokens():
    """Refused by a bucket, refused for lack of a place, or cancelled."""
    processes = Processes(wait_s=1.0, **{ALL_OPERATIONS: rate(1, 3), BALANCE: rate(0.1, 1)})
    one, other = processes.each[:2]
    await processes.passes(0, call())
    refused = [await processes.passes(at, call()) for at in range(9)]

    await one.enter(call(KEYS))
    one.unused(call(KEYS))
    await one.enter(call(KEYS))
    await one.enter(call(KEYS))
    other._runtime = replace(other._runtime, sleep=lambda _: forever())
    given_up = asyncio.create_task(other.enter(call(KEYS)))
    await settle()
    given_up.cancel()
    await asyncio.gather(given_up, return_exceptions=True)
    passed = await processes.passes(2, call(KEYS))

    assert refused == [False] * 9
    assert (passed, processes.slept) == (True, [1.0])


async def test_a_pause_requested_by_the_bank_applies_in_every_process():
    processes = Processes(**{BALANCE: rate(100, 100)})
    processes.each[0].refused_by_bank(call(), 30)

    passed = [await processes.passes(at, call()) for at in range(4)]
    others = [await processes.passes(1, call(KEYS)), await processes.passes(1, call(account="b"))]
    processes.clock.passes(30)

    assert passed == [False] * 4
    assert (others, set(processes.refused)) == ([True, True], {"pause"})
    assert [await processes.passes(at, call()) for at in range(4)] == [True] * 4


async def test_shared_pauses_are_read_only_after_a_refusal_by_the_bank():
    """A call at a bank that never refused one makes no shared call."""
    processes = Processes()
    for at in range(4):
        await processes.passes(at, call())
    asked_before = processes.shared.calls
    for limits in processes.each[:2]:
        limits.refused_by_bank(call(), 1)
    processes.clock.passes(1)
    processes.each[0].refused_by_bank(call(), 30)

    assert asked_before == 0
    assert [await processes.passes(at, call()) for at in range(3)] == [False, False, True]
