"""``kill -9`` of servers, workers and PostgreSQL at random moments."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field

from gateway.app.failpoints import NAMES, OF_A_DELIVERY
from tests.proofs.events.scale import Between, Scale
from tests.proofs.events.world import World
from tests.proofs.torture.processes import Command

SERVER, WORKER, STORE = "server", "worker", "PostgreSQL"
_AT_A_POINT = 0.3
"""The share of lives that end at a fail point, if they pass it."""
_LONGEST_ABSENCE_S = 1.5


@dataclass(slots=True)
class Kills:
    """
    Kills for as long as the scale says, and each as often; what is dead is started again.

    Attributes:
        ends_at: By the monotonic clock, the time of all trouble; only what was not killed often
            enough is killed after it.
        over: Ends the killing.
        done: Kills so far, by what was killed.
    """

    world: World
    scale: Scale
    ends_at: float
    over: asyncio.Event = field(default_factory=asyncio.Event)
    done: Counter[str] = field(default_factory=Counter)

    @property
    def enough(self) -> bool:
        """Whether each was killed as often as the scale says."""
        return not any(map(self._lacks, (SERVER, WORKER, STORE)))

    def _lacks(self, what: str) -> bool:
        return self.done[what] < self.scale.kills

    def _goes_on(self, what: str) -> bool:
        return self._lacks(what) or time.monotonic() < self.ends_at

    async def run(self) -> None:
        """Kill them all, each at its own pace."""
        async with asyncio.TaskGroup() as group:
            for each in self.world.servers.values():
                group.create_task(self._process(each, SERVER, NAMES))
            for each in self.world.workers:
                group.create_task(self._process(each, WORKER, OF_A_DELIVERY))
            group.create_task(self._store())

    async def _process(self, command: Command, what: str, points: tuple[str, ...]) -> None:
        """Kill a process, which runs already, and start it again."""
        tally, chance = self.world.tally, self.world.chance
        failpoint = ""
        while not await self._lives(self.scale.lives_s, command):
            if command.runs and not self._goes_on(what):
                continue
            if command.runs:
                command.kill()
                tally.kills[what] += 1
                self.done[what] += 1
            elif failpoint and command.returned == -9:
                tally.kills[f"{what} {failpoint.partition(':')[0]}"] += 1
                self.done[what] += 1
            elif command.lacked_its_store:
                tally.others["starts refused without a store"] += 1
            else:
                tally.violations.append(f"a {what} ended by itself: {command.said()[-500:]}")
            at_a_point = chance.random() < _AT_A_POINT
            failpoint = f"{chance.choice(points)}:{chance.randint(1, 8)}" if at_a_point else ""
            await asyncio.sleep(chance.uniform(0, _LONGEST_ABSENCE_S))
            self.world.start(command, failpoint)
            await command.wait(self.world.session)

    async def _lives(self, between: Between, command: Command | None = None) -> bool:
        """Wait for a life's length, or for its own end; return whether it is all over."""
        left_s = self.world.chance.uniform(*between)
        while left_s > 0 and not self.over.is_set() and (command is None or command.runs):
            with suppress(TimeoutError):
                await asyncio.wait_for(self.over.wait(), min(left_s, 0.1))
            left_s -= 0.1
        return self.over.is_set()

    async def _store(self) -> None:
        while not await self._lives(self.scale.store_lives_s):
            if not self._goes_on(STORE):
                return
            await self.world.postgres.kill()
            await asyncio.sleep(self.world.chance.uniform(0, _LONGEST_ABSENCE_S))
            await self.world.postgres.start()
            self.world.tally.kills[STORE] += 1
            self.done[STORE] += 1
