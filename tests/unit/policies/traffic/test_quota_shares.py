"""Quotas that processes share: each takes a share before it spends it (decisions 44 and 67)."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import pytest
from msgspec.structs import replace

from gateway.core import errors
from gateway.core import limits as module
from gateway.core.calls import RawRequest
from gateway.core.errors import ServiceError
from gateway.core.limits import CallRate
from policies.traffic.quota import COMPANY, WithinAddressQuota, WithinQuota
from tests.unit.refusals import refused
from tests.world.leaping import leaping
from tests.world.people import call, principal
from tests.world.shared_limits import Counting, Late
from tests.world.standing import Clock

WIDE = CallRate(rate=10_000.0, burst=100_000)


@pytest.fixture
def shared(clock: Clock) -> Counting:
    return Counting(clock.monotonic)


@pytest.fixture
def clock() -> Clock:
    return Clock(up_s=0.0)


class Processes:
    """Some processes with a quota of reads, whose company has plenty."""

    def __init__(
        self, shared: Counting, quota: CallRate, number: int = 4, company: CallRate = WIDE
    ) -> None:
        quotas = {"read": quota, COMPANY: company}
        self.counted: Counter[str] = Counter()
        self.shared = shared
        self.each = [
            WithinQuota(quotas, shared.clock, lambda _, word: self.counted.update([word]), shared)
            for _ in range(number)
        ]

    async def serve(self, at: int = 0, **changed: Any) -> bool:
        """Ask a process; say whether it let the call on."""
        asking = call(RawRequest(path={}), quota="read")
        asking.principal = replace(principal(), **changed)
        try:
            waiting = self.each[at % len(self.each)](asking)
            if waiting is not None:
                await waiting
        except ServiceError as refusal:
            return int(refusal.headers["Retry-After"]) < 1
        left = int(asking.headers["RateLimit"].partition("r=")[2].partition(";")[0])
        assert 0 <= left < 100_000
        return True

    async def served(self, clock: Clock, per_second: int, seconds: int) -> int:
        """Ask the processes in turn; return how many calls were let on."""
        served = 0
        for number in range(per_second * seconds):
            served += await self.serve(number)
            clock.passes(1 / per_second)
        return served


@leaping
async def test_four_processes_share_one_quota(clock: Clock, shared: Counting):
    """300 calls a second for 8 s, of 50 a second and 100 at once: 500, and few are asked for."""
    processes = Processes(shared, CallRate(rate=50.0, burst=100))

    served = await processes.served(clock, 300, 8)

    assert served == pytest.approx(500, rel=0.02)
    assert shared.calls < 800
    assert processes.counted["read.allowed"] == served


@leaping
async def test_a_partner_within_its_quota_is_always_served(clock: Clock, shared: Counting):
    """
    Few calls at many processes, a burst at once, and steady calls just below the rate.

    Of a burst, what other processes have taken and not spent is missing: 4 tokens of each.
    """
    wrong = []
    for number, per_second, seconds in ((4, 49, 20), (40, 20, 20), (1, 49, 20), (40, 2, 60)):
        processes = Processes(shared, CallRate(rate=50.0, burst=100), number)
        served = await processes.served(clock, per_second, seconds)
        clock.passes(60)
        burst = sum([await processes.serve(each % 3) for each in range(88)])
        clock.passes(60)
        if served < per_second * seconds or burst < 88:
            wrong.append((number, per_second, served, burst))

    assert not wrong


@leaping
async def test_unused_tokens_of_a_share_are_returned_or_expire(clock: Clock, shared: Counting):
    """They go back with the next request; after a second they expire."""
    backs = []
    for pause_s in (0.01, 0.2, 2.0):
        processes = Processes(shared, CallRate(rate=100.0, burst=1000), 1)
        for _ in range(8):  # shares of 1, 2, 4 and 8, of which 7 are left
            assert await processes.serve()
        clock.passes(pause_s)
        shared.asked.clear()
        assert await processes.serve()
        backs.append([each.back for each in shared.asked if each.key.startswith("read")])

    assert backs == [[], [7], [0]]


@leaping
async def test_concurrent_requests_wait_for_one_answer(clock: Clock, shared: Counting):
    """Of 150 at a new process 100 are served, after three requests to the server."""
    processes = Processes(shared, CallRate(rate=50.0, burst=100), 1)

    served = await asyncio.gather(*(processes.serve() for _ in range(150)))

    assert sum(served) == 100
    assert shared.calls == 3


@leaping
async def test_a_request_waits_20_ms_before_its_own_process_decides(clock: Clock):
    shared = Late(clock.monotonic, serving=4)
    processes = Processes(shared, CallRate(rate=50.0, burst=100), 1)
    loop = asyncio.get_running_loop()
    began = loop.time()

    served = await asyncio.gather(*(processes.serve() for _ in range(100)))

    assert sum(served) == 25
    assert loop.time() - began == pytest.approx(0.02, abs=0.002)


@leaping
async def test_a_busy_process_requests_a_tenth_of_the_rate(clock: Clock, shared: Counting):
    processes = Processes(shared, CallRate(rate=200.0, burst=1000), 1)

    for _ in range(500):
        await processes.serve()

    wanted = [each.want for each in shared.asked if each.key.startswith("read")]
    assert wanted[:7] == [1, 2, 4, 8, 16, 20, 20]
    assert max(wanted) == 20


@leaping
async def test_a_refused_caller_is_refused_again_without_a_call_to_redis(
    clock: Clock, shared: Counting
):
    processes = Processes(shared, CallRate(rate=1.0, burst=2), 1)
    for _ in range(3):
        await processes.serve()

    before = shared.calls
    again = [await processes.serve() for _ in range(50)]
    clock.passes(1.0)

    assert (again, shared.calls) == ([False] * 50, before)
    assert await processes.serve()


@leaping
async def test_without_shared_counters_each_process_grants_its_part(clock: Clock, shared: Counting):
    """Nothing fails, and an intermittent server grants hardly more than the quota."""
    shared.serving = 4
    processes = Processes(shared, CallRate(rate=50.0, burst=100))

    served = 0
    for number in range(2400):
        shared.away = number % 700 > 300
        served += await processes.serve(number)
        clock.passes(1 / 300)

    assert 450 < served <= 575


@leaping
async def test_a_caller_within_its_quota_is_still_served_without_shared_counters(
    clock: Clock, shared: Counting
):
    """Earlier calls leave no debt: no call of the next ten seconds is refused."""
    for number in (2, 4):
        shared.serving, shared.away = number, False
        processes = Processes(shared, CallRate(rate=50.0, burst=100), number)
        await processes.served(clock, 40, 30)

        shared.away = True
        served = await processes.served(clock, 40, 10)

        assert served == 400


@leaping
async def test_a_partner_at_one_process_has_its_whole_quota_without_shared_counters(
    clock: Clock, shared: Counting
):
    """Three quarters of its quota, at one of four processes, for a minute without an answer."""
    shared.serving = 4
    processes = Processes(shared, CallRate(rate=20.0, burst=40), 1)
    await processes.served(clock, 15, 30)

    shared.away = True
    served = await processes.served(clock, 15, 60)

    assert served == 900


@leaping
async def test_all_processes_together_grant_less_than_twice_a_quota_without_shared_counters(
    clock: Clock, shared: Counting
):
    """
    A flood at four processes after a minute of calls to one of them, and to all.

    The others do not know what the first one gives: each gives a fourth.
    """
    shared.serving, quota = 4, 40 + 10 * 20
    served = []
    for first in (1, 4):
        shared.away = False
        processes = Processes(shared, CallRate(rate=20.0, burst=40))
        for number in range(15 * 60):
            await processes.serve(number % first)
            clock.passes(1 / 15)
        clock.passes(5)
        shared.away = True
        served.append(await processes.served(clock, 200, 10))
        clock.passes(3600)

    assert quota * 1.5 < served[0] <= quota * 1.75
    assert quota * 0.9 < served[1] <= quota * 1.1


@leaping
async def test_a_flood_with_only_late_answers_gets_the_quota(clock: Clock):
    """Refilled tokens are not granted by both the common bucket and the local one."""
    shared = Late(clock.monotonic, serving=4)
    processes = Processes(shared, CallRate(rate=50.0, burst=100))

    served = 0
    for number in range(2400):
        served += await processes.serve(number)
        shared.answer()
        clock.passes(1 / 300)

    assert served == pytest.approx(500, rel=0.02)


@leaping
async def test_late_answers_count_once(clock: Clock):
    """Each call is decided locally; the tokens fetched for it serve the next one."""
    shared = Late(clock.monotonic, serving=1)
    processes = Processes(shared, CallRate(rate=0.001, burst=30), 1)

    served = 0
    for _ in range(60):
        served += await processes.serve()
        shared.answer()
        clock.passes(0.4)

    assert served == 30


@leaping
async def test_calls_served_during_a_counter_outage_empty_the_bucket_without_debt(
    clock: Clock, shared: Counting
):
    """Its rate is available at once when the server is back, without an extra burst."""
    processes = Processes(shared, CallRate(rate=50.0, burst=100))
    shared.serving, shared.is_lost = 4, True
    await processes.served(clock, 200, 60)

    shared.is_lost = False
    served = await processes.served(clock, 200, 4)

    assert 190 <= served <= 225


@leaping
async def test_a_refusal_by_the_company_quota_costs_no_credential_quota(
    clock: Clock, shared: Counting
):
    served = []
    for away in (False, True):
        shared.away = away
        tight = CallRate(rate=0.1, burst=5)
        processes = Processes(shared, CallRate(rate=0.1, burst=20), 1, company=tight)
        in_all = sum([await processes.serve() for _ in range(100)])
        elsewhere = sum([await processes.serve(company_id=f"c{n // 5}") for n in range(100)])
        served.append((in_all, elsewhere))

    assert served == [(5, 15), (5, 15)]


@leaping
async def test_charged_pages_are_paid_off_by_further_calls(clock: Clock, shared: Counting):
    processes = Processes(shared, CallRate(rate=2.0, burst=4), 2)
    await processes.serve(0)
    for _ in range(6):
        processes.each[0].charge("read", principal())

    told = await processes.serve(0)
    elsewhere = await processes.serve(1)
    clock.passes(2.0)
    paid_off = await processes.serve(1)

    assert (told, elsewhere, paid_off) == (False, False, True)


@leaping
async def test_a_changed_quota_is_applied_at_once(clock: Clock, shared: Counting):
    processes = Processes(shared, CallRate(rate=1.0, burst=1), 1)
    await processes.serve()
    refused_before = not await processes.serve()

    processes.each[0].change({"read": CallRate(rate=100.0, burst=50), COMPANY: WIDE})

    assert refused_before
    assert sum([await processes.serve() for _ in range(60)]) >= 48


@leaping
async def test_a_successful_sign_in_returns_its_token_to_all_processes(
    clock: Clock, shared: Counting
):
    quotas = {"sign_in": CallRate(rate=0.01, burst=2)}
    one, other = (
        WithinAddressQuota(quotas, clock.monotonic, lambda *_: None, ["sign_in"], shared)
        for _ in range(2)
    )

    async def guess(process: WithinAddressQuota, *, right: bool) -> None:
        asking = call(RawRequest(path={}, address="203.0.113.7"), quota="sign_in")
        waiting = process(asking)
        if waiting is not None:
            await waiting
        clock.passes(0.2)
        if right and asking.on_success is not None:
            asking.on_success()

    for process in (one, other) * 5:
        await guess(process, right=True)
    await guess(one, right=False)
    await guess(other, right=False)

    with refused(errors.TOO_MANY_REQUESTS):
        await guess(one, right=False)


@leaping
async def test_invented_callers_cannot_fill_the_memory(
    clock: Clock, shared: Counting, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(module, "_KEYS_KEPT", 10)
    processes = Processes(shared, CallRate(rate=1.0, burst=1), 1)

    for number in range(100):
        await processes.serve(client_id=f"cli_{number}")

    shares = processes.each[0]._meters["read"].shares
    assert shares is not None
    assert len(shares._shares) == 10
