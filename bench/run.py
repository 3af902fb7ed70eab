"""
``make bench``: CPU per request of the gateway, beside a bare pass-through proxy, in one run.

Everything is started, then loaded in turns, so that what else the machine does
falls on all alike. Fails on a wrong answer, never on a slow one unless asked to.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import quantiles

import uvloop

from bench import load, report, subjects, system
from bench.report import CONVERSATIONS, Figures, Measured, Round
from bench.subjects import Scene, Subject

RESULTS = Path(__file__).parent / "results"


class WrongAnswer(Exception):
    """A system did not answer as it must; its speed means nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """
    How long and how hard.

    Attributes:
        seconds: Of one round, after a warm-up of a quarter of that.
        database: Address of a PostgreSQL database; empty leaves out what needs one.
        check: Fail where a goal is missed by far.
    """

    rounds: int
    seconds: float
    connections: int
    database: str
    results: Path
    check: bool


@dataclass(frozen=True, slots=True)
class Instant:
    """What the clocks say: the world's, a process tree's, ours with the stub, and all cores'."""

    at: float
    theirs: float
    ours: float
    busy: float


def main(arguments: Sequence[str]) -> int:
    """Measure, print, keep; return the exit status."""
    options = read(arguments)
    system.raise_file_limit()
    system.pin(os.getpid(), system.cores().others)
    try:
        with (
            tempfile.TemporaryDirectory(prefix="pixgate-bench-") as folder,
            subjects.standing(Path(folder), options.database) as scene,
        ):
            measured = uvloop.run(measure(scene, options))
    except (WrongAnswer, system.NotStarted) as problem:
        print(f"{type(problem).__name__}: {problem}", file=sys.stderr)
        return 1
    show(measured, options)
    keep(measured, options)
    failed = report.failed(measured)
    for name in failed:
        print(f"{name} is above its limit")
    return 1 if failed and options.check else 0


def read(arguments: Sequence[str]) -> Options:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0, help="of a round")
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--database", default="", help="an empty PostgreSQL database, for R11")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of the history")
    parser.add_argument("--check", action="store_true", help="fail where a limit is exceeded")
    return Options(**vars(parser.parse_args(arguments)))


async def measure(scene: Scene, options: Options) -> Measured:
    """
    Load every system in turn, round after round, then hold many conversations.

    Raises:
        WrongAnswer: before, during or after the load.
    """
    measured = {subject.name: Figures() for subject in scene.subjects}
    compare(scene.subjects)
    for _ in range(options.rounds):
        for subject in scene.subjects:
            measured[subject.name].rounds.append(await take_round(scene, subject, options))
    for subject in scene.subjects:
        if subject.slow is not None:
            measured[subject.name].pss_mb = await memory(subject.pid, subject.slow, options)
    compare(scene.subjects)
    return measured


def compare(measured: Sequence[Subject]) -> None:
    """Ask each once and compare the whole answer; raises WrongAnswer."""
    for subject in measured:
        answer = load.ask(subject.order)
        if answer != subject.right:
            problem = f"{subject.name} said\n{answer}\n\ninstead of\n{subject.right}"
            raise WrongAnswer(problem)


async def take_round(scene: Scene, subject: Subject, options: Options) -> Round:
    """Load one system; raises WrongAnswer."""
    theirs, ours = system.tree(subject.pid), [os.getpid(), scene.bank]
    async with load.calling(subject.order, options.connections) as tally:
        await asyncio.sleep(options.seconds / 4)
        tally.clear()
        before = _now(theirs, ours)
        await asyncio.sleep(options.seconds)
        after, answers, latencies_s = _now(theirs, ours), tally.answers, tally.latencies_s[:]
    if tally.wrong or not answers:
        problem = f"{subject.name}: {tally.wrong} wrong of {answers} under load"
        raise WrongAnswer(problem)
    seconds, cpu_s = after.at - before.at, after.theirs - before.theirs
    others_s = after.busy - before.busy - cpu_s - (after.ours - before.ours)
    cuts = quantiles(latencies_s, n=100) if answers > 1 else latencies_s * 99
    return Round(
        answers=answers,
        seconds=seconds,
        cpu_s=cpu_s,
        other_cores=max(0.0, others_s / seconds),
        p50_ms=cuts[49] * 1000,
        p99_ms=cuts[98] * 1000,
    )


async def memory(pid: int, order: load.Order, options: Options) -> float:
    """Read the memory of a process while it holds many conversations; raises WrongAnswer."""
    async with load.calling(order, CONVERSATIONS) as tally:
        await asyncio.sleep(options.seconds)
        pss_mb = system.pss_mb(pid)
    if tally.wrong or not tally.answers:
        problem = f"{tally.wrong} wrong of {tally.answers} with {CONVERSATIONS} conversations"
        raise WrongAnswer(problem)
    return pss_mb


def show(measured: Measured, options: Options) -> None:
    """Print both tables and what they were taken under."""
    print(f"\n{options.rounds} rounds of {options.seconds} s in turns, ", end="")
    print(f"{options.connections} connections, bank without latency; median (min..max)\n")
    print(*report.systems(measured), "", *report.goals(measured), "", sep="\n")
    print(", ".join(f"{name}: {text}" for name, text in system.machine().items()))
    others = [one.other_cores for figures in measured.values() for one in figures.rounds]
    print(f"other programs took {report.spread(others, '.2f')} cores during the rounds")


def keep(measured: Measured, options: Options) -> None:
    """Write the history file of this run."""
    at = datetime.now(UTC)
    options.results.mkdir(parents=True, exist_ok=True)
    file = options.results / f"{at:%Y-%m-%dT%H%M%SZ}.json"
    kept = {"at": at.isoformat(timespec="seconds"), **_circumstances(options)}
    file.write_text(json.dumps({**kept, **report.document(measured)}, indent=1) + "\n")
    print(f"kept in {file.name}")


def _circumstances(options: Options) -> Mapping[str, object]:
    """Say how it was measured; an address of a database may hold a password."""
    return {
        "command": f"bench/run.py --rounds {options.rounds} --seconds {options.seconds}"
        f" --connections {options.connections}{' --database ...' if options.database else ''}",
        "machine": system.machine(),
    }


def _now(theirs: Sequence[int], ours: Sequence[int]) -> Instant:
    """Read all clocks."""
    return Instant(time.perf_counter(), system.cpu_s(theirs), system.cpu_s(ours), system.busy_s())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
