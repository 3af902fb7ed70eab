"""
``make bench-worker``: the tail of a server process with a worker, beside the commit before.

Each gateway has PostgreSQL, the request log, and payouts that are due all the time and stay
undecided: it looks at as many as it can, while it is asked for balances at a third of the capacity
that is found first. The worker is on the server process's core, or on the other one. Fails on a
wrong answer, and with ``--check`` where the worker does not help enough.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import uvloop

from bench import backlog, gateways, goals, history, postgres, rounds, subjects, system
from bench.earlier import BEFORE
from bench.figures import Measured, Round
from bench.gateways import OTHER, SAME, Banks, Gateway
from bench.goals import Goal
from bench.load import Load

_SHARE = 3
"""Of the capacity: a process that is asked more often should have a second one beside it."""
_WARMING_S = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Rounds:
    """Rounds as they are taken, and what was looked at in them."""

    folder: Path
    banks: Banks
    measured: Measured = field(default_factory=Measured)

    def take(self, gateway: Gateway, load: Load, seconds: float) -> Round:
        """Start a gateway, and load it; raises NotStarted if it ran out of payouts."""
        with gateways.running(gateway, self.folder) as pid:
            subject = subjects.balance(pid, gateway.place, gateway.partner, load)
            rounds.compare([subject])
            uvloop.run(rounds.take_round(subject, _WARMING_S, self.banks.balances))
            before = asyncio.run(backlog.standing(gateway.place.database))
            taken = uvloop.run(rounds.take_round(subject, seconds, self.banks.balances))
            after = asyncio.run(backlog.standing(gateway.place.database))
        if not after.due:
            problem = f"{gateway.name}: nothing was due any more"
            raise system.NotStarted(problem)
        looked_at = (after.looked_at - before.looked_at) / taken.seconds
        self.measured.values.setdefault(f"{gateway.name}, looks a second", []).append(looked_at)
        return taken


def main(arguments: Sequence[str]) -> int:
    """Measure, print, keep; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=4.0, help="of a round")
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--banks", type=int, default=10, help="that have undecided payouts")
    parser.add_argument("--before", default=BEFORE, help="the commit to compare with")
    parser.add_argument("--results", type=Path, default=history.RESULTS)
    parser.add_argument("--check", action="store_true", help="fail where a limit is exceeded")
    options = parser.parse_args(arguments)
    system.raise_file_limit()
    system.pin(os.getpid(), system.cores().others)
    system.come_first(os.getpid())
    try:
        with tempfile.TemporaryDirectory(prefix="pixgate-bench-") as folder:
            system.keep_bytecode(Path(folder) / "bytecode")
            measured, per_s = _measured(Path(folder), options)
    except (
        *(subprocess.CalledProcessError, system.NotStarted),
        *(rounds.WrongAnswer, postgres.NoServer),
    ) as problem:
        print(f"{type(problem).__name__}: {problem}", file=sys.stderr)
        return 1
    told = (
        f"{options.rounds} rounds of {options.seconds:g} s in turns, {per_s:,} balances a second, "
        f"undecided payouts at {options.banks} banks; before is {options.before}"
    )
    counts = f"--rounds {options.rounds} --seconds {options.seconds:g} --banks {options.banks}"
    command = f"bench/worker.py {counts} --connections {options.connections}"
    kept = history.Kept(folder=options.results, command=command, told=told)
    return history.close(measured, list(_goals(measured)), kept, check=options.check)


def _measured(folder: Path, options: argparse.Namespace) -> tuple[Measured, int]:
    """Find the capacity of the first, then ask all of them at a third of it; return that too."""
    with gateways.prepared(folder, options.before, options.banks) as (banks, all_of_them):
        load = Load(connections=options.connections)
        fast = Rounds(folder=folder, banks=banks).take(all_of_them[0], load, 2.0)
        per_s = int(fast.answers / fast.seconds / _SHARE)
        taken = Rounds(folder=folder, banks=banks)
        for _ in range(options.rounds):
            for each in all_of_them:
                one = taken.take(each, replace(load, per_s=per_s), options.seconds)
                taken.measured.rounds.setdefault(each.name, []).append(one)
        return taken.measured, per_s


def _goals(measured: Measured) -> Iterator[Goal]:
    """Hold each worker to what there was without one."""
    first = next(iter(measured.rounds))
    for each in (OTHER, SAME):
        yield Goal(
            name="worker",
            meaning=f"p99, {each} / {first}",
            reach=0.5,
            fails_above=0.75,
            values=goals.p99_ratio(each, first),
        )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
