"""Breaker first, then bulkhead."""

from __future__ import annotations

import asyncio

import pytest

from gateway.domain.bank.provider_reasons import Reason
from gateway.domain.bank.providers import (
    NotFound,
    NotSent,
    ProviderError,
    RateLimited,
    Refused,
    Unavailable,
    Unknown,
    Unreachable,
)
from gateway.net.client.messages import Kind, ProviderAnswer
from provider_adapters._road.admission import Admission
from provider_adapters._road.limits import BulkheadLimits, ClientLimits
from tests.unit.provider_adapters.witness import Clock, Witness, still

UNKNOWN = Unknown(ProviderAnswer(status=200, headers={}, body=b"").evidence("amount_mismatch"))
LIMITS = ClientLimits(bulkhead=BulkheadLimits(in_flight=1, waiting=0))


def doors(told: Witness | None = None, clock: Clock | None = None) -> Admission:
    return Admission("bank", LIMITS, told or Witness(), still(clock or Clock()))


async def fail(admission: Admission, kind: Kind, failure: ProviderError | None, times: int) -> None:
    for _ in range(times):
        permit = await admission.enter(kind)
        if failure is None:
            admission.answered(kind, permit, UNKNOWN)
        else:
            admission.failed(kind, permit, failure)
        admission.leave(kind, permit)


async def test_each_kind_of_call_has_its_own_breaker():
    told = Witness()
    admission = doors(told)

    await fail(admission, Kind.PAYOUT, Unavailable(Reason.TIMEOUT), 5)

    with pytest.raises(Unreachable) as refused:
        await admission.enter(Kind.PAYOUT)
    assert refused.value.reason == "breaker_open"
    assert await admission.enter(Kind.READ) is not None
    assert told.states == [("bank", "payout", "open")]


@pytest.mark.parametrize("failure", [NotFound(Reason.NOT_FOUND), Refused(Reason.REFUSED)])
async def test_a_clear_no_never_opens_it(failure: ProviderError):
    admission = doors()

    await fail(admission, Kind.READ, failure, 30)

    assert await admission.enter(Kind.READ) is not None


async def test_what_is_to_be_had_at_once_is_not_waited_for():
    """A door that stays shut leaves the other as it was; ``enter`` says why."""
    admission = doors()

    permit = admission.enter_now(Kind.READ)
    refused = admission.enter_now(Kind.PAYOUT)

    assert permit is not None
    assert refused is None
    admission.leave(Kind.READ, permit)
    assert admission.enter_now(Kind.PAYOUT) is not None


async def test_a_probe_that_finds_no_place_at_once_is_not_lost():
    clock = Clock()
    admission = doors(clock=clock)
    await fail(admission, Kind.PAYOUT, None, 5)
    clock.passes(10)
    busy = await admission.enter(Kind.READ)

    assert admission.enter_now(Kind.PAYOUT) is None
    admission.leave(Kind.READ, busy)
    assert admission.enter_now(Kind.PAYOUT) is not None


async def test_payouts_left_unknown_open_it():
    admission = doors()

    await fail(admission, Kind.PAYOUT, None, 5)

    with pytest.raises(Unreachable):
        await admission.enter(Kind.PAYOUT)


async def test_a_bank_that_asks_for_a_pause_gets_it():
    clock = Clock()
    admission = doors(clock=clock)
    limited = RateLimited(Reason.RATE_LIMITED, retry_after=60)

    await fail(admission, Kind.READ, limited, 2)
    clock.passes(59)

    with pytest.raises(Unreachable):
        await admission.enter(Kind.READ)


async def test_a_full_bulkhead_refuses_and_is_no_fault_of_the_bank():
    told = Witness()
    admission = doors(told)
    permit = await admission.enter(Kind.READ)

    for _ in range(10):
        with pytest.raises(Unreachable) as refused:
            await admission.enter(Kind.PAYOUT)
        assert refused.value.reason == "bulkhead_full"
    admission.leave(Kind.READ, permit)
    admission.close()

    assert told.states == []
    assert told.crowds == [0]


async def test_a_probe_that_finds_the_bulkhead_full_is_not_lost():
    clock = Clock()
    admission = doors(clock=clock)
    await fail(admission, Kind.PAYOUT, None, 5)
    clock.passes(10)
    busy = await admission.enter(Kind.READ)

    with pytest.raises(Unreachable):
        await admission.enter(Kind.PAYOUT)
    admission.leave(Kind.READ, busy)

    assert await admission.enter(Kind.PAYOUT) is not None


async def test_a_probe_cancelled_while_it_waits_is_not_lost():
    clock = Clock()
    limits = ClientLimits(bulkhead=BulkheadLimits(in_flight=1, waiting=1, wait_s=5))
    admission = Admission("bank", limits, Witness(), still(clock))
    await fail(admission, Kind.PAYOUT, None, 5)
    clock.passes(10)
    busy = await admission.enter(Kind.READ)
    waiting = asyncio.create_task(admission.enter(Kind.PAYOUT))
    await asyncio.sleep(0)

    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    admission.leave(Kind.READ, busy)

    assert await admission.enter(Kind.PAYOUT) is not None


@pytest.mark.parametrize(
    ("reason", "state"), [("rate_limited", "open"), ("credentials_refused", "closed")]
)
async def test_a_payout_refused_for_the_rate_spares_the_bank(reason: str, state: str):
    """As a read that was refused for it; refused credentials are a clear answer."""
    admission = doors()
    answer = ProviderAnswer(status=429, headers={}, body=b"")
    for _ in range(LIMITS.breaker.rate_limits):
        permit = await admission.enter(Kind.PAYOUT)
        admission.answered(Kind.PAYOUT, permit, NotSent(answer.evidence(reason), retry_after=30.0))
        admission.leave(Kind.PAYOUT, permit)

    assert admission.breakers[Kind.PAYOUT].state == state
