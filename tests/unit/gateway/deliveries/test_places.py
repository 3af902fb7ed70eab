"""Places of deliveries: no endpoint takes what others need."""

from __future__ import annotations

from gateway.deliveries.places import (
    MOST,
    MOST_OF_ENDPOINT,
    MOST_RESTRICTED,
    SLOW_FOR_S,
    SLOW_S,
    Places,
)
from tests.world.deliveries import HALF
from tests.world.standing import Clock

NAMES = [f"endpoint-{number}" for number in range(100)]


def places(clock: Clock | None = None) -> Places:
    return Places((clock or Clock()).monotonic, lambda: HALF)


def take(found: Places, name: str, count: int = 1) -> None:
    for _ in range(count):
        found.take(name)


def fail(found: Places, name: str) -> None:
    found.take(name)
    found.give_back(name, is_delivered=False)


def succeed(found: Places, name: str) -> None:
    found.take(name)
    found.give_back(name, is_delivered=True)


def test_an_endpoint_has_one_place_at_first_and_four_after_successes():
    found, shares = places(), []

    for _ in range(MOST_OF_ENDPOINT + 1):
        shares.append(found.share(["a"])["a"])
        succeed(found, "a")

    assert shares == [1, 2, 3, 4, 4]


def test_a_failure_leaves_one_place():
    clock = Clock()
    found = places(clock)
    for _ in range(MOST_OF_ENDPOINT):
        succeed(found, "a")

    fail(found, "a")
    clock.passes(1)

    assert found.share(["a"]) == {"a": 1}


def test_an_endpoint_that_fails_pauses_longer_each_time_up_to_a_minute():
    clock = Clock()
    found, pauses = places(clock), []

    for _ in range(8):
        fail(found, "a")
        begin = clock.up_s
        while not found.share(["a"]):
            clock.passes(1)
        pauses.append(clock.up_s - begin)

    assert pauses == [1, 2, 4, 8, 16, 32, 60, 60]


def test_failures_of_one_moment_make_one_pause():
    clock = Clock()
    found = places(clock)
    for _ in range(MOST_OF_ENDPOINT):
        succeed(found, "a")
    take(found, "a", MOST_OF_ENDPOINT)

    for _ in range(MOST_OF_ENDPOINT):
        found.give_back("a", is_delivered=False)

    clock.passes(1)
    assert found.share(["a"]) == {"a": 1}


def test_retry_after_is_a_pause_of_the_endpoint():
    clock = Clock()
    found = places(clock)
    found.take("a")

    found.give_back("a", is_delivered=False, wait_s=100)

    clock.passes(99)
    assert not found.share(["a"])
    clock.passes(1)
    assert found.share(["a"])


def test_a_ping_does_not_wait_for_the_pause():
    found = places()
    fail(found, "a")

    assert found.share(["a", "b"], {"a"}) == {"a": 1, "b": 1}


def test_an_unsent_delivery_is_no_failure():
    found = places()
    found.take("a")

    found.give_back("a", is_delivered=None)

    assert found.share(["a"]) == {"a": 1}


def test_there_are_sixty_four_places_and_each_endpoint_gets_one_first():
    found = places()
    for _ in range(MOST_OF_ENDPOINT):
        for name in NAMES[:40]:
            succeed(found, name)

    shares = found.share(NAMES[:40])

    assert sum(shares.values()) == MOST == 64
    assert set(shares) == set(NAMES[:40])
    assert shares[NAMES[0]] == 2
    assert shares[NAMES[39]] == 1


def test_places_that_are_taken_are_not_given_again():
    found = places()
    for _ in range(MOST_OF_ENDPOINT):
        succeed(found, "a")
    take(found, "a", 3)
    for name in NAMES[: MOST - 5]:
        take(found, name)

    assert found.share(["a", "b", "c"]) == {"a": 1, "b": 1}
    assert found.held == MOST - 2


def test_failing_endpoints_share_a_quarter_of_the_places():
    clock = Clock()
    found = places(clock)
    for name in NAMES:
        fail(found, name)
    clock.passes(60)

    shares = found.share([*NAMES, "healthy"])

    assert len(shares) == MOST_RESTRICTED + 1 == 17
    assert shares["healthy"] == 1
    for name in shares:
        take(found, name)
    assert found.share([*NAMES, "another"]) == {"another": 1}


def answer(found: Places, name: str, took_s: float) -> None:
    found.take(name)
    found.give_back(name, is_delivered=True, took_s=took_s)


def test_slow_endpoints_share_the_places_of_those_that_fail():
    clock = Clock()
    found = places(clock)
    fail(found, "failing")
    clock.passes(1)
    for name in NAMES:
        answer(found, name, SLOW_S + 1)

    shares = found.share(["failing", *NAMES, "quick"])

    assert sum(shares.values()) == MOST_RESTRICTED + 1
    assert (shares["failing"], shares["quick"]) == (1, 1)


def test_a_quick_answer_makes_an_endpoint_quick_after_a_minute():
    """Else one quick answer between slow ones would give it the places of others."""
    clock = Clock()
    found = places(clock)
    for name in NAMES[: MOST_RESTRICTED + 1]:
        answer(found, name, SLOW_S + 1)
        answer(found, name, SLOW_S)

    assert len(found.share(NAMES[: MOST_RESTRICTED + 1])) == MOST_RESTRICTED
    clock.passes(SLOW_FOR_S)
    assert len(found.share(NAMES[: MOST_RESTRICTED + 1])) == MOST_RESTRICTED + 1
