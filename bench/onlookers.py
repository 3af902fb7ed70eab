"""
People who leave the overview open: what they cost the gateway, and what a balance waits.

Each holds a session of their own and asks for what their page asks for by itself: what is in the
accounts, every five seconds. That is the most: once every account was read it is once a minute.
Balances are asked for from another process, at a third of what the gateway served in a closed loop
just before, with the page open and without in turns.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles

from bench import load, panel_store
from bench.panel_asking import Ask, Asked, asking_apart
from bench.partner import write_request
from gateway.domain.identity.rights import Role
from tests.browser import panel_site
from tests.browser.panel_site import PanelSite
from tests.world.gateway.world import basic

PEOPLE = 10
MOST_CORE = 0.05
MOST_RATIO = 1.2
_EVERY_S = 5
_PATH = "/panel/overview/balances"
_CONNECTIONS = 16
_SHARE = 3


@dataclass(frozen=True, slots=True)
class Balances:
    """What a load of balances found: answers a second, and the 99th percentile."""

    per_s: float
    p99_ms: float


@asynccontextmanager
async def looking(ask: Ask, asked: Sequence[Asked]) -> AsyncIterator[None]:
    """Let everybody ask every five seconds, one after the other, for the length of the block."""

    async def look(place: int, each: Asked) -> None:
        await asyncio.sleep(place * _EVERY_S / len(asked))
        while True:
            answer = await ask(each)
            assert answer.status == 200, answer  # noqa: S101, PLR2004 - the page
            await asyncio.sleep(_EVERY_S)

    looks = [
        asyncio.create_task(look(*one))  # noqa: TID251 - cancelled and awaited below
        for one in enumerate(asked)
    ]
    try:
        yield
    finally:
        for each in looks:
            each.cancel()
            with suppress(asyncio.CancelledError):
                await each


async def share(seconds: float) -> float:
    """Return the share of one core that this process takes; the gateway is in it."""
    began, used = time.perf_counter(), time.process_time()
    await asyncio.sleep(seconds)
    return (time.process_time() - used) / (time.perf_counter() - began)


def balances(order: load.Order, wanted: load.Load, seconds: float) -> Balances:
    """Ask for balances; runs in another process."""

    async def asking() -> Balances:
        async with load.calling(order, wanted) as tally:
            await asyncio.sleep(seconds / 4)
            tally.clear()
            await asyncio.sleep(seconds)
            answers, taken = tally.answers, tally.latencies_s[:]
        if tally.wrong:
            problem = f"{tally.wrong} wrong answers"
            raise RuntimeError(problem)
        return Balances(answers / seconds, quantiles(taken, n=100)[98] * 1000)

    return asyncio.run(asking())


async def measure(site: PanelSite, wanted: argparse.Namespace) -> int:
    """Measure both in turns, and print them; 1 where more is taken than may be."""
    asked = [Asked(site.origin, _PATH, each, is_part=True) for each in await _signed_in(site)]
    took, ratios = list[float](), list[float]()
    with asking_apart() as ask, _pool() as other:
        for _ in range(wanted.rounds):
            alone = await share(wanted.seconds)
            async with looking(ask, asked):
                took.append(await share(wanted.seconds) - alone)
            most = (await _asked_for(site, other, 0, 2.0)).per_s
            per_s = max(1, int(most / _SHARE))
            quiet = await _asked_for(site, other, per_s, wanted.seconds)
            async with looking(ask, asked):
                watched = await _asked_for(site, other, per_s, wanted.seconds)
            ratios.append(watched.p99_ms / quiet.p99_ms)
            _say(f"{per_s}/s of {most:.0f}: {quiet.p99_ms:.1f} ms, {watched.p99_ms:.1f} watched")
    _say(f"{PEOPLE} people: {median(took):.3f} ({min(took):.3f}..{max(took):.3f}) of a core")
    _say(f"p99 of a balance: {median(ratios):.2f} ({min(ratios):.2f}..{max(ratios):.2f}) times")
    _say(f"load average of the machine: {os.getloadavg()[0]:.1f}")
    return int(median(took) > MOST_CORE or median(ratios) > MOST_RATIO)


async def _signed_in(site: PanelSite) -> Sequence[Mapping[str, str]]:
    """Return what the browsers of ten people hold."""
    people = [await site.people.make(Role.ADMIN) for _ in range(PEOPLE)]
    return [await site.people.sign_in(each) for each in people]


async def _asked_for(
    site: PanelSite, other: ProcessPoolExecutor, per_s: int, seconds: float
) -> Balances:
    """Have balances asked for in another process; 0 a second is as many as it can."""
    world = site.world
    request = write_request(world.at("/balance"), basic(world.pair("full")))
    order = load.Order(port=world.port, request=request)
    wanted = load.Load(connections=_CONNECTIONS, per_s=per_s)
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(other, balances, order, wanted, seconds)


def _pool() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(max_workers=1, mp_context=multiprocessing.get_context("spawn"))


def _say(line: str) -> None:
    print(line, file=sys.stderr)


async def _run(folder: Path, wanted: argparse.Namespace) -> int:
    async with panel_store.filled(panel_site.settings(folder), wanted.payouts, 1_000) as site:
        return await measure(site, wanted)


def main(arguments: Sequence[str]) -> int:
    """Measure on SQLite; 1 where people who look cost more than they may."""
    parser = argparse.ArgumentParser(prog="bench/onlookers.py")
    parser.add_argument("--payouts", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=10.0)
    wanted = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="onlookers-") as folder:
        return asyncio.run(_run(Path(folder), wanted))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
