"""What the bank allows each account and credential; a limit of one never stops another."""

from __future__ import annotations

import asyncio

import pytest

from gateway.banks.client.messages import Identity, ProviderRequest
from gateway.banks.port.providers import RateLimited
from gateway.core.limits import CallRate
from gateway.net.common.runtime import Runtime
from provider_adapters.kit.bank_limits import BankLimits
from provider_adapters.kit.limits import (
    AccountLimits,
    BreakerLimits,
    BulkheadLimits,
    ClientLimits,
)
from provider_adapters.kit.requests import as_account, get
from tests.world.banks.witness import Clock, still
from tests.world.tables import cases
from tests.world.waiting import forever, settle

BALANCE, KEYS = "get_balance", "list_keys"


def call(operation: str = BALANCE, account: str = "a", credential: str = "") -> ProviderRequest:
    return ProviderRequest(
        operation=operation,
        method="GET",
        template="/",
        path="/",
        account=account,
        credential=credential,
    )


class Scene:
    def __init__(
        self,
        in_flight: int | None = None,
        rates: dict[str, CallRate | None] | None = None,
        *,
        wait_s: float = 0.05,
        waiting: int = 64,
        runtime: Runtime | None = None,
    ) -> None:
        self.clock = Clock()
        self.refused: list[tuple[str, str]] = []
        limits = ClientLimits(
            bulkhead=BulkheadLimits(wait_s=wait_s, waiting=waiting),
            breaker=BreakerLimits(longest_open_s=120),
            account_limits=AccountLimits(in_flight=in_flight, rates=rates or {}),
        )
        self.limits = BankLimits(
            limits, runtime or still(self.clock), lambda *what: self.refused.append(what)
        )

    async def passes(self, request: ProviderRequest) -> bool:
        """Make a call and end it; say whether it was let through."""
        if not self.limits.enter_now(request):
            try:
                await self.limits.enter(request)
            except RateLimited:
                return False
        self.limits.leave(request)
        return True

    async def passed(self, request: ProviderRequest, times: int) -> int:
        return sum([await self.passes(request) for _ in range(times)])


def rate(per_second: float, burst: int) -> CallRate:
    return CallRate(rate=per_second, burst=burst)


async def test_a_burst_is_allowed_and_then_the_rate():
    scene = Scene(rates={BALANCE: rate(2, 5)})

    assert await scene.passed(call(), 8) == 5
    scene.clock.passes(1)
    assert await scene.passed(call(), 8) == 2
    scene.clock.passes(60)
    assert await scene.passed(call(), 8) == 5
    assert set(scene.refused) == {(BALANCE, "rate")}


@cases("other", [call(KEYS), call(account="b"), call(account="a", credential="another")])
async def test_each_operation_account_and_credential_has_its_own_limit(other: ProviderRequest):
    scene = Scene(rates={BALANCE: rate(1, 3), KEYS: rate(1, 3)})
    await scene.passed(call(), 9)

    assert await scene.passed(other, 9) == 3


async def test_accounts_of_one_credential_share_its_limits():
    scene = Scene(rates={BALANCE: rate(1, 3)})
    await scene.passed(call(account="a", credential="app"), 2)

    assert await scene.passed(call(account="b", credential="app"), 9) == 1


async def test_all_operations_of_a_credential_may_share_a_rate():
    scene = Scene(rates={"*": rate(1, 4), BALANCE: rate(1, 3)})

    assert await scene.passed(call(BALANCE), 9) == 3
    assert await scene.passed(call(KEYS), 9) == 1


async def test_a_call_refused_by_one_bucket_uses_no_token_of_the_other():
    scene = Scene(rates={"*": rate(1, 4), BALANCE: rate(1, 1)})
    await scene.passed(call(BALANCE), 50)

    assert await scene.passed(call(KEYS), 9) == 3


async def test_a_refusal_by_the_rate_has_retry_after():
    scene = Scene(rates={BALANCE: rate(0.1, 1)})
    await scene.passes(call())

    with pytest.raises(RateLimited) as refused:
        await scene.limits.enter(call())

    assert refused.value.reason == "rate_limited"
    assert refused.value.retry_after == pytest.approx(10, abs=0.01)


async def test_retry_after_is_at_most_one_hour():
    """A longer one would count as a mistake of the adapter."""
    scene = Scene(rates={BALANCE: rate(0.000_001, 1)})
    await scene.passes(call())

    with pytest.raises(RateLimited) as refused:
        await scene.limits.enter(call())

    assert refused.value.retry_after == 3600


async def test_calls_with_a_short_wait_are_delayed_instead_of_refused():
    """A walk of many pages proceeds at the bank's pace instead of failing."""
    scene = Scene(rates={BALANCE: rate(5, 1)}, wait_s=0.5)

    assert await scene.passed(call(), 20) == 20
    assert scene.clock.at == pytest.approx(1000 + 19 / 5, abs=0.01)


async def test_delayed_calls_queue_up_to_the_longest_wait():
    """As many simultaneous calls as the wait allows, each later than the one before."""
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(round(seconds, 3))

    clock = Clock()
    scene = Scene(
        rates={BALANCE: rate(5, 1)},
        wait_s=0.5,
        runtime=Runtime(clock=clock, sleep=sleep, random=lambda: 0.5),
    )

    assert await scene.passed(call(), 9) == 3
    assert slept == [0.2, 0.4]


async def test_a_cancelled_wait_returns_its_token():
    """So each of them waits for the same token."""
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(round(seconds, 3))
        await forever()

    scene = Scene(
        rates={BALANCE: rate(1, 1)},
        wait_s=60,
        runtime=Runtime(clock=Clock(), sleep=sleep, random=lambda: 0.5),
    )
    await scene.passes(call())
    for _ in range(3):
        waiting = asyncio.create_task(scene.limits.enter(call()))
        await settle()
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)

    assert slept == [1.0] * 3


async def test_an_unused_entry_returns_its_token():
    scene = Scene(in_flight=1, rates={BALANCE: rate(1, 1)})
    assert scene.limits.enter_now(call())
    scene.limits.unused(call())

    assert await scene.passed(call(), 9) == 1


async def test_each_account_has_its_own_limit_of_concurrent_calls():
    scene = Scene(in_flight=2, waiting=0)
    for _ in range(2):
        assert scene.limits.enter_now(call())

    assert not await scene.passes(call(KEYS))
    assert await scene.passes(call(account="b"))
    assert scene.refused == [(KEYS, "width")]
    scene.limits.leave(call())
    assert await scene.passes(call(KEYS))


async def test_a_waiting_call_enters_when_another_leaves():
    scene = Scene(in_flight=1, wait_s=60)
    assert scene.limits.enter_now(call())
    waiting = asyncio.create_task(scene.limits.enter(call()))
    await settle()
    assert not waiting.done()

    scene.limits.leave(call())

    await waiting
    assert not scene.limits.enter_now(call())


async def test_a_request_with_an_identity_counts_for_its_account():
    scene = Scene(in_flight=1, waiting=0)
    one = as_account(get(BALANCE, "/", {}), Identity(account_id="a"))
    assert scene.limits.enter_now(one)

    assert not await scene.passes(call(account="a"))


async def test_a_probe_counts_for_no_account():
    scene = Scene(in_flight=1, waiting=0)
    for _ in range(3):
        assert scene.limits.enter_now(call("probe", account=""))


async def test_an_account_without_calls_uses_no_memory():
    scene = Scene(in_flight=1, waiting=0)
    for number in range(100):
        await scene.passes(call(account=str(number)))
    assert scene.limits.enter_now(call(account="busy"))
    assert not await scene.passes(call(account="busy"))
    scene.limits.leave(call(account="busy"))

    assert not scene.limits._accounts


async def test_a_refusal_by_the_bank_pauses_only_that_operation_and_credential():
    scene = Scene()
    scene.limits.refused_by_bank(call(), 30)

    assert not await scene.passes(call())
    assert await scene.passes(call(KEYS))
    assert await scene.passes(call(account="b"))
    assert scene.refused == [(BALANCE, "pause")]
    scene.clock.passes(29.9)
    assert not await scene.passes(call(account="a", credential="a"))
    scene.clock.passes(0.1)
    assert await scene.passes(call())


async def test_a_pause_lasts_at_most_two_minutes():
    """Even if the bank asks for a day."""
    scene = Scene()
    scene.limits.refused_by_bank(call(), 86_400)
    scene.clock.passes(120)

    assert await scene.passes(call())


async def test_pauses_without_a_stated_length_grow_up_to_a_maximum():
    scene = Scene()
    waits = []
    for _ in range(12):
        scene.limits.refused_by_bank(call(), None)
        waits.append(scene.limits._pause_s(call()))
        scene.clock.passes(waits[-1])

    assert waits == [1, 2, 4, 8, 16, 32, 64, *[120] * 5]
    scene.limits.answered(call())
    scene.limits.refused_by_bank(call(), None)
    assert scene.limits._pause_s(call()) == 1


async def test_an_answer_to_an_earlier_call_does_not_end_a_pause():
    scene = Scene()
    scene.limits.refused_by_bank(call(), 30)
    scene.limits.answered(call())

    assert not await scene.passes(call())


async def test_the_number_of_kept_pauses_is_bounded():
    scene = Scene(rates={"*": rate(1, 1)})
    for number in range(10_500):
        await scene.passes(call(account=str(number)))
        scene.limits.refused_by_bank(call(account=str(number)), 30)

    assert len(scene.limits._paused) == 10_000


@cases(
    ("given", "holds"),
    [
        (AccountLimits(), AccountLimits(in_flight=3, rates={BALANCE: rate(1, 1)})),
        (AccountLimits(in_flight=0), AccountLimits(in_flight=0, rates={BALANCE: rate(1, 1)})),
        (AccountLimits(rates={BALANCE: None}), AccountLimits(in_flight=3, rates={BALANCE: None})),
        (
            AccountLimits(in_flight=5, rates={KEYS: rate(2, 2)}),
            AccountLimits(in_flight=5, rates={BALANCE: rate(1, 1), KEYS: rate(2, 2)}),
        ),
    ],
)
def test_the_operator_s_limits_override_the_adapter_s(given: AccountLimits, holds: AccountLimits):
    declared = AccountLimits(in_flight=3, rates={BALANCE: rate(1, 1)})

    assert given.over(declared) == holds


@cases(
    ("limits", "places", "bounded"),
    [
        (AccountLimits(), None, False),
        (AccountLimits(in_flight=0, rates={BALANCE: None}), None, False),
        (AccountLimits(in_flight=1), None, True),
        (AccountLimits(rates={"*": rate(1, 1)}), None, True),
        (AccountLimits(), 16, True),
    ],
)
def test_accounts_are_limited_only_when_a_limit_is_set(
    limits: AccountLimits, places: int | None, bounded: bool
):
    bulkhead = BulkheadLimits(for_one=places)

    given = ClientLimits(account_limits=limits, bulkhead=bulkhead)

    assert given.bounds_accounts is bounded


@cases(("bank", "ours", "holds"), [(50, 16, 16), (8, 16, 8), (None, 16, 16), (3, None, 3)])
def test_the_lower_of_the_bank_s_and_our_limit_applies_to_an_account(
    bank: int | None, ours: int | None, holds: int
):
    limits, bulkhead = AccountLimits(in_flight=bank), BulkheadLimits(for_one=ours)

    assert ClientLimits(account_limits=limits, bulkhead=bulkhead).account_in_flight == holds
