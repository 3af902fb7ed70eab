"""Refused credentials are counted by address, and by address and client id."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.core import errors
from gateway.core.calls import RawRequest
from policies.traffic import throttle as module
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


def counted(throttle: FailureThrottle, times: int, client_id: str = "", at: str = HERE) -> None:
    """Count refusals, each of another client id unless one is given."""
    for number in range(times):
        throttle.count(at, client_id or f"cli_{number}")


def test_refusals_up_to_the_limit_are_let_through(throttle: FailureThrottle):
    counted(throttle, 6)

    assert throttle.wait_when_refused(HERE) == 0


def test_one_more_of_the_address_has_to_wait(throttle: FailureThrottle):
    counted(throttle, 7)

    assert throttle.wait_when_refused(HERE) == 60
    assert throttle.wait_when_refused(HERE, "cli_new") == 60


def test_one_more_of_the_address_and_client_has_to_wait(throttle: FailureThrottle):
    counted(throttle, 3, "cli_a")

    assert throttle.wait_when_refused(HERE, "cli_a") == 60
    assert throttle.wait_when_refused(HERE, "cli_b") == 0
    assert throttle.wait_when_refused(HERE) == 0


def test_a_network_of_ipv6_is_one_address(throttle: FailureThrottle):
    """Else who has a /64 would never be throttled; the next network is another caller's."""
    for number in range(13):
        throttle.count(f"2001:db8:1:2::{number:x}", "cli_a")

    assert throttle.wait_when_refused("2001:db8:1:2:ffff::1") == 60
    assert throttle.wait_before_all("2001:db8:1:2:ffff::1") == 60
    assert throttle.wait_when_refused("2001:db8:1:2::", "cli_a")
    assert throttle.wait_before_all("2001:db8:1:3::1") == 0
    assert throttle.wait_when_refused("2001:db8:1:3::1", "cli_a") == 0


def test_a_client_id_is_never_counted_by_itself(throttle: FailureThrottle):
    """Else anybody could lock a partner out, from anywhere."""
    counted(throttle, 500, "cli_a")

    assert throttle.wait_when_refused(THERE, "cli_a") == 0
    assert throttle.wait_before_all(THERE) == 0


def test_an_empty_client_id_counts_once(throttle: FailureThrottle):
    for _ in range(6):
        throttle.count(HERE, "")

    assert throttle.wait_when_refused(HERE) == 0


def test_the_window_slides(throttle: FailureThrottle, clock: Clock):
    counted(throttle, 4)
    clock.passes(30)
    counted(throttle, 3)

    assert throttle.wait_when_refused(HERE) == 30
    clock.passes(29)
    assert throttle.wait_when_refused(HERE) == 1
    clock.passes(1)
    assert throttle.wait_when_refused(HERE) == 0
    counted(throttle, 3)
    assert throttle.wait_when_refused(HERE) == 0
    counted(throttle, 1)
    assert throttle.wait_when_refused(HERE) == 30


def test_far_over_the_limit_the_wait_is_until_few_enough_are_left(
    throttle: FailureThrottle, clock: Clock
):
    """Not until the first one is forgotten: the caller would come back in vain."""
    for pause, times in [(0, 1), (10, 1), (10, 6)]:
        clock.passes(pause)
        counted(throttle, times)

    assert throttle.wait_when_refused(HERE) == 50


def test_whoever_waits_as_told_is_let_through_again(throttle: FailureThrottle, clock: Clock):
    counted(throttle, 9)

    clock.passes(throttle.wait_when_refused(HERE))

    assert throttle.wait_when_refused(HERE) == 0


async def test_far_over_the_limit_an_address_is_refused_before_anything_is_read(
    throttle: FailureThrottle, clock: Clock
):
    asking = call(RawRequest(path={}, address=HERE))
    counted(throttle, 12)
    NotBlocked(throttle)(asking)

    counted(throttle, 1)

    with refused(errors.TOO_MANY_REQUESTS) as refusal:
        NotBlocked(throttle)(asking)
    assert (refusal.value.reason, refusal.value.headers) == (
        "address_blocked",
        {"Retry-After": "60"},
    )
    clock.passes(60)
    NotBlocked(throttle)(asking)


async def test_another_address_is_not_blocked(throttle: FailureThrottle):
    counted(throttle, 100)

    NotBlocked(throttle)(call(RawRequest(path={}, address=THERE)))


def test_what_lies_behind_the_window_is_forgotten(throttle: FailureThrottle, clock: Clock):
    counted(throttle, 5, "cli_a")
    clock.passes(61)

    throttle.wait_when_refused(HERE, "cli_a")

    assert throttle._refusals == {}


def test_memory_is_bounded(throttle: FailureThrottle, monkeypatch: pytest.MonkeyPatch):
    """The addresses longest quiet are forgotten first."""
    monkeypatch.setattr(module, "_KEYS_KEPT", 10)
    counted(throttle, 9, at=THERE)

    for number in range(100):
        throttle.count(f"192.0.2.{number}", "cli_a")
    counted(throttle, 1000, "cli_a")

    assert len(throttle._refusals) == 10
    assert sum(map(len, throttle._refusals.values())) <= 10 * 13
    assert throttle.wait_when_refused(THERE) == 0
    assert throttle.wait_before_all(HERE) > 0


def test_an_address_that_goes_on_is_not_forgotten(
    throttle: FailureThrottle, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(module, "_KEYS_KEPT", 10)

    for number in range(20):
        throttle.count(HERE, "cli_a")
        throttle.count(f"192.0.2.{number}", "cli_a")

    assert throttle.wait_before_all(HERE) > 0


def test_too_many_says_how_long():
    assert too_many(7, "throttled").headers == {"Retry-After": "7"}


STEPS = st.lists(
    st.tuples(
        st.floats(0, 40, allow_nan=False), st.sampled_from([HERE, THERE]), st.sampled_from("abc")
    ),
    max_size=60,
)


@given(STEPS)
def test_it_counts_as_a_list_of_all_refusals_would(steps: list[tuple[float, str, str]]):
    clock = Clock()
    throttle = FailureThrottle(LIMITS, clock.monotonic)
    told: list[tuple[float, str, str]] = []

    for pause, address, client in steps:
        clock.passes(pause)
        throttle.count(address, client)
        told.append((clock.up_s, address, client))
        recent = [each for each in told if each[0] > clock.up_s - LIMITS.window_s]
        of_address = sum(each[1] == address for each in recent)
        of_both = sum(each[1:] == (address, client) for each in recent)

        assert (throttle.wait_when_refused(address, client) > 0) == (of_address > 6 or of_both > 2)
        assert (throttle.wait_before_all(address) > 0) == (of_address > 12)


async def test_processes_count_refusals_together(clock: Clock):
    """Each is told when it counts one; a caller that is in order asks nobody."""
    shared = Counting(clock.monotonic)
    one, other = (FailureThrottle(LIMITS, clock.monotonic, shared) for _ in range(2))
    waits = []

    for throttle in (one, other, one, other):
        await throttle.count_for_all(HERE, "cli_a")
        waits.append(throttle.wait_when_refused(HERE, "cli_a"))
    calls = shared.calls
    elsewhere = other.wait_when_refused(THERE, "cli_a"), other.wait_when_refused(HERE, "cli_b")
    clock.passes(60)
    after = other.wait_when_refused(HERE, "cli_a")

    assert waits == [0, 0, 60, 60]
    assert (elsewhere, after, calls) == ((0, 0), 0, shared.calls)


async def test_an_address_is_blocked_in_each_process_that_refuses_it(clock: Clock):
    shared = Counting(clock.monotonic)
    processes = [FailureThrottle(LIMITS, clock.monotonic, shared) for _ in range(4)]

    for number in range(13):
        await processes[number % 4].count_for_all(HERE, f"cli_{number}")

    assert [each.wait_before_all(HERE) for each in processes] == [60, 0, 0, 0]
    await processes[1].count_for_all(HERE, "")
    assert processes[1].wait_before_all(HERE) == 60


async def test_while_nobody_counts_for_all_each_process_counts_its_own(clock: Clock):
    shared = Counting(clock.monotonic, away=True)
    throttle = FailureThrottle(LIMITS, clock.monotonic, shared)

    for _ in range(3):
        await throttle.count_for_all(HERE, "cli_a")

    assert throttle.wait_when_refused(HERE, "cli_a") == 60
