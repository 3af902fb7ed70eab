"""
``make bench-storage``: payouts a second whose intent and outcome are both on the disk.

Group commit beside one transaction per statement, on SQLite and PostgreSQL, after the least that
the disk itself asks for. Fails where a payout is not stored as told, never on a slow one unless
asked to.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack, ExitStack
from pathlib import Path
from statistics import median, quantiles

import uvloop

from bench import disk, history, postgres, system
from bench.figures import Measured, Round
from bench.goals import Goal, Values
from bench.writing import (
    GROUPED,
    ONE_BY_ONE,
    WRITERS,
    NotStored,
    Subject,
    named,
    standing,
    take_round,
)

FLOOR = "append 4 KiB and fdatasync, ms"
_FILE, _SERVER = "SQLite", "PostgreSQL"
_FLOOR_S = 0.2
_MANY = WRITERS[-1]


def main(arguments: Sequence[str]) -> int:
    """Measure, print, keep; return the exit status."""
    options = _read(arguments)
    measured = Measured()
    try:
        with ExitStack() as stack:
            made = tempfile.TemporaryDirectory(prefix="pixgate-bench-", dir=options.folder)
            folder = Path(stack.enter_context(made))
            system.pin(os.getpid(), system.cores().others)
            urls = dict(_urls(stack, folder, options.only))
            system.pin(os.getpid(), system.cores().measured)
            uvloop.run(_measure(urls, folder, measured, options))
    except NotStored as problem:
        print(f"NotStored: {problem}", file=sys.stderr)
        return 1
    kept = history.Kept(
        folder=options.results,
        command=f"bench/storage.py --rounds {options.rounds} --seconds {options.seconds}",
        told=f"{options.rounds} rounds of {options.seconds} s in turns; a request is a payout: "
        "its intent and its outcome, both durable; latency of the intent; median (min..max)",
    )
    return history.close(_shortened(measured), GOALS, kept, check=options.check)


def _read(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0, help="of a round")
    parser.add_argument("--only", choices=[_FILE, _SERVER], help="one database")
    parser.add_argument("--folder", type=Path, help="on the disk that is measured")
    parser.add_argument("--results", type=Path, default=history.RESULTS)
    parser.add_argument("--check", action="store_true", help="fail where a limit is exceeded")
    return parser.parse_args(arguments)


def _urls(stack: ExitStack, folder: Path, only: str | None) -> Iterator[tuple[str, str]]:
    """Name the databases; one that is not there is left out, with a word."""
    if only in {None, _FILE}:
        yield _FILE, f"sqlite:///{folder}/store.db"
    if only in {None, _SERVER}:
        try:
            yield _SERVER, stack.enter_context(postgres.running())
        except postgres.NoServer as problem:
            print(f"{_SERVER} is left out: {problem}")


async def _measure(
    urls: dict[str, str], folder: Path, measured: Measured, options: argparse.Namespace
) -> None:
    async with AsyncExitStack() as stack:
        subjects: list[Subject] = []
        for name, url in urls.items():
            subjects += await stack.enter_async_context(standing(name, url))
        for number in range(options.rounds + 1):
            for subject in subjects:
                # the first round warms up: statements are compiled, files grow
                seconds = options.seconds if number else options.seconds / 4
                before = _flushes_ms(subject, folder)
                one = await take_round(subject, seconds)
                if number:
                    _keep(measured, subject, one, before + _flushes_ms(subject, folder))


def _flushes_ms(subject: Subject, folder: Path) -> list[float]:
    """Ask the disk itself, beside a writer who has nobody to share a flush with."""
    return disk.flushes_ms(folder, _FLOOR_S) if subject.writers == 1 else []


def _keep(
    measured: Measured, subject: Subject, one: tuple[Round, float], flushes_ms: Sequence[float]
) -> None:
    """Keep a round, and what the disk needed before and after it: that changes by the minute."""
    taken, server_us = one
    measured.rounds.setdefault(subject.name, []).append(taken)
    if flushes_ms:
        measured.values.setdefault(FLOOR, []).extend(flushes_ms)
        measured.values.setdefault(_beside(subject.name), []).append(median(flushes_ms))
    if subject.server is not None:
        told = f"CPU of the server per payout, µs: {subject.name}"
        measured.values.setdefault(told, []).append(server_us)


def _shortened(measured: Measured) -> Measured:
    """Keep of the floor what a table can hold: the median and the ends of the middle 98 %."""
    cuts = quantiles(measured.values[FLOOR], n=100)
    measured.values[FLOOR] = [cuts[0], cuts[49], cuts[98]]
    return measured


def _wall_us(name: str) -> Values:
    return lambda measured: measured.each(name, lambda one: one.seconds / one.answers * 1e6)


def _ratio(of: str, to: str) -> Values:
    def values(measured: Measured) -> Sequence[float]:
        pairs = zip(_wall_us(of)(measured), _wall_us(to)(measured), strict=True)
        return [one / other for one, other in pairs]

    return values


def _beside(name: str) -> str:
    return f"{FLOOR}, beside {name}"


def _over_floor(name: str) -> Values:
    def values(measured: Measured) -> Sequence[float]:
        floors = measured.values.get(_beside(name))
        if floors is None:  # it was not measured, or in an earlier way
            return []
        p50_ms = measured.each(name, lambda one: one.p50_ms)
        return [one / floor for one, floor in zip(p50_ms, floors, strict=True)]

    return values


def _goals(database: str, reach_us: float, aim_us: float) -> Iterator[Goal]:
    many, alone = named(database, GROUPED, _MANY), named(database, ONE_BY_ONE, _MANY)
    yield Goal(
        name=f"{database}",
        meaning=f"µs a durable payout, {_MANY} writers ({1e6 / reach_us:,.0f}/s)",
        reach=reach_us,
        aim=aim_us,
        values=_wall_us(many),
    )
    yield Goal(
        name=f"R12 {database}",
        meaning=f"time a payout, grouped / one by one, {_MANY} writers",
        reach=0.4,
        fails_above=0.67,
        values=_ratio(many, alone),
    )
    yield Goal(
        name=f"R13 {database}",
        meaning="p50 of an intent, 1 writer / fdatasync",
        reach=2.5,
        fails_above=4,
        values=_over_floor(named(database, GROUPED, 1)),
    )


GOALS = (*_goals(_SERVER, 400, 250), *_goals(_FILE, 667, 333))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
