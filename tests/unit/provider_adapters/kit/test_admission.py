"""Breaker first, then bulkhead."""

from __future__ import annotations

import asyncio

import msgspec
import pytest

from gateway.banks.client.messages import Kind, ProviderAnswer, ProviderRequest
from gateway.banks.port.providers import (
    BadReply,
    NotFound,
    NotSent,
    ProviderError,
    RateLimited,
    Reason,
    Refused,
    Unavailable,
    Unknown,
    Unreachable,
)
from provider_adapters.kit import faults
from provider_adapters.kit.admission import Admission
from provider_adapters.kit.limits import BulkheadLimits, ClientLimits
from tests.world.banks.witness import Clock, Witness, still
from tests.world.tables import cases

UNKNOWN = Unknown(ProviderAnswer(status=200, headers={}, body=b"").evidence("amount_mismatch"))
REQUESTS = {
    Kind.READ: ProviderRequest(operation="get_balance", method="GET", template="/", path="/"),
    Kind.PAYOUT: ProviderRequest(
        operation="create_payout", method="POST", template="/", path="/", body=b"{}",
        kind=Kind.PAYOUT,
    ),
}  # fmt: skip
READ, PAYOUT = REQUESTS[Kind.READ], REQUESTS[Kind.PAYOUT]
LIMITS = ClientLimits(bulkhead=BulkheadLimits(in_flight=1, waiting=0))


def doors(told: Witness | None = None, clock: Clock | None = None) -> Admission:
    return Admission("bank", LIMITS, told or Witness(), still(clock or Clock()))


async def fail(admission: Admission, kind: Kind, failure: ProviderError | None, times: int) -> None:
    for _ in range(times):
        permit = await admission.enter(REQUESTS[kind])
        blamed = faults.blames_the_bank(failure) if failure else faults.leaves_unknown(UNKNOWN)
        admission.leave(REQUESTS[kind], permit, failed=blamed)


async def test_each_kind_of_call_has_its_own_breaker():
    told = Witness()
    admission = doors(told)

    await fail(admission, Kind.PAYOUT, Unavailable(Reason.TIMEOUT), 5)

    with pytest.raises(Unreachable) as refused:
        await admission.enter(PAYOUT)
    assert refused.value.reason == "breaker_open"
    assert await admission.enter(READ) is not None
    assert told.states == [("bank", "payout", "open")]


def of(account: str) -> ProviderRequest:
    return msgspec.structs.replace(READ, account=account)


async def tried(admission: Admission, account: str, *, fails: bool = False) -> bool:
    """Make one call of an account; False when it was not let through."""
    try:
        permit = await admission.enter(of(account))
    except Unreachable:
        return False
    admission.leave(of(account), permit, failed=fails)
    return True


async def test_one_account_s_failures_open_only_its_own_breaker():
    """Even if it calls ten times as often as the other."""
    told, clock = Witness(), Clock()
    admission = doors(told, clock)

    passed = []
    for _ in range(20):
        assert await tried(admission, "b")
        passed += [await tried(admission, "a", fails=True) for _ in range(10)]
        clock.passes(1)

    assert passed[:6] == [True] * 5 + [False]
    assert sum(passed) < 10
    assert told.states == []


async def test_failures_of_two_accounts_open_the_bank_s_breaker():
    told = Witness()
    admission = doors(told)
    assert await tried(admission, "c")

    for account in ("a", "b") * 3:
        await tried(admission, account, fails=True)

    assert not await tried(admission, "c")
    assert told.states == [("bank", "read", "open")]


async def test_failures_stop_no_other_account_where_the_bank_has_no_breaker():
    told = Witness()
    limits = msgspec.structs.replace(LIMITS.breaker, whole_bank=False)
    admission = Admission(
        "bank", msgspec.structs.replace(LIMITS, breaker=limits), told, still(Clock())
    )

    passed = [await tried(admission, account, fails=True) for account in ("a", "b", "d") * 6]

    assert passed == [True] * 15 + [False] * 3
    assert await tried(admission, "c")
    assert told.states == []


async def test_another_account_probes_at_once_after_failures_of_a_single_account():
    """The failures of the only caller open the breaker for all, but another account may probe."""
    admission = doors()
    for _ in range(5):
        await tried(admission, "a", fails=True)

    refused = await tried(admission, "a")
    served = await tried(admission, "b")
    again = [await tried(admission, "a", fails=True) for _ in range(6)]

    assert (refused, served) == (False, True)
    assert again == [True] * 5 + [False]
    assert await tried(admission, "b")


async def test_a_recovered_account_keeps_no_breaker_of_its_own():
    clock = Clock()
    admission = doors(clock=clock)
    assert await tried(admission, "b")
    for _ in range(5):
        await tried(admission, "a", fails=True)
    clock.passes(12)

    assert await tried(admission, "a")
    assert await tried(admission, "a")
    assert not admission.breakers[Kind.READ]._own


async def test_a_refusal_by_an_open_breaker_has_its_remaining_time():
    """The time is unknown while its probe is under way."""
    clock, waits = Clock(), []
    admission = doors(clock=clock)
    await fail(admission, Kind.READ, Unavailable(Reason.TIMEOUT), 5)

    for passed_s in (0, 3, 7):
        clock.passes(passed_s)
        if passed_s == 7:
            assert admission.enter_now(READ) is not None
        with pytest.raises(Unreachable) as refused:
            await admission.enter(READ)
        waits.append(refused.value.retry_after)

    assert waits == [10, 7, None]


@cases("failure", [NotFound(Reason.NOT_FOUND), Refused(Reason.REFUSED)])
async def test_a_definite_refusal_never_opens_the_breaker(failure: ProviderError):
    admission = doors()

    await fail(admission, Kind.READ, failure, 30)

    assert await admission.enter(READ) is not None


async def test_a_call_enters_without_waiting_when_there_is_room():
    """A refused entry changes nothing; ``enter`` gives the reason."""
    admission = doors()

    permit = admission.enter_now(READ)
    refused = admission.enter_now(PAYOUT)

    assert permit is not None
    assert refused is None
    admission.leave(READ, permit)
    assert admission.enter_now(PAYOUT) is not None


async def test_a_probe_that_cannot_enter_at_once_is_not_lost():
    clock = Clock()
    admission = doors(clock=clock)
    await fail(admission, Kind.PAYOUT, None, 5)
    clock.passes(10)
    busy = await admission.enter(READ)

    assert admission.enter_now(PAYOUT) is None
    admission.leave(READ, busy)
    assert admission.enter_now(PAYOUT) is not None


async def test_unknown_payouts_open_the_breaker():
    admission = doors()

    await fail(admission, Kind.PAYOUT, None, 5)

    with pytest.raises(Unreachable):
        await admission.enter(PAYOUT)


@cases("kind", list(Kind))
async def test_rate_limit_refusals_never_open_the_breaker(kind: Kind):
    """They concern one account and operation, which ``BankLimits`` pauses."""
    admission = doors()
    limited = RateLimited(Reason.RATE_LIMITED, http_status=429, retry_after=60)

    await fail(admission, kind, limited, 30)
    await fail(admission, kind, BadReply(Reason.NOT_JSON, http_status=429), 30)

    assert await admission.enter(REQUESTS[kind]) is not None


async def test_a_payout_left_unknown_by_a_rate_limit_does_not_open_the_breaker():
    admission = doors()
    limited = Unknown(ProviderAnswer(status=429, headers={}, body=b"").evidence("rate_limited"))

    for _ in range(30):
        permit = await admission.enter(PAYOUT)
        admission.leave(PAYOUT, permit, failed=faults.leaves_unknown(limited))

    assert await admission.enter(PAYOUT) is not None


async def test_a_full_bulkhead_refuses_without_counting_as_a_failure():
    told = Witness()
    admission = doors(told)
    permit = await admission.enter(READ)

    for _ in range(10):
        with pytest.raises(Unreachable) as refused:
            await admission.enter(PAYOUT)
        assert refused.value.reason == "bulkhead_full"
    admission.leave(READ, permit)
    admission.close()

    assert told.states == []
    assert told.crowds == [0]


async def test_a_probe_refused_by_a_full_bulkhead_is_not_lost():
    clock = Clock()
    admission = doors(clock=clock)
    await fail(admission, Kind.PAYOUT, None, 5)
    clock.passes(10)
    busy = await admission.enter(READ)

    with pytest.raises(Unreachable):
        await admission.enter(PAYOUT)
    admission.leave(READ, busy)

    assert await admission.enter(PAYOUT) is not None


async def test_a_probe_cancelled_while_waiting_is_not_lost():
    clock = Clock()
    limits = ClientLimits(bulkhead=BulkheadLimits(in_flight=1, waiting=1, wait_s=5))
    admission = Admission("bank", limits, Witness(), still(clock))
    await fail(admission, Kind.PAYOUT, None, 5)
    clock.passes(10)
    busy = await admission.enter(READ)
    waiting = asyncio.create_task(admission.enter(PAYOUT))
    await asyncio.sleep(0)

    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    admission.leave(READ, busy)

    assert await admission.enter(PAYOUT) is not None


@cases("reason", ["rate_limited", "credentials_refused"])
async def test_a_payout_refused_before_execution_does_not_open_the_breaker(reason: str):
    """It concerns one account, which ``BankLimits`` pauses."""
    admission = doors()
    answer = ProviderAnswer(status=429, headers={}, body=b"")

    for _ in range(30):
        permit = await admission.enter(PAYOUT)
        admission.leave(
            PAYOUT,
            permit,
            failed=faults.leaves_unknown(NotSent(answer.evidence(reason), retry_after=30.0)),
        )

    assert admission.breakers[Kind.PAYOUT].bank.state == "closed"
