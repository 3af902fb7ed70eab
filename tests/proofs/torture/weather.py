"""What goes wrong: gateways and the worker are killed, the bank misbehaves, servers crash."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random

from gateway.app.failpoints import NAMES, OF_A_HOLD
from provider_adapters.testing.bank.control_client import ControlRefused
from tests.proofs.torture.processes import Command
from tests.proofs.torture.world import World

_FAULTS: list[dict[str, object]] = [
    {"fault": "reject"},
    {"fault": "hang"},
    {"fault": "hang_after"},
    {"fault": "reset_before"},
    {"fault": "reset_before"},
    {"fault": "reset_after"},
    {"fault": "reset_after"},
    {"fault": "drip"},
    {"fault": "malformed"},
    {"fault": "malformed"},
    {"fault": "wrong_types"},
    *({"fault": "status", "status": status} for status in (302, 429, 500, 503)),
    *({"fault": "status", "status": status, "executed": True} for status in (500, 502, 504)),
]
_RARE: list[dict[str, object]] = [{"fault": "refuse"}, {"fault": "huge"}]
_OPERATIONS = ("payout", "payout", "payout", "payout_read", "statement")
# On the way to a payout at some banks: the directory of keys, and tokens.
_BEFORE = ("keys", "access")
_EVERY_S = 0.03
# Of one operation: not every bank is asked for every one.
_WAITING = 3


@dataclass(slots=True, kw_only=True)
class Weather:
    """
    Everything bad, until told that it is enough.

    Trouble keeps pace with the payouts, since a service that is always down proves nothing.

    Attributes:
        kills, faults: How many belong to this phase.
        done: How far the payouts of this phase are, from 0 to 1 and beyond.
        taken: How many of the payouts of other banks than the named one were answered 200.
        spacing: Payouts to a kill, or a little more: the longest a gateway waits for its point.
        killed, hit: How many there were so far; ``hit`` are the bank's faults alone.
        injected: Faults that the bank was told and that have not hit yet, each with its operation.
    """

    world: World
    kills: int
    faults: int
    done: Callable[[], float]
    taken: Callable[[], int]
    spacing: int
    killed: int = 0
    hit: int = 0
    over: asyncio.Event = field(default_factory=asyncio.Event)
    injected: list[tuple[str, str]] = field(default_factory=list)
    before: int = 0

    def __post_init__(self) -> None:
        self.before = self.world.tally.faults.total()

    @property
    def chance(self) -> Random:
        return self.world.chance

    @property
    def enough(self) -> bool:
        """Whether everything happened that was to happen; messages lost on the way count, too."""
        faults = self.world.tally.faults.total() - self.before
        return self.killed >= self.kills and faults >= self.faults

    def due(self, had: int, of: int) -> bool:
        """Say whether more may happen by now, having had so many of so many."""
        return had <= of * self.done() * 1.1 + 1

    async def run(self) -> None:
        """Rage until ``over``, then leave every process as it is."""
        async with asyncio.TaskGroup() as group:
            for command in self.world.gateways:
                group.create_task(self._kill_again_and_again(command))
            for command in self.world.workers:
                group.create_task(self._kill_at_random(command))
            group.create_task(self._spoil_the_bank())
            group.create_task(self._crash_servers())
            if self.world.names.can_hang:
                group.create_task(self._hang_names())

    async def _kill_again_and_again(self, command: Command) -> None:
        """Keep a gateway up, and end it at a fail point or at random."""
        world = self.world
        while not self.over.is_set():
            due = self.due(self.killed, self.kills)
            failpoint = self.chance.choice((*NAMES, *OF_A_HOLD, "", "", ""))
            passes = self.chance.randint(1, 8) if due else self.chance.randint(10, self.spacing)
            world.start(command, f"{failpoint}:{passes}" if failpoint else "")
            await command.wait(world.session)
            by_itself = await self._ended(command, 8.0 if failpoint else 0.5)
            if not by_itself and self.over.is_set():
                return
            self._count_end(command, failpoint if by_itself else "")

    async def _kill_at_random(self, command: Command) -> None:
        """Keep a worker running, and kill it at any moment, without waiting."""
        world = self.world
        while not self.over.is_set():
            world.start(command)
            await command.wait(world.session)
            lives_s = self.chance.uniform(0.5, 12.0)
            while lives_s > 0 and command.runs and not self.over.is_set():
                await asyncio.sleep(0.1)
                lives_s -= 0.1
            if command.runs and not self.over.is_set():
                command.kill()
                world.tally.others["worker kills"] += 1
            elif not command.runs and not command.lacked_its_store:
                world.tally.violations.append(f"a worker ended: {command.said()[-500:]}")

    async def _ended(self, command: Command, at_least: float) -> bool:
        """Wait for its own end, for so long and until another kill is due, or until it is over."""
        while not self.over.is_set():
            await asyncio.sleep(0.1)
            if not command.runs:
                return True
            at_least -= 0.1
            if at_least < 0 and self.due(self.killed, self.kills) and self.chance.random() < 0.1:
                return False
        return False

    def _count_end(self, command: Command, failpoint: str) -> None:
        """Make sure that it is dead, and say why; one that ended in another way is a violation."""
        tally = self.world.tally
        if command.runs:
            command.kill()
            tally.kills["random"] += 1
            self.killed += 1
        elif failpoint and command.process is not None and command.process.returncode == -9:
            tally.kills[failpoint] += 1
            self.killed += 1
        elif command.lacked_its_store:
            tally.others["starts refused without a store"] += 1
        else:
            tally.violations.append(f"a gateway ended by itself: {command.said()[-500:]}")

    async def _spoil_the_bank(self) -> None:
        """Inject one fault after another."""
        while not self.over.is_set():
            with suppress(ControlRefused):  # the bank is down just now
                await self._count_faults()
                if self.due(self.hit, self.faults):
                    await self._inject()
            await asyncio.sleep(_EVERY_S)

    async def _inject(self) -> None:
        operation = self.chance.choice((*_OPERATIONS, *self.world.passed(_BEFORE)))
        if sum(waiting == operation for _, waiting in self.injected) >= _WAITING:
            return
        rare = self.chance.random() < 0.01
        fault = {**self.chance.choice(_RARE if rare else _FAULTS), "operation": operation}
        await self.world.control.post("faults", body=fault)
        self.injected.append((str(fault["fault"]), operation))

    async def _count_faults(self) -> None:
        """Count what has hit since the last time: what the bank still holds, has not."""
        rows = (await self.world.control.get("faults"))["data"]
        waiting = Counter((row["fault"], row["operation"]) for row in rows)
        hit = Counter(self.injected) - waiting
        for (name, _), times in hit.items():
            self.world.tally.faults[f"bank {name}"] += times
        self.injected = list(waiting.elements())
        self.hit += hit.total()

    async def _crash_servers(self) -> None:
        """Crash the bank or PostgreSQL now and then, and start it again after a moment."""
        while not self.over.is_set():
            await asyncio.sleep(self.chance.uniform(4.0, 9.0))
            if self.over.is_set():
                return
            down_s = self.chance.uniform(0.1, 1.0)
            if self.chance.random() < 0.5:
                await self._crash_bank(down_s)
            else:
                await self._crash_store(down_s)

    async def _hang_names(self) -> None:
        """Let the bank that is known by its name be looked up in vain now and then."""
        while not self.over.is_set():
            others, taken = self.world.tally.others, self.taken()
            others["hanging names"] += 1
            with self.world.names.hanging():
                await self._over_within(self.chance.uniform(1.0, 10.0))
            others["payouts taken elsewhere meanwhile"] += self.taken() - taken
            await self._over_within(self.chance.uniform(2.0, 12.0))

    async def _over_within(self, seconds: float) -> bool:
        """Wait so long at most; say whether it is over."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self.over.wait(), seconds)
        return self.over.is_set()

    async def _crash_bank(self, down_s: float) -> None:
        self.world.bank.kill()
        self.injected = []  # a restart forgets what it was told
        await asyncio.sleep(down_s)
        await self.world.start_bank()
        self.injected = []
        self.world.tally.others["bank kills"] += 1

    async def _crash_store(self, down_s: float) -> None:
        await self.world.postgres.crash()
        await asyncio.sleep(down_s)
        await self.world.postgres.start()
        self.world.tally.others["PostgreSQL crashes"] += 1
