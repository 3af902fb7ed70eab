"""Loading systems in turn, so that what else the machine does falls on all alike."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import quantiles

from bench import load, system
from bench.figures import Round

_ONE = load.Load(connections=1)
_FEWEST = 2
_MOST_TIMES = 20
_WARMING_LOOKS, _WARMING_LOOK_S = 1200, 0.1


class WrongAnswer(Exception):
    """A system did not answer as it must; its speed means nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """
    One row of a table.

    Attributes:
        pid: The first of its processes; several subjects may share them.
        right: The answer as ``load.ask`` returns it; where it begins with a
            brace, the body alone.
        load: How it is asked.
        figure: What it is measured for, a word for ``--only``.
        warming: Answers before the first round.
    """

    name: str
    pid: int
    order: load.Order
    right: str
    load: load.Load = _ONE
    figure: str = ""
    warming: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Turns:
    """
    How many rounds, and how long each; a quarter of that is spent on warming up before.

    Attributes:
        warming_s: Of load on every system before the first round.
    """

    rounds: int
    seconds: float
    warming_s: float = 0.0


@dataclass(frozen=True, slots=True)
class _Instant:
    """What the clocks say: the world's, a process tree's, ours with the stub, and all cores'."""

    at: float
    theirs: float
    ours: float
    busy: float


async def take(subjects: Sequence[Subject], turns: Turns, bank: int) -> dict[str, list[Round]]:
    """
    Load every system in turn, round after round.

    Args:
        subjects: Running.
        turns: How often and how long.
        bank: The stub's process; with us, what the others' share is not.

    Raises:
        WrongAnswer: before, during or after the load.
    """
    taken: dict[str, list[Round]] = {subject.name: [] for subject in subjects}
    await asyncio.to_thread(compare, subjects)
    for subject in subjects if turns.warming_s else ():
        await take_round(subject, turns.warming_s, bank)
    for subject in subjects:
        await _warm(subject)
    for _ in range(turns.rounds):
        for subject in subjects:
            one = await take_round(subject, turns.seconds, bank)
            taken[subject.name].append(one)
    await asyncio.to_thread(compare, subjects)
    return taken


def compare(subjects: Sequence[Subject]) -> None:
    """Ask each once and compare the whole answer; raises WrongAnswer."""
    for subject in subjects:
        answer = load.ask(subject.order)
        said = answer.partition("\n\n")[2] if subject.right.startswith("{") else answer
        if said != subject.right:
            problem = f"{subject.name} said\n{answer}\n\ninstead of\n{subject.right}"
            raise WrongAnswer(problem)


async def take_round(subject: Subject, seconds: float, bank: int) -> Round:
    """Load one system; raises WrongAnswer."""
    theirs = system.tree(subject.pid)
    ours = [pid for pid in (os.getpid(), bank) if pid not in theirs]
    async with load.calling(subject.order, subject.load) as tally:
        await asyncio.sleep(seconds / 4)
        tally.clear()
        before = _now(theirs, ours)
        await _answered(tally, seconds)
        after, answers, latencies_s = _now(theirs, ours), tally.answers, tally.latencies_s[:]
        pss_mb = system.pss_mb(theirs)
    if tally.wrong or answers < _FEWEST:
        problem = f"{subject.name}: {tally.wrong} wrong of {answers} under load"
        raise WrongAnswer(problem)
    cuts = quantiles(latencies_s, n=100)
    lasted_s, cpu_s = after.at - before.at, after.theirs - before.theirs
    others_s = after.busy - before.busy - cpu_s - (after.ours - before.ours)
    return Round(
        answers=answers,
        seconds=lasted_s,
        cpu_s=cpu_s,
        other_cores=max(0.0, others_s / lasted_s),
        p50_ms=cuts[49] * 1000,
        p99_ms=cuts[98] * 1000,
        pss_mb=pss_mb,
    )


async def _warm(subject: Subject) -> None:
    """Load one system until it has answered as often as it wants to, at most two minutes."""
    if not subject.warming:
        return
    async with load.calling(subject.order, subject.load) as tally:
        for _ in range(_WARMING_LOOKS):
            await asyncio.sleep(_WARMING_LOOK_S)
            if tally.answers >= subject.warming:
                return


async def _answered(tally: load.Tally, seconds: float) -> None:
    """Wait so long, and on a very busy machine until there is anything to divide by."""
    for _ in range(_MOST_TIMES):
        await asyncio.sleep(seconds)
        if tally.answers >= _FEWEST:
            return


def _now(theirs: Sequence[int], ours: Sequence[int]) -> _Instant:
    """Read all clocks."""
    return _Instant(time.perf_counter(), system.cpu_s(theirs), system.cpu_s(ours), system.busy_s())
