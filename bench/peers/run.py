"""
``make bench-peers``: the gateway beside others who do the same work, and who only pass on.

Peers are fetched when they are missing; one that cannot be had is told and left
out. Fails on a wrong answer, never on a slow one unless asked to.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import uvloop

from bench import history, rounds, subjects, system
from bench.figures import Measured
from bench.load import Load
from bench.partner import prepare
from bench.peers import catalogue, standing, targets
from bench.rounds import Turns, WrongAnswer

_WARMING_S = 3.0
"""Just-in-time compilers need thousands of requests before they do their best."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """
    Which peers, how long and how hard.

    Attributes:
        seconds: Of one round, after a warm-up of a quarter of that.
        only: Their names; none is all.
        check: Fail where a goal is missed by far.
    """

    rounds: int
    seconds: float
    connections: int
    only: Sequence[str]
    results: Path
    check: bool


def main(arguments: Sequence[str]) -> int:
    """Measure, print, keep; return the exit status."""
    options = read(arguments)
    system.raise_file_limit()
    system.pin(os.getpid(), system.cores().others)
    try:
        with tempfile.TemporaryDirectory(prefix="pixgate-peers-") as folder:
            system.keep_bytecode(Path(folder) / "bytecode")
            measured = measure(Path(folder), options)
    except (WrongAnswer, system.NotStarted) as problem:
        print(f"{type(problem).__name__}: {problem}", file=sys.stderr)
        return 1
    told = f"{options.rounds} rounds of {options.seconds:g} s in turns; median (min..max)"
    command = (
        f"bench/peers/run.py --rounds {options.rounds} --seconds {options.seconds:g}"
        f" --connections {options.connections}"
    )
    kept = history.Kept(folder=options.results, command=command, told=told)
    return history.close(measured, targets.GOALS, kept, check=options.check)


def read(arguments: Sequence[str]) -> Options:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0].strip())
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0, help="of a round")
    parser.add_argument("--connections", type=int, default=64)
    names = [peer.name for peer in catalogue.PEERS]
    parser.add_argument("--only", nargs="+", choices=names, default=names, metavar="PEER")
    parser.add_argument("--results", type=Path, default=history.RESULTS, help="of the history")
    parser.add_argument("--check", action="store_true", help="fail where a limit is exceeded")
    return Options(**vars(parser.parse_args(arguments)))


def measure(folder: Path, options: Options) -> Measured:
    """Start everybody and load them in turns; raises WrongAnswer or NotStarted."""
    chosen = [peer for peer in catalogue.PEERS if peer.name in options.only]
    turns = Turns(rounds=options.rounds, seconds=options.seconds, warming_s=_WARMING_S)
    with subjects.staged(folder / "all", prepare(folder / "prepared")) as stage:
        everybody = list(standing.everybody(stage, chosen, Load(connections=options.connections)))
        return Measured(rounds=uvloop.run(rounds.take(everybody, turns, stage.bank.pid)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
