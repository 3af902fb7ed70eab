"""
``make bench``: what the gateway costs and how long it takes, beside a bare pass-through proxy.

Everything is started, then loaded in turns, so that what else the machine does
falls on all alike. Fails on a wrong answer, never on a slow one unless asked to.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import uvloop

from bench import (
    cold,
    history,
    lists,
    postgres,
    rounds,
    scrape,
    startup,
    subjects,
    system,
    targets,
    telling,
)
from bench.figures import Measured, Round
from bench.load import Load
from bench.partner import Prepared, prepare
from bench.postgres import NoServer
from bench.rounds import Subject, Turns, WrongAnswer

FIGURES = (*subjects.FIGURES, cold.FIGURE, lists.FIGURE, "telling", "start", "scrape")
_SCRAPES = 10
# A second gateway would share pages with the one whose memory is read, and make it look smaller;
# what it does every second in the background would stand in the way of requests at a fixed rate.
_SCENES = ({"slow"}, {"cpu", "workers"}, {"rate"})


Standing = Callable[[subjects.Stage], Iterator[Subject]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """
    What, how long and how hard.

    Attributes:
        seconds: Of one round, after a warm-up of a quarter of that.
        connections: Of every row that does not say otherwise.
        only: The figures to take.
        check: Fail where a goal is missed by far.
    """

    rounds: int
    seconds: float
    connections: int
    only: Collection[str]
    results: Path
    check: bool


def main(arguments: Sequence[str]) -> int:
    """Measure, print, keep; return the exit status."""
    options = read(arguments)
    system.raise_file_limit()
    system.pin(os.getpid(), system.cores().others)
    try:
        with tempfile.TemporaryDirectory(prefix="pixgate-bench-") as folder:
            system.keep_bytecode(Path(folder) / "bytecode")
            measured = measure(Path(folder), options)
    except (WrongAnswer, system.NotStarted) as problem:
        print(f"{type(problem).__name__}: {problem}", file=sys.stderr)
        return 1
    told = f"{options.rounds} rounds of {options.seconds:g} s in turns; median (min..max)"
    return history.close(measured, targets.GOALS, _kept(options, told), check=options.check)


def read(arguments: Sequence[str]) -> Options:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0].strip())
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0, help="of a round")
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument(
        "--only", nargs="+", choices=FIGURES, default=FIGURES, help="figures to take"
    )
    parser.add_argument("--results", type=Path, default=history.RESULTS, help="of the history")
    parser.add_argument("--check", action="store_true", help="fail where a limit is exceeded")
    return Options(**vars(parser.parse_args(arguments)))


def measure(folder: Path, options: Options) -> Measured:
    """
    Take the figures that were asked for.

    Raises:
        WrongAnswer: a system did not answer as it must.
        NotStarted: one did not come up.
    """
    figures = _possible(set(options.only))
    turns = Turns(rounds=options.rounds, seconds=options.seconds)
    measured, prepared = Measured(), prepare(folder / "prepared")
    load = Load(connections=options.connections)
    for together in _SCENES:
        if figures & together:
            inside = folder / "-".join(sorted(figures & together))
            with subjects.standing(
                inside, prepared, figures & together, options.connections
            ) as scene:
                measured.rounds |= uvloop.run(rounds.take(scene.subjects, turns, scene.bank))
    if cold.FIGURE in figures:
        measured.values |= cold.packed_bytes()
        short = replace(turns, seconds=min(turns.seconds, cold.ROUND_S))
        measured.rounds |= _filled(
            folder / "cold", prepared, short, partial(cold.standing, load=load)
        )
    if lists.FIGURE in figures:
        measured.rounds |= _filled(
            folder / "lists", prepared, turns, partial(lists.standing, load=load)
        )
    if "telling" in figures:
        measured.values |= telling.taken(folder / "telling", prepared)
    if "start" in figures:
        measured.values |= startup.taken(folder / "start", prepared, options.rounds)
    if "scrape" in figures:
        measured.values |= scrape.held_up_ms(folder, _SCRAPES)
    return measured


def _filled(
    folder: Path, prepared: Prepared, turns: Turns, standing: Standing
) -> Mapping[str, list[Round]]:
    """Measure what is started on stores with much in them."""
    with subjects.staged(folder, prepared) as stage:
        return uvloop.run(rounds.take(list(standing(stage)), turns, stage.bank.pid))


def _possible(figures: set[str]) -> set[str]:
    """Leave out, with a word, what this machine cannot measure."""
    if "workers" in figures:
        try:
            postgres.installed()
        except NoServer as problem:
            print(f"two processes are not measured: {problem}")
            return figures - {"workers"}
    return figures


def _kept(options: Options, told: str) -> history.Kept:
    """Say how it was measured."""
    command = (
        f"bench/run.py --rounds {options.rounds} --seconds {options.seconds:g}"
        f" --connections {options.connections} --only {' '.join(options.only)}"
    )
    return history.Kept(folder=options.results, command=command, told=told)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
