"""
``make bench-payouts``: payouts through the whole gateway, to a bank that takes each at once.

Beside the same of an earlier commit, in turns. Every answer stands for an intent and an outcome on
the disk, which is looked up afterwards. No payout is followed up: rounds are shorter than the time
to its first check. Fails on a wrong answer or a payout that is not stored, never on a slow one
unless asked to.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import uvloop

from bench import history, system
from bench.earlier import BEFORE, unpacked
from bench.figures import Measured
from bench.goals import Goal, Values, cpu_ratio
from bench.paying import FILE, SERVER, Choice, Subject, earlier, standing, take_round
from bench.writing import NotStored


def main(arguments: Sequence[str]) -> int:
    """Measure, print, keep; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.5, help="of a round")
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--only", choices=[FILE, SERVER])
    parser.add_argument("--similar-within", type=float, help="seconds, of the guard; 0 is none")
    parser.add_argument("--ahead", type=int, default=0, help="connections opened ahead")
    parser.add_argument("--before", default=BEFORE, help="the commit to compare with")
    parser.add_argument("--results", type=Path, default=history.RESULTS)
    parser.add_argument("--check", action="store_true", help="fail where a limit is exceeded")
    options = parser.parse_args(arguments)
    measured = Measured()
    try:
        with ExitStack() as stack:
            made = tempfile.TemporaryDirectory(prefix="pixgate-bench-")
            folder = Path(stack.enter_context(made))
            system.pin(os.getpid(), system.cores().others)
            choice = Choice(
                only=options.only,
                similar_s=options.similar_within,
                ahead=options.ahead,
                earlier=unpacked(folder, options.before) if options.before else None,
            )
            subjects = list(standing(stack, folder, choice))
            uvloop.run(_measure(subjects, measured, options))
    except (NotStored, system.NotStarted) as problem:
        print(f"{type(problem).__name__}: {problem}", file=sys.stderr)
        return 1
    counts = f"--rounds {options.rounds} --seconds {options.seconds}"
    kept = history.Kept(
        folder=options.results,
        command=f"bench/payouts.py {counts} --connections {options.connections}",
        told=f"{options.rounds} rounds of {options.seconds} s in turns, {options.connections} "
        "connections, a bank that answers at once, nothing is followed up; earlier is "
        f"{options.before}; median (min..max)",
    )
    return history.close(measured, GOALS, kept, check=options.check)


async def _measure(
    subjects: Sequence[Subject], measured: Measured, options: argparse.Namespace
) -> None:
    for number in range(options.rounds + 1):
        for subject in subjects[:: -1 if number % 2 else 1]:
            # the first round warms up
            seconds = options.seconds if number else options.seconds / 2
            taken, server_us = await take_round(subject, seconds, options.connections)
            if not number:
                continue
            measured.rounds.setdefault(subject.name, []).append(taken)
            if subject.server is not None:
                told = f"CPU of the server per payout, µs: {subject.name}"
                measured.values.setdefault(told, []).append(server_us)


def _cpu_us(name: str) -> Values:
    return lambda measured: measured.each(name, lambda one: one.cpu_us)


def _wall_us(name: str) -> Values:
    return lambda measured: measured.each(name, lambda one: one.seconds / one.answers * 1e6)


def _creation(name: str) -> Goal:
    return Goal(
        name=name.rpartition(" ")[2],
        meaning="CPU of a payout / earlier",
        reach=0.6,
        fails_above=0.75,
        values=cpu_ratio(name, earlier(name)),
    )


GOALS = (
    *map(_creation, (FILE, SERVER)),
    Goal(
        name="PostgreSQL",
        meaning="CPU of the gateway per payout, µs (2,500/s on a core)",
        reach=400,
        aim=250,
        values=_cpu_us(SERVER),
    ),
    Goal(
        name="PostgreSQL",
        meaning="µs a payout (2,500/s)",
        reach=400,
        aim=250,
        values=_wall_us(SERVER),
    ),
    Goal(
        name="SQLite",
        meaning="µs a payout (1,500/s)",
        reach=667,
        aim=333,
        values=_wall_us(FILE),
    ),
)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
