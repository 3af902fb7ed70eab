"""Loading systems in turn, so that what else the machine does falls on all; and the tables."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from statistics import median, quantiles

from bench import load, system
from bench.limits import LIMITS, Limit

_FEWEST = 2
_MOST_TIMES = 20


class WrongAnswer(Exception):
    """A system did not answer as it must, or store what it said; its speed means nothing."""


@dataclass(frozen=True, slots=True)
class Pace:
    """A share of the requests a second of another row's last round; none waits for an answer."""

    of: str
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """
    One row of a table.

    Attributes:
        pid: The first of its processes; several subjects may share them.
        right: The answer as ``load.ask`` returns it; where it begins with a
            brace, the body alone; empty for one whose answers all differ.
        pace: None where each caller asks again the moment it was answered.
        database: The first process of its database server; None for a file.
        stored: Counts what its answers promise to have stored.
    """

    name: str
    pid: int
    order: load.Order
    right: str = ""
    connections: int = 1
    pace: Pace | None = None
    database: int | None = None
    stored: Callable[[], Awaitable[int]] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """
    One system under load for a while.

    Attributes:
        cpu_s: User and system time of the whole process tree.
        database_s: The same of its database server.
        other_cores: What programs that have no part in this took meanwhile.
        pss_mb: Memory of the process tree at the end, still under load.
    """

    answers: int
    seconds: float
    cpu_s: float
    database_s: float = 0.0
    other_cores: float
    p50_ms: float = 0.0
    p99_ms: float = 0.0
    pss_mb: float = 0.0

    @property
    def cpu_us(self) -> float:
        """CPU per answered request, in microseconds."""
        return self.cpu_s / self.answers * 1e6


@dataclass(slots=True)
class Measured:
    """
    Everything of one run.

    Attributes:
        rounds: Of every system, in the order in which they were taken.
        values: Of what is measured without rounds, such as memory of an idle process.
    """

    rounds: dict[str, list[Round]] = field(default_factory=dict)
    values: dict[str, list[float]] = field(default_factory=dict)

    def each(self, name: str, figure: Callable[[Round], float]) -> list[float]:
        """Return one figure of every round of a system."""
        return [figure(one) for one in self.rounds.get(name, ())]


@dataclass(frozen=True, slots=True)
class Goal:
    """
    A ratio of neighbouring rounds of two systems, held to the limit of its name.

    Attributes:
        figure: Of a round; CPU per request unless said otherwise.
    """

    name: str
    of: str
    to: str
    figure: Callable[[Round], float] = lambda one: one.cpu_us

    @property
    def limit(self) -> Limit:
        """What the ratio is held to."""
        return LIMITS[self.name]

    def ratios(self, measured: Measured) -> Sequence[float]:
        """Return one a round; none where it was not measured."""
        pairs = zip(
            measured.each(self.of, self.figure), measured.each(self.to, self.figure), strict=False
        )
        return [one / other for one, other in pairs]


@dataclass(frozen=True, slots=True)
class _Instant:
    """What the clocks say: the world's, the system's, its database's, all cores', and our own."""

    at: float
    theirs: float
    database: float
    busy: float
    ours: float


async def take(subjects: Sequence[Subject], rounds: int, seconds: float) -> dict[str, list[Round]]:
    """
    Load every system in turn, round after round; the first one, half as long, warms up.

    Raises:
        WrongAnswer: before, during or after the load.
    """
    taken: dict[str, list[Round]] = {subject.name: [] for subject in subjects}
    rates: dict[str, float] = {}
    await asyncio.to_thread(compare, subjects)
    for number in range(rounds + 1):
        for subject in subjects:
            rate = subject.pace and rates[subject.pace.of] * subject.pace.share
            one = await take_round(subject, seconds if number else seconds / 2, rate)
            rates[subject.name] = one.answers / one.seconds
            if number:
                taken[subject.name].append(one)
    await asyncio.to_thread(compare, subjects)
    return taken


def compare(subjects: Sequence[Subject]) -> None:
    """Ask each once and compare the whole answer; raises WrongAnswer."""
    for subject in subjects:
        if not subject.right:
            continue
        answer = load.ask(subject.order)
        said = answer.partition("\n\n")[2] if subject.right.startswith("{") else answer
        if said != subject.right:
            problem = f"{subject.name} said\n{answer}\n\ninstead of\n{subject.right}"
            raise WrongAnswer(problem)


async def take_round(subject: Subject, seconds: float, rate: float | None = None) -> Round:
    """Load one system, with so many requests a second or all it answers; raises WrongAnswer."""
    before = await subject.stored() if subject.stored else 0
    order, connections = subject.order, subject.connections
    calls = load.arriving(order, connections, rate) if rate else load.calling(order, connections)
    async with calls as tally:
        start, first = _now(subject), tally.answers
        await _answered(tally, seconds)
        end, answers = _now(subject), tally.answers - first
        pss_mb = system.pss_mb(system.tree(subject.pid))
    # what was due and answered behind the end counts; where callers ask again it does not
    latencies_s = tally.latencies_s[first : None if rate else first + answers]
    if tally.wrong or answers < _FEWEST:
        problem = f"{subject.name}: {tally.wrong} wrong of {answers} under load"
        raise WrongAnswer(problem)
    if subject.stored and (kept := await subject.stored() - before) != tally.answers:
        problem = f"{subject.name}: {tally.answers} told, {kept} stored"
        raise WrongAnswer(problem)
    cuts = quantiles(latencies_s, n=100)
    return lasted(
        start, end, answers, p50_ms=cuts[49] * 1000, p99_ms=cuts[98] * 1000, pss_mb=pss_mb
    )


def lasted(start: _Instant, end: _Instant, answers: int, **more: float) -> Round:
    """Make the round between two instants."""
    seconds, cpu_s, database_s = (
        end.at - start.at,
        end.theirs - start.theirs,
        end.database - start.database,
    )
    others_s = end.busy - start.busy - cpu_s - database_s - (end.ours - start.ours)
    return Round(
        answers=answers,
        seconds=seconds,
        cpu_s=cpu_s,
        database_s=database_s,
        other_cores=max(0.0, others_s / seconds),
        **more,
    )


async def _answered(tally: load.Tally, seconds: float) -> None:
    """Wait so long, and on a very busy machine until there is anything to divide by."""
    first = tally.answers
    for _ in range(_MOST_TIMES):
        await asyncio.sleep(seconds)
        if tally.answers >= first + _FEWEST:
            return


def _now(subject: Subject) -> _Instant:
    return instant(subject.pid, subject.database)


def instant(pid: int, database: int | None = None) -> _Instant:
    """Read all clocks; ours are those of this process and of what it started besides."""
    theirs, server = system.tree(pid), [] if database is None else system.tree(database)
    rest = set(system.tree(os.getpid())) - {*theirs, *server}
    return _Instant(
        time.perf_counter(),
        system.cpu_s(theirs),
        system.cpu_s(server),
        system.busy_s(),
        system.cpu_s(rest),
    )


def close(measured: Measured, goals: Sequence[Goal], *, check: bool) -> int:
    """Print everything; return the exit status, which only ``check`` makes 1."""
    print(*systems(measured), "", sep="\n")
    for name, taken in measured.values.items():
        print(f"- {name}: {spread(taken, '.1f')}")
    print("", *goal_table(goals, measured), "", sep="\n")
    print(", ".join(f"{name}: {told}" for name, told in system.machine().items()))
    others = [one.other_cores for taken in measured.rounds.values() for one in taken]
    print(f"other programs took {spread(others, '.2f')} cores during the rounds")
    missed = failed(goals, measured)
    for name in missed:
        print(f"{name} is beyond its limit")
    return 1 if missed and check else 0


def systems(measured: Measured) -> Iterator[str]:
    """Write the table of systems."""
    yield "| System | CPU µs/request | database µs | requests/s | p50 ms | p99 ms | busy | MB |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- |"
    for name in measured.rounds:
        cells = [
            name,
            spread(measured.each(name, lambda one: one.cpu_us), ".1f"),
            spread(measured.each(name, lambda one: one.database_s / one.answers * 1e6), ".0f"),
            spread(measured.each(name, lambda one: one.answers / one.seconds), ",.0f"),
            spread(measured.each(name, lambda one: one.p50_ms), ".2f"),
            spread(measured.each(name, lambda one: one.p99_ms), ".2f"),
            spread(measured.each(name, lambda one: one.cpu_s / one.seconds), ".2f"),
            spread(measured.each(name, lambda one: one.pss_mb), ".0f"),
        ]
        yield f"| {' | '.join(cells)} |"


def goal_table(goals: Sequence[Goal], measured: Measured) -> Iterator[str]:
    """Write the table of goals that were measured."""
    yield "| | What | Measured | Reach | Fails |"
    yield "| --- | --- | --- | --- | --- |"
    for goal in goals:
        if ratios := goal.ratios(measured):
            told = spread(ratios, ".2f")
            yield f"| {goal.name} | {goal.limit.meaning} | {told} | {goal.limit} |"


def failed(goals: Sequence[Goal], measured: Measured) -> list[str]:
    """Name the goals that were missed by far."""
    return [
        goal.name
        for goal in goals
        if (ratios := goal.ratios(measured)) and goal.limit.is_missed(median(ratios))
    ]


def spread(values: Sequence[float], form: str) -> str:
    """Write the median and, of several values, the lowest and the highest."""
    if not values:
        return "not measured"
    middle = format(median(values), form)
    if len(values) == 1:
        return middle
    return f"{middle} ({min(values):{form}}..{max(values):{form}})"
