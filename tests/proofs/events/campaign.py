"""A campaign from beginning to end: changes amid kills, then rest, then the reckoning."""

from __future__ import annotations

import asyncio
import math
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tests.proofs.events.changes import Changes
from tests.proofs.events.feeds import Reader
from tests.proofs.events.judging import judge
from tests.proofs.events.kills import Kills
from tests.proofs.events.picture import payments, picture
from tests.proofs.events.scale import Scale
from tests.proofs.events.tally import Tally
from tests.proofs.events.world import World, open_world

_REST_S = 3 * 3_600
"""Leases, claims, quiet periods and pauses between tries end within it."""
_STANDS_STILL_S = 120.0
"""Longer than a follow-up takes on a busy machine."""
_LOOKS = 4
_TOLD_S = 60.0
_SHORTEST_PAUSE_S = 0.05


async def campaign(
    scale: Scale, seed: int, told: Callable[[str], None] = lambda _line: None
) -> Tally:
    """Run one campaign; ``told`` is shown a line of progress each minute."""
    tally = Tally(seed=seed)
    with tempfile.TemporaryDirectory(prefix="events-", ignore_cleanup_errors=True) as name:
        async with open_world(Path(name), tally, scale.walk_every_s) as world:
            before = payments(world)
            readers = [Reader(world, each) for each in world.accounts]
            async with asyncio.TaskGroup() as reading:
                for each in readers:
                    reading.create_task(each.run())
                await _trouble(world, scale, told)
                told("all is killed, and left alone now")
                await _rest(world, lambda found: found.left(before))
                for each in readers:
                    each.over.set()
            for each in readers:
                await each.read_out()
            tally.violations += judge(world, await picture(world), readers, before)
            for row in (await picture(world)).events:
                tally.events[row.type] += 1
    return tally


async def _trouble(world: World, scale: Scale, told: Callable[[str], None]) -> None:
    """Make changes while everything is killed, until there was enough of both."""
    world.receiver.calm = False
    began = time.monotonic()
    ends_at = began + scale.seconds
    kills = Kills(world, scale, ends_at)
    pause_s = max(scale.seconds / scale.changes, _SHORTEST_PAUSE_S)

    def more(made: int) -> bool:
        return made < scale.changes or time.monotonic() < ends_at or not kills.enough

    changes = Changes(world, more, lambda number: began + number * pause_s)

    async def progress() -> None:
        while True:
            await asyncio.sleep(_TOLD_S)
            told(
                f"{time.monotonic() - began:.0f} s: {changes.made} changes,"
                f" {world.tally.kills.total()} kills, {world.tally.answers.total()} requests,"
                f" {len(world.tally.violations)} violations"
            )

    async with asyncio.TaskGroup() as group:
        showing = group.create_task(progress())
        group.create_task(kills.run())
        await changes.run()
        kills.over.set()
        showing.cancel()
    world.receiver.calm = True


async def _rest(world: World, left: Callable[..., int]) -> None:
    """With everything well and hours later, wait until all is told and delivered."""
    await world.move_clocks(_REST_S)
    for _ in range(_LOOKS):
        if not await _until_nothing_moves(world, left):
            return
        await world.move_clocks(_REST_S // 2)
    world.tally.violations.append("after hours of rest something is still left")


async def _until_nothing_moves(world: World, left: Callable[..., int]) -> int:
    """Wait until nothing is left, or until nothing has moved for long; count what is left."""
    least, end = math.inf, 0.0
    while count := left(await picture(world)):
        if count < least:
            least, end = count, time.monotonic() + _STANDS_STILL_S
        if time.monotonic() > end:
            return count
        await asyncio.sleep(0.5)
    return 0
