"""How fast a bank is asked about payouts: a quarter of its places, a tenth of its rate."""

from __future__ import annotations

import asyncio

import pytest

from gateway.banks.followup_rate import SLOWEST, FollowupRate, FollowupSlots, Shares, followup_share


@pytest.mark.parametrize(
    ("in_flight", "of_account", "rates", "rate"),
    [
        (64, 0, (), FollowupRate(at_once=16)),
        (3, 0, (), FollowupRate(at_once=1)),
        (64, 50, (), FollowupRate(at_once=16, of_account=12)),
        (64, 3, (), FollowupRate(at_once=16, of_account=1)),
        (64, 0, (10.0,), FollowupRate(at_once=16, per_s=1.0)),
        (64, 0, (500.0, 50.0), FollowupRate(at_once=16, per_s=5.0)),
    ],
)
def test_following_up_has_a_share_of_the_bank_s_limits(
    in_flight: int, of_account: int, rates: tuple[float, ...], rate: FollowupRate
):
    """The lowest of the rates that apply to a query counts."""
    assert followup_share(in_flight, of_account, rates) == rate


@pytest.mark.parametrize(
    ("rate", "room", "of_account"),
    [
        (SLOWEST, 4, 4),
        (FollowupRate(at_once=16), 32, 32),
        (FollowupRate(at_once=16, per_s=1.0), 32, 20),
        (FollowupRate(at_once=16, per_s=100.0), 32, 32),
        (FollowupRate(at_once=16, per_s=0.01), 32, 1),
    ],
)
def test_claims_are_limited_to_the_queries_possible_before_they_end(
    rate: FollowupRate, room: int, of_account: int
):
    assert (rate.room, rate.account_room) == (room, of_account)


@pytest.mark.parametrize(
    ("rate", "share"),
    [
        (FollowupRate(at_once=16, of_account=12, per_s=5.0), FollowupRate(at_once=8, per_s=2.5)),
        (SLOWEST, FollowupRate(at_once=2)),
    ],
)
def test_background_readers_of_movements_share_half_of_that(
    rate: FollowupRate, share: FollowupRate
):
    """Two places at least; the same places at each call."""
    shares = Shares({"one": rate}.__getitem__)

    assert shares.of("one").rate == share
    assert shares.of("one") is shares.of("one")


class Wall:
    def __init__(self) -> None:
        self.at = 0.0

    def clock(self) -> float:
        return self.at

    async def sleep(self, seconds: float) -> None:
        self.at += seconds


async def test_status_queries_are_rate_limited_per_account():
    wall = Wall()
    places = FollowupSlots(FollowupRate(at_once=4, per_s=2.0), wall.clock, wall.sleep)

    asked = []
    for account in ("one", "other", "one", "one"):
        async with places.place(account):
            asked.append((account, wall.at))

    assert asked == [("one", 0.0), ("other", 0.0), ("one", 0.5), ("one", 1.0)]


async def test_a_query_that_waits_for_its_rate_takes_no_slot():
    """A slow rate of one account does not occupy the bank's places."""
    gate = asyncio.Event()

    async def sleep(_seconds: float) -> None:
        await gate.wait()

    places, went_on = FollowupSlots(FollowupRate(at_once=1, per_s=0.1), lambda: 0.0, sleep), []

    async def call(account: str) -> None:
        async with places.place(account):
            went_on.append(account)

    async with asyncio.TaskGroup() as calls:
        for account in ("one", "one", "other"):
            calls.create_task(call(account))
        for _ in range(20):
            await asyncio.sleep(0)
        before = list(went_on)
        gate.set()

    assert (before, went_on) == (["one", "other"], ["one", "other", "one"])


@pytest.mark.parametrize(
    ("rate", "at_once"), [(FollowupRate(at_once=3), 3), (FollowupRate(at_once=3, of_account=2), 2)]
)
async def test_concurrent_queries_are_limited_to_the_slots(rate: FollowupRate, at_once: int):
    places, gate, inside = FollowupSlots(rate), asyncio.Event(), 0

    async def call() -> None:
        nonlocal inside
        async with places.place("one"):
            inside += 1
            await gate.wait()

    async with asyncio.TaskGroup() as calls:
        for _ in range(8):
            calls.create_task(call())
        for _ in range(20):
            await asyncio.sleep(0)
        begun = inside
        gate.set()

    assert (begun, inside) == (at_once, 8)


async def test_remembered_accounts_are_bounded(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("gateway.banks.followup_rate._KEPT", 2)
    monkeypatch.setattr("gateway.core.limits._KEYS_KEPT", 2)
    wall = Wall()
    places = FollowupSlots(FollowupRate(at_once=4, of_account=1, per_s=2.0), wall.clock, wall.sleep)

    for account in ("one", "two", "three", "one"):
        async with places.place(account):
            pass

    assert wall.at == 0.0
    assert len(places._of_account) <= 2
