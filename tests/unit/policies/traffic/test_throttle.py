"""Refused credentials are counted by address, and by address and client id."""

import pytest

from gateway.core import errors
from gateway.core.calls import RawRequest
from policies.traffic.throttle import FailureLimits, FailureThrottle, NotBlocked, too_many
from tests.unit.refusals import refused
from tests.world.people import call
from tests.world.shared_limits import Counting
from tests.world.standing import Clock

LIMITS = FailureLimits(per_address=6, per_address_and_client=2, hard_per_address=12, window_s=60.0)
HERE, THERE = "203.0.113.7", "198.51.100.2"


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def throttle(clock: Clock) -> FailureThrottle:
    return FailureThrottle(LIMITS, clock.monotonic)


async def counted(
    throttle: FailureThrottle, times: int, client_id: str = "", at: str = HERE
) -> None:
    """Count refusals, each of another client id unless one is given."""
    for number in range(times):
        await throttle.count(at, client_id or f"cli_{number}")


async def test_failures_up_to_the_limit_cause_no_wait(throttle: FailureThrottle):
    await counted(throttle, 6)

    assert throttle.wait_when_refused(HERE) == 0


async def test_a_failure_over_the_address_limit_causes_a_wait(throttle: FailureThrottle):
    await counted(throttle, 7)

    assert throttle.wait_when_refused(HERE) == 60
    assert throttle.wait_when_refused(HERE, "cli_new") == 60


async def test_a_failure_over_the_address_and_client_limit_causes_a_wait(throttle: FailureThrottle):
    await counted(throttle, 3, "cli_a")

    assert throttle.wait_when_refused(HERE, "cli_a") == 60
    assert throttle.wait_when_refused(HERE, "cli_b") == 0
    assert throttle.wait_when_refused(HERE) == 0


async def test_an_ipv6_network_counts_as_one_address(throttle: FailureThrottle):
    """Otherwise an IPv6 network would never be throttled; the next network is another caller's."""
    for number in range(13):
        await throttle.count(f"2001:db8:1:2::{number:x}", "cli_a")

    assert throttle.wait_when_refused("2001:db8:1:2:ffff::1") == 60
    assert throttle.wait_before_all("2001:db8:1:2:ffff::1") == 60
    assert throttle.wait_when_refused("2001:db8:1:2::", "cli_a")
    assert throttle.wait_before_all("2001:db8:1:3::1") == 0
    assert throttle.wait_when_refused("2001:db8:1:3::1", "cli_a") == 0


async def test_a_client_id_is_never_throttled_at_other_addresses(throttle: FailureThrottle):
    """Otherwise anybody could lock a partner out from anywhere."""
    await counted(throttle, 500, "cli_a")

    assert throttle.wait_when_refused(THERE, "cli_a") == 0
    assert throttle.wait_before_all(THERE) == 0


async def test_an_empty_client_id_is_counted_once(throttle: FailureThrottle):
    for _ in range(6):
        await throttle.count(HERE, "")

    assert throttle.wait_when_refused(HERE) == 0


async def test_a_caller_that_waits_for_retry_after_is_accepted(
    throttle: FailureThrottle, clock: Clock
):
    await counted(throttle, 9)

    clock.passes(throttle.wait_when_refused(HERE))

    assert throttle.wait_when_refused(HERE) == 0


async def test_an_address_far_over_the_limit_is_refused_before_anything_is_read(
    throttle: FailureThrottle, clock: Clock
):
    asking = call(RawRequest(path={}, address=HERE))
    await counted(throttle, 12)
    NotBlocked(throttle)(asking)

    await counted(throttle, 1)

    with refused(errors.TOO_MANY_REQUESTS) as refusal:
        NotBlocked(throttle)(asking)
    assert (refusal.value.reason, refusal.value.headers) == (
        "address_blocked",
        {"Retry-After": "60"},
    )
    clock.passes(60)
    NotBlocked(throttle)(asking)


async def test_another_address_is_not_blocked(throttle: FailureThrottle):
    await counted(throttle, 100)

    NotBlocked(throttle)(call(RawRequest(path={}, address=THERE)))


def test_a_refusal_for_too_many_failures_has_retry_after():
    assert too_many(7, "throttled").headers == {"Retry-After": "7"}


async def test_an_address_is_blocked_only_in_processes_that_refused_it(clock: Clock):
    shared = Counting(clock.monotonic)
    processes = [FailureThrottle(LIMITS, clock.monotonic, shared) for _ in range(4)]

    for number in range(13):
        await processes[number % 4].count(HERE, f"cli_{number}")

    assert [each.wait_before_all(HERE) for each in processes] == [60, 0, 0, 0]
    await processes[1].count(HERE, "")
    assert processes[1].wait_before_all(HERE) == 60
