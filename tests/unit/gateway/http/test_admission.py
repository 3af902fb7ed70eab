"""Whether another request is served at all."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, ExitStack

import pytest

from gateway.core.bank_calls import NoTurn
from gateway.core.errors import OVERLOADED
from gateway.core.priority import Priority
from gateway.http.admission import LIMITS, Admission, Shed
from tests.unit.refusals import refused
from tests.world.gateway.listener_client import Lag
from tests.world.leaping import leaping

MOST = 1_000
BY_RANK = sorted(LIMITS)
WAITING = [each for each in BY_RANK if LIMITS[each].waits]


def admission(
    seen: list[tuple[str, str]],
    *,
    lag_s: float = 0.0,
    store_wait_s: float = 0.0,
    most: int = MOST,
    wait_s: float = 2.0,
) -> Admission:
    """A thousand requests, and a quarter of a second."""
    return Admission(
        most,
        0.25,
        Lag(lag_s, store_wait_s),
        lambda event, label: seen.append((event, label)),
        wait_s,
    )


async def is_shed(admitted: Admission, priority: Priority) -> bool:
    """Whether a request of a class is refused, at once or after its wait."""
    try:
        waiting = admitted.admit(priority)
        if waiting is not None:
            await waiting
    except Shed:
        return True
    return False


def fill(admitted: Admission, priority: Priority) -> None:
    """Take every place of a class."""
    while admitted.held[priority] < admitted.places[priority]:
        admitted.admit(priority)


@pytest.mark.parametrize(
    ("lag_s", "store_wait_s", "shed"),
    [
        (0.05, 0.1, ""),
        (0.051, 0.0, "heavy strangers"),
        (0.1, 0.0, "heavy strangers"),
        (0.101, 0.0, "pages heavy strangers"),
        (0.5, 0.0, "pages heavy strangers"),
        (0.501, 0.0, "partners pages heavy strangers"),
        (2.0, 0.0, "partners pages heavy strangers"),
        (2.001, 0.0, "payouts stops partners pages heavy strangers"),
        (0.0, 0.101, "heavy"),
        (0.0, 0.2, "heavy"),
        (0.0, 0.201, "pages heavy strangers"),
        (0.0, 60.0, "pages heavy strangers"),
    ],
)
async def test_a_late_loop_or_store_sheds_the_least_important_classes_first(
    lag_s: float, store_wait_s: float, shed: str
):
    admitted = admission([], lag_s=lag_s, store_wait_s=store_wait_s, wait_s=0)

    assert " ".join([each.word for each in BY_RANK if await is_shed(admitted, each)]) == shed


async def test_a_request_shed_for_the_store_says_so():
    seen: list[tuple[str, str]] = []

    with pytest.raises(Shed):
        await (admission(seen, store_wait_s=1, wait_s=0).admit(Priority.PAGES) or asyncio.sleep(0))

    assert seen == [("shed", "pages.store_wait")]


def test_a_shed_request_is_counted_by_class_and_reason():
    seen: list[tuple[str, str]] = []

    with refused(OVERLOADED) as refusal:
        admission(seen, lag_s=1).admit(Priority.PARTNERS)

    assert seen == [("shed", "partners.loop_lag")]
    assert refusal.value.headers == {"Retry-After": "1"}


def test_the_shares_of_all_classes_add_up_to_one():
    """So no class can take the last place of another."""
    shares = [LIMITS[each].share for each in BY_RANK if each is not Priority.ALWAYS]

    assert sum(shares) == pytest.approx(1)


@pytest.mark.parametrize("full", BY_RANK[1:])
async def test_a_full_class_leaves_the_slots_of_others(full: Priority):
    admitted = admission([])
    fill(admitted, full)

    others = [each for each in BY_RANK if each is not full]
    assert [each for each in others if await is_shed(admitted, each)] == []
    assert [admitted.held[each] for each in others] == [1] * len(others)


@pytest.mark.parametrize("priority", [Priority.PAYOUTS, Priority.PARTNERS])
def test_requests_of_partners_are_shed_at_once(priority: Priority):
    seen: list[tuple[str, str]] = []
    admitted = admission(seen)
    fill(admitted, priority)

    with pytest.raises(Shed) as refusal:
        admitted.admit(priority)

    assert (seen, refusal.value.hold_s) == ([("shed", f"{priority.word}.in_flight")], 0.0)


@pytest.mark.parametrize("priority", WAITING)
async def test_requests_of_users_wait_for_a_slot(priority: Priority):
    """In order of arrival."""
    admitted, served = admission([]), list[str]()
    fill(admitted, priority)

    async def ask(name: str) -> None:
        waiting = admitted.admit(priority)
        assert waiting is not None
        await waiting
        served.append(name)

    async with asyncio.TaskGroup() as asking:
        for name in ("first", "second"):
            asking.create_task(ask(name))
        await asyncio.sleep(0)
        admitted.leave(priority)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        between = list(served)
        admitted.leave(priority)

    assert (between, served) == (["first"], ["first", "second"])
    assert admitted.held[priority] == admitted.places[priority]


@leaping
async def test_a_request_that_waits_too_long_is_shed():
    seen: list[tuple[str, str]] = []
    admitted = admission(seen)
    fill(admitted, Priority.HEAVY)
    waiting = admitted.admit(Priority.HEAVY)
    assert waiting is not None

    with pytest.raises(Shed) as refusal:
        await waiting

    assert (seen, refusal.value.hold_s) == ([("shed", "heavy.in_flight")], 0.0)
    admitted.leave(Priority.HEAVY)
    assert admitted.held[Priority.HEAVY] == admitted.places[Priority.HEAVY] - 1


async def test_a_slot_given_to_a_cancelled_request_is_released():
    admitted = admission([])
    fill(admitted, Priority.HEAVY)
    waiting = admitted.admit(Priority.HEAVY)
    assert waiting is not None
    gone = asyncio.ensure_future(waiting)
    await asyncio.sleep(0)

    admitted.leave(Priority.HEAVY)
    gone.cancel()
    with pytest.raises(asyncio.CancelledError):
        await gone

    assert admitted.held[Priority.HEAVY] == admitted.places[Priority.HEAVY] - 1


@leaping
async def test_a_refusal_of_a_user_for_lag_is_delayed():
    """A program that repeats at once must not keep the process busy."""
    seen: list[tuple[str, str]] = []
    began = asyncio.get_running_loop().time()

    with pytest.raises(Shed) as refusal:
        await (admission(seen, lag_s=9).admit(Priority.PAGES) or asyncio.sleep(0))

    assert asyncio.get_running_loop().time() - began >= 2.0
    assert (seen, refusal.value.hold_s) == ([("shed", "pages.loop_lag")], 0.0)


@pytest.mark.parametrize("is_full", [False, True])
@leaping
async def test_a_lag_that_ends_meanwhile_refuses_no_user(is_full: bool):
    """It takes a place, or waits for one."""
    seen: list[tuple[str, str]] = []
    admitted, lag = admission(seen), Lag(9)
    admitted._lag = lag
    waiting = admitted.admit(Priority.STRANGERS)
    assert waiting is not None
    served = asyncio.ensure_future(waiting)
    await asyncio.sleep(1)
    lag.p95_s = 0.0
    if is_full:
        fill(admitted, Priority.STRANGERS)
        await asyncio.sleep(2)
        assert not served.done()
        admitted.leave(Priority.STRANGERS)
    await served

    places = admitted.places[Priority.STRANGERS] if is_full else 1
    assert (seen, admitted.held[Priority.STRANGERS]) == ([], places)


async def test_changed_limits_take_effect_at_once():
    admitted = admission([], lag_s=1)
    before = await is_shed(admitted, Priority.PARTNERS)

    admitted.change(100, 5)

    assert (before, await is_shed(admitted, Priority.PARTNERS)) == (True, False)
    assert admitted.places[Priority.PAYOUTS] == 50


async def test_a_request_has_the_stranger_class_while_its_credential_is_read():
    """It is not refused while that class is full, because its credential may be right."""
    admitted = admission([])
    fill(admitted, Priority.STRANGERS)
    admitted.admit(Priority.PAYOUTS)

    admitted.doubt(Priority.PAYOUTS)
    during = admitted.held[Priority.PAYOUTS], admitted.held[Priority.STRANGERS]
    admitted.trust(Priority.PAYOUTS)

    after = admitted.held[Priority.PAYOUTS], admitted.held[Priority.STRANGERS]
    assert (during, after) == ((0, 101), (1, 100))


async def test_a_page_that_calls_a_bank_releases_its_slot_meanwhile():
    admitted = admission([])
    fill(admitted, Priority.PAGES)

    async with admitted.at_bank(Priority.PAGES, "one"):
        assert admitted.admit(Priority.PAGES) is None
        admitted.leave(Priority.PAGES)

    assert admitted.held[Priority.PAGES] == admitted.places[Priority.PAGES]


async def test_users_share_eight_calls_to_a_bank():
    """The others are for payouts; another bank has its own eight."""
    admitted, at_bank, release = admission([]), list[str](), asyncio.Event()

    async def ask(bank: str) -> None:
        async with admitted.at_bank(Priority.PAGES, bank):
            at_bank.append(bank)
            await release.wait()

    async with asyncio.TaskGroup() as asking:
        for bank in ["one"] * 10 + ["other"]:
            asking.create_task(ask(bank))
        for _ in range(5):
            await asyncio.sleep(0)
        during = sorted(at_bank)
        release.set()

    assert during == ["one"] * 8 + ["other"]
    assert len(at_bank) == 11


@leaping
async def test_a_page_does_not_wait_for_a_fully_used_bank():
    """The page says so; pages about another bank are not affected."""
    admitted = admission([])
    async with AsyncExitStack() as hanging:
        for _ in range(8):
            await hanging.enter_async_context(admitted.at_bank(Priority.PAGES, "one"))
        with pytest.raises(NoTurn):
            async with admitted.at_bank(Priority.PAGES, "one"):
                pass

    async with admitted.at_bank(Priority.PAGES, "one"):
        pass


def waiting(admitted: Admission, *addresses: str) -> ExitStack:
    """Let a body of each address be waited for, until the stack is closed."""
    stack = ExitStack()
    for address in addresses:
        stack.enter_context(admitted.waits_for_stranger(Priority.STRANGERS, "login", address))
    return stack


def test_bodies_of_strangers_are_counted_apart_from_requests_in_flight():
    """They do not refuse other requests, however many they are; all of them are shown."""
    admitted = admission([])
    for _ in range(3):
        admitted.admit(Priority.STRANGERS)

    with waiting(admitted, "192.0.2.1", "192.0.2.2"):
        held, shown = admitted.held[Priority.STRANGERS], admitted.in_flight(Priority.STRANGERS)
        during = (held, shown, dict(admitted.strangers["login"]))

    assert during == (1, 3, {"192.0.2.1": 1, "192.0.2.2": 1})
    assert (admitted.held[Priority.STRANGERS], dict(admitted.strangers["login"])) == (3, {})


@pytest.mark.parametrize(("most", "places"), [(10, 10), (100, 10), (1_000, 100)])
def test_half_sent_bodies_of_strangers_use_a_tenth_of_the_slots_and_at_least_ten(
    most: int, places: int
):
    seen: list[tuple[str, str]] = []
    admitted = admission(seen, most=most)

    with (
        waiting(admitted, *(f"192.0.2.{number}" for number in range(places))),
        refused(OVERLOADED) as refusal,
        admitted.waits_for_stranger(Priority.STRANGERS, "login", "198.51.100.1"),
    ):
        pass

    assert seen == [("shed", "strangers.strangers")]
    assert refusal.value.headers == {"Retry-After": "1"}


@pytest.mark.parametrize(
    ("one", "another"), [("192.0.2.1", "192.0.2.2"), ("2001:db8::1", "2001:db8:0:1::1")]
)
def test_one_network_may_use_a_quarter_of_the_places(one: str, another: str):
    """With any addresses of its /64."""
    admitted, priority = admission([]), Priority.STRANGERS
    beside = one if "." in one else "2001:db8::ffff"

    with waiting(admitted, *[one] * 25):
        with refused(OVERLOADED), admitted.waits_for_stranger(priority, "login", beside):
            pass
        with admitted.waits_for_stranger(priority, "login", another):
            pass


def test_a_place_is_returned_however_the_wait_ends():
    admitted, priority = admission([]), Priority.STRANGERS
    admitted.admit(priority)

    with (
        pytest.raises(ConnectionError),
        admitted.waits_for_stranger(priority, "login", "192.0.2.1"),
    ):
        raise ConnectionError

    assert (admitted.held[priority], dict(admitted.strangers["login"])) == (1, {})
