"""
``make bench-worker``: the tail of a server process with a worker beside it, and without one.

Both are on PostgreSQL and asked for balances at a third of the capacity that is found first, in
turns. Everything of a gateway is on one core, its worker too. Fails on a wrong answer, and with
``--check`` where the worker does not help enough.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import uvloop

from bench import goals, history, postgres, rounds, subjects, system
from bench.figures import Measured
from bench.goals import Goal
from bench.load import Load
from bench.partner import make_partner, prepare, write_configuration
from bench.rounds import Subject, Turns, WrongAnswer

INSIDE, BESIDE = "no worker", "worker beside it"
_SHARE = 3
"""Of the capacity: a process that is asked more often should have a second one beside it."""


def main(arguments: Sequence[str]) -> int:
    """Measure, print, keep; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=4.0, help="of a round")
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--results", type=Path, default=history.RESULTS)
    parser.add_argument("--check", action="store_true", help="fail where a limit is exceeded")
    options = parser.parse_args(arguments)
    system.raise_file_limit()
    system.pin(os.getpid(), system.cores().others)
    try:
        with tempfile.TemporaryDirectory(prefix="pixgate-bench-") as folder:
            system.keep_bytecode(Path(folder) / "bytecode")
            measured, per_s = _measured(Path(folder), options)
    except (WrongAnswer, system.NotStarted, postgres.NoServer) as problem:
        print(f"{type(problem).__name__}: {problem}", file=sys.stderr)
        return 1
    told = f"{options.rounds} rounds of {options.seconds:g} s in turns, {per_s:,} balances a second"
    counts = f"--rounds {options.rounds} --seconds {options.seconds:g}"
    command = f"bench/worker.py {counts} --connections {options.connections}"
    kept = history.Kept(folder=options.results, command=command, told=told)
    return history.close(measured, GOALS, kept, check=options.check)


def _measured(folder: Path, options: argparse.Namespace) -> tuple[Measured, int]:
    """Find the capacity, then ask both at a third of it; return that too."""
    with _standing(folder, Load(connections=options.connections)) as (asked, bank):
        once = Turns(rounds=3, seconds=1.0, warming_s=1.0)
        fast = uvloop.run(rounds.take(asked[:1], once, bank))[INSIDE]
        per_s = int(min(one.answers / one.seconds for one in fast) / _SHARE)
        slower = [replace(each, load=replace(each.load, per_s=per_s)) for each in asked]
        turns = Turns(rounds=options.rounds, seconds=options.seconds, warming_s=1.0)
        return Measured(rounds=uvloop.run(rounds.take(slower, turns, bank))), per_s


@contextmanager
def _standing(folder: Path, load: Load) -> Iterator[tuple[Sequence[Subject], int]]:
    """Run both gateways, each on a server of its own."""
    with subjects.staged(folder / "worker", prepare(folder / "prepared")) as stage:
        yield [_asked(stage, load, name) for name in (INSIDE, BESIDE)], stage.bank.pid


def _asked(stage: subjects.Stage, load: Load, name: str) -> Subject:
    server = stage.started.enter_context(postgres.running())
    run = "inside" if name == INSIDE else "host"
    place = replace(stage.place(run, server), worker=run)
    partner = make_partner(write_configuration(place))
    asked = subjects.balance(stage.gateway(place), place, partner, load)
    return replace(asked, name=name)


GOALS = (
    Goal(
        name="worker",
        meaning="p99 with a worker beside it / without",
        reach=0.5,
        fails_above=0.75,
        values=goals.p99_ratio(BESIDE, INSIDE),
    ),
    Goal(
        name="worker",
        meaning="CPU of both processes / without",
        reach=1.1,
        values=goals.cpu_ratio(BESIDE, INSIDE),
    ),
)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
