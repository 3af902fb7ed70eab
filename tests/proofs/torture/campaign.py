"""A campaign from beginning to end: phases of trouble, then rest, then the reckoning."""

from __future__ import annotations

import asyncio
import math
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from gateway.payouts.model import PayoutState
from tests.proofs.torture.checks import ALL, OPEN, SENT, check, unsettled
from tests.proofs.torture.decisions import compare_returns, decide
from tests.proofs.torture.partners import Life, Partners
from tests.proofs.torture.scale import Scale
from tests.proofs.torture.sites import NAMED
from tests.proofs.torture.tally import Tally
from tests.proofs.torture.weather import Weather
from tests.proofs.torture.world import World, open_world

_HOUR_S, _DAY_S = 3_600, 86_400
_MAGIC = range(77_701, 77_713)
_COMES_BACK = 0.25
_SHORTEST_PHASE_S = 45.0
# Longer than a follow-up takes on a busy machine.
_STANDS_STILL_S = 120.0
# Looks at what is hours old are an hour apart, give or take a tenth.
_LOOKS, _NEXT_LOOK_S = 4, 4_000
_LOSES_TO_BANK, _LOSES_TO_STORE = 0.02, 0.002


@dataclass(slots=True, kw_only=True)
class Campaign:
    """
    One run.

    Attributes:
        ends_at: Monotonic; no trouble is made after it.
        told: Shown a line of progress.
    """

    world: World
    scale: Scale
    ends_at: float
    told: Callable[[str], None]
    lives: list[Life] = field(default_factory=list)

    async def run(self) -> None:
        """Go through all phases, come to rest, and check."""
        self.world.lose(_LOSES_TO_BANK, _LOSES_TO_STORE)
        for number in range(self.scale.phases):
            if time.monotonic() > self.ends_at:
                break
            await self._phase()
            self.told(self._progress(number))
            await self._move_clocks(self.world.chance.randint(70, 1_800), start=False)
        self.world.lose(0, 0)
        await self._rest()
        await check(self.world, self.lives, self._partners())
        self.world.tally.violations.extend(await compare_returns(self.world))

    async def _phase(self) -> None:
        """Let partners pay while everything goes wrong, until this phase has had its share."""
        phases, before = self.scale.phases, len(self.lives)
        share = -(-self.scale.payouts // phases)
        weather = Weather(
            world=self.world,
            kills=-(-self.scale.kills // phases),
            faults=-(-self.scale.faults // phases),
            done=lambda: (len(self.lives) - before) / share,
            taken=self._taken_elsewhere,
            spacing=10 + self.scale.payouts // self.scale.kills,
        )
        longest = max(_SHORTEST_PHASE_S, 1.5 * self.scale.seconds / phases)
        until = min(self.ends_at, time.monotonic() + longest)

        def more() -> bool:
            wanted = len(self.lives) < before + share or not weather.enough
            return wanted and time.monotonic() < until

        async with asyncio.TaskGroup() as group:
            raging = group.create_task(weather.run())
            group.create_task(decide(self.world, self.lives, weather.over))
            await self._pay(more)
            weather.over.set()
            await raging
        self.world.tally.others["phases"] += 1
        self.world.tally.payouts = len(self.lives)

    def _taken_elsewhere(self) -> int:
        """Count the payouts that were answered 200 at banks that are called without a name."""
        return sum(life.taken and life.account.provider != NAMED for life in self.lives)

    async def _pay(self, more: Callable[[], bool]) -> None:
        """Have so many partners pay, one payout after another."""
        partners = self._partners(more)

        async def partner() -> None:
            for life in self._lives(more):
                await partners.live(life)

        async with asyncio.TaskGroup() as group:
            for _ in range(self.scale.partners):
                group.create_task(partner())

    def _lives(self, more: Callable[[], bool]) -> Iterator[Life]:
        """
        Make payouts; one in ten of an amount at which the bank does something special.

        Now and then a partner comes back to one whose end it has not seen.
        """
        chance = self.world.chance
        while more():
            if self.lives and chance.random() < _COMES_BACK:
                old = chance.choice(self.lives)
                if not old.seen:
                    yield old
            site = chance.choices(self.world.sites, weights=(2, 1))[0]
            magic = chance.random() < 0.1
            life = Life(
                site=site,
                account=chance.choice(site.accounts),
                reference=f"t-{len(self.lives)}-{uuid.UUID(int=chance.getrandbits(128))}",
                centavos=chance.choice(_MAGIC) if magic else chance.randint(100, 60_000),
            )
            self.lives.append(life)
            yield life

    def _partners(self, go_on: Callable[[], bool] = lambda: True) -> Partners:
        world = self.world
        return Partners(
            session=world.session,
            chance=world.chance,
            today=world.today,
            answers=world.tally.answers,
            go_on=go_on,
        )

    async def _move_clocks(self, by_s: int, *, start: bool) -> None:
        """Kill every gateway, worker and the bank, and start again that much later."""
        world = self.world
        serving = (*world.gateways, *world.workers)
        for command in serving:
            if command.runs:
                command.kill()
                world.tally.kills["clock"] += 1
        for road in world.roads:
            road.cut()
        await asyncio.sleep(0.3)  # what has reached the bank is carried out now or never
        world.bank.kill()
        world.offset_s += by_s
        await world.start_bank()
        if start:
            for command in serving:
                world.start(command)
            await asyncio.gather(*(command.wait(world.session) for command in serving))

    async def _rest(self) -> None:
        """With everything well, wait until the reconcilers have ended what can be ended."""
        await self._move_clocks(3 * _HOUR_S, start=True)
        proves = self.world.proves_absence
        await self._until_settled("leases, quiet periods", OPEN if proves else SENT)
        # Where nothing proves absence, what is unknown is looked for during 26 hours.
        await self._move_clocks(_DAY_S if proves else _DAY_S + 3 * _HOUR_S, start=True)
        await self._until_settled("the day", ALL)

    async def _until_settled(self, what: str, states: frozenset[PayoutState]) -> None:
        """Wait for the looks there are; one that failed on a busy machine comes an hour later."""
        for _ in range(_LOOKS):
            left = await self._left(states)
            if not left:
                return
            self.world.tally.others["hours waited for another look"] += 1
            await self._move_clocks(_NEXT_LOOK_S, start=True)
        self.world.tally.violations.append(f"after {what}: {left} are still not settled")

    async def _left(self, states: frozenset[PayoutState]) -> int:
        """Wait until none is in these states, or until nothing has moved for long; count them."""
        least, end = math.inf, 0.0
        while left := await unsettled(self.world, states):
            if left < least:  # a busy machine is slow; one that stands still has failed
                least, end = left, time.monotonic() + _STANDS_STILL_S
            if time.monotonic() > end:
                return left
            await asyncio.sleep(0.5)
        return 0

    def _progress(self, number: int) -> str:
        tally = self.world.tally
        return (
            f"phase {number + 1} of {self.scale.phases}: {len(self.lives)} payouts,"
            f" {tally.kills.total()} kills, {tally.faults.total()} faults,"
            f" {len(tally.violations)} violations"
        )


async def campaign(
    scale: Scale,
    seed: int,
    told: Callable[[str], None] = lambda _line: None,
    bank: str = "sandbox",
) -> Tally:
    tally = Tally(seed=seed, bank=bank)
    told(f"seed {seed}")
    async with open_world(tally, bank) as world:
        ends_at = time.monotonic() + scale.seconds
        await Campaign(world=world, scale=scale, ends_at=ends_at, told=told).run()
    return tally
