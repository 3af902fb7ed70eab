"""Asking about every payout that is not proven: each once, and no bank in a burst."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest

from gateway.core.access import Staff
from gateway.core.audit import AuditEvent
from gateway.core.audit_context import AuditContext
from gateway.core.errors import TOO_MANY_REQUESTS
from gateway.core.storage import StoreUnavailable
from gateway.core.windows import Listed, Paging
from gateway.payouts.model import Payout, PayoutState
from gateway.payouts.staff import PayoutProbes
from gateway.reviews import probes as probing
from gateway.reviews.model import ProbedAll, UnresolvedPayout
from gateway.reviews.probes import ASKED_AT_MOST, AT_ONCE, BEGINS_WITHIN, PACE_S, UnresolvedProbes
from tests.unit.refusals import refused
from tests.world.standing import Clock
from tests.world.stores.samples import attempt, payout

UNKNOWN, PAID = PayoutState.UNKNOWN, PayoutState.PAID


def unresolved(reference: str, bank: str = "a", asked_at: datetime | None = None) -> Any:
    about = replace(payout(reference), state=UNKNOWN, provider=bank)
    tried = replace(attempt(), last_probe_at=asked_at)
    return UnresolvedPayout(payout=about, account_name="Conta", attempts=[tried], opinions=[])


@dataclass
class World:
    """
    Payouts that are not proven, and their banks; the clock moves by pauses and answers alone.

    Attributes:
        total: More than those that are listed; 0 for as many.
        takes_s: How long a bank takes to answer.
        most: How many questions one bank had at once.
    """

    waiting: list[UnresolvedPayout]
    total: int = 0
    takes_s: float = 0.0
    now_proven: set[str] = field(default_factory=set)
    just_asked: set[str] = field(default_factory=set)
    ended: set[str] = field(default_factory=set)
    is_away: bool = False
    clock: Clock = field(default_factory=Clock)
    acts: list[AuditEvent] = field(default_factory=list)
    asked: list[tuple[str, datetime]] = field(default_factory=list)
    in_flight: dict[str, int] = field(default_factory=dict)
    most: int = 0

    async def find(self, _account: str, reference: str) -> Payout:
        if self.is_away:
            raise StoreUnavailable
        found = next(each.payout for each in self.waiting if each.payout.reference == reference)
        return replace(found, state=PAID) if reference in self.ended else found

    async def look(self, account_id: str, reference: str) -> Payout | None:
        if reference in self.just_asked:
            return None
        found = await self.find(account_id, reference)
        self.asked.append((reference, self.clock.now()))
        self.in_flight[found.provider] = self.in_flight.get(found.provider, 0) + 1
        self.most = max(self.most, self.in_flight[found.provider])
        until = self.clock.now() + timedelta(seconds=self.takes_s)
        await asyncio.sleep(0)
        while self.clock.now() < until:
            self.clock.passes(0.05)
            await asyncio.sleep(0)
        self.in_flight[found.provider] -= 1
        return replace(found, state=PAID) if reference in self.now_proven else found

    async def append(self, event: AuditEvent) -> None:
        self.acts.append(event)

    async def unresolved(self, *_asked: object) -> Listed[UnresolvedPayout]:
        total = self.total or len(self.waiting)
        return Listed(items=self.waiting, paging=Paging(1, 100), total=total)

    async def pause(self, seconds: float) -> None:
        until = self.clock.now() + timedelta(seconds=seconds)
        await asyncio.sleep(0)
        while self.clock.now() < until:
            self.clock.passes(0.05)
            await asyncio.sleep(0)

    def probes(self) -> UnresolvedProbes:
        there: Any = self
        one = PayoutProbes(payouts=there, look=self.look, audit=there)
        return UnresolvedProbes(database=there, probes=one, pause=self.pause)

    async def run(self, probes: UnresolvedProbes | None = None) -> ProbedAll:
        who = Staff(AuditContext("user:ana@example.com", self.clock.now))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(probing, "unresolved", self.unresolved)
            return await (probes or self.probes()).probe_all(who)


def counts(told: ProbedAll) -> dict[str, int]:
    return {name: getattr(told, name) for name in ("asked", "just_asked", "ended", "no_time")}


async def test_each_unresolved_payout_is_asked_about_once_and_audited():
    world = World([unresolved(f"r{number}") for number in range(5)], now_proven={"r3"})

    told = await world.run()

    assert sorted(reference for reference, _ in world.asked) == ["r0", "r1", "r2", "r3", "r4"]
    assert counts(told) == {"asked": 5, "just_asked": 0, "ended": 0, "no_time": 0}
    assert [each.reference for each in told.data if each.state is PAID] == ["r3"]
    assert told.proven == 1
    assert {(each.actor, each.action) for each in world.acts} == {
        ("user:ana@example.com", "payout.probed")
    }
    assert len(world.acts) == 5


async def test_skipped_payouts_are_listed_with_their_reason():
    waiting = [unresolved(name) for name in ("open", "just", "over")]
    world = World(waiting, just_asked={"just"}, ended={"over"})

    told = await world.run()

    assert counts(told) == {"asked": 1, "just_asked": 1, "ended": 1, "no_time": 0}
    assert [reference for reference, _ in world.asked] == ["open"]


async def test_each_bank_is_paced_and_banks_do_not_wait_for_each_other():
    names = [f"{bank}{number}" for number in range(8) for bank in "ab"]
    world = World([unresolved(name, bank=name[0]) for name in names], takes_s=0.5)

    await world.run()

    assert world.most <= AT_ONCE
    for bank in "ab":
        begun = [at for reference, at in world.asked if reference[0] == bank]
        pace = timedelta(seconds=PACE_S)
        assert all(later - at >= pace for at, later in pairwise(begun))
    assert {reference[0] for reference, _ in world.asked[:4]} == {"a", "b"}


async def test_a_slow_bank_ends_the_probe_in_time_and_reports_the_rest():
    world = World([unresolved(f"r{number:02}") for number in range(40)], takes_s=4.0)
    began = world.clock.now()

    told = await world.run()

    assert max(at for _, at in world.asked) < began + BEGINS_WITHIN
    assert 0 < told.asked < 40
    assert sum(counts(told).values()) == told.total == 40


async def test_the_least_recently_probed_payout_comes_first():
    noon = Clock().now()
    world = World(
        [
            unresolved("lately", asked_at=noon),
            unresolved("before", asked_at=noon - timedelta(hours=1)),
            unresolved("never"),
        ]
    )

    await world.run()

    assert [reference for reference, _ in world.asked] == ["never", "before", "lately"]


async def test_a_probe_is_limited_to_a_maximum_number_of_payouts():
    waiting = [unresolved(f"r{number:03}", bank=str(number)) for number in range(100)]
    world = World(waiting, total=1234)

    told = await world.run()

    assert len(world.asked) == ASKED_AT_MOST
    assert counts(told)["no_time"] == 1234 - ASKED_AT_MOST
    assert sum(counts(told).values()) == 1234


async def test_concurrent_probes_are_refused():
    world = World([unresolved("one")])
    probes = world.probes()
    async with probes.running:
        with refused(TOO_MANY_REQUESTS) as refusal:
            await world.run(probes)

    again = await world.run(probes)

    assert refusal.value.headers["Retry-After"] == "10"
    assert again.asked == 1


async def test_an_unavailable_store_is_reported():
    """Not as a group of exceptions, which has no error code."""
    world = World([unresolved(f"r{number}") for number in range(3)], is_away=True)
    probes = world.probes()

    with pytest.raises(StoreUnavailable):
        await world.run(probes)

    assert not probes.running.locked()


async def test_a_probe_without_unresolved_payouts_is_empty():
    told = await World([]).run()

    assert (told.total, told.data) == (0, [])
