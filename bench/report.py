"""Figures and what they mean: a table for people, a document for later comparison."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from statistics import median

from bench import subjects

CONVERSATIONS = 512
"""Open at once when memory is read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """
    One system under load for a while.

    Attributes:
        cpu_s: User and system time of the whole process tree.
        other_cores: What programs that have no part in this took meanwhile.
    """

    answers: int
    seconds: float
    cpu_s: float
    other_cores: float
    p50_ms: float
    p99_ms: float

    @property
    def cpu_us(self) -> float:
        """CPU per answered request, in microseconds."""
        return self.cpu_s / self.answers * 1e6


@dataclass(slots=True)
class Figures:
    """All rounds of one system, and its memory under ``CONVERSATIONS`` conversations."""

    rounds: list[Round] = field(default_factory=list)
    pss_mb: float | None = None

    def each(self, figure: Callable[[Round], float]) -> list[float]:
        """Return one figure of every round."""
        return [figure(one) for one in self.rounds]


Measured = Mapping[str, Figures]


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """
    A figure to reach, where less is better.

    Attributes:
        values: One a round; none where it was not measured.
    """

    name: str
    meaning: str
    reach: float
    fails_above: float
    values: Callable[[Measured], Sequence[float]]


def cpu_ratio(of: str, to: str) -> Callable[[Measured], Sequence[float]]:
    """Compare CPU per request, round by round."""

    def values(measured: Measured) -> Sequence[float]:
        if of not in measured or to not in measured:
            return []
        pairs = zip(measured[of].rounds, measured[to].rounds, strict=True)
        return [one.cpu_us / other.cpu_us for one, other in pairs]

    return values


def _memory(measured: Measured) -> Sequence[float]:
    pss_mb = measured[subjects.BALANCE].pss_mb
    return [] if pss_mb is None else [pss_mb]


GOALS = (
    Goal(
        name="R1",
        meaning="balance / bare proxy",
        reach=0.75,
        fails_above=1.0,
        values=cpu_ratio(subjects.BALANCE, subjects.PROXY),
    ),
    Goal(
        name="R2",
        meaning="balance / canned answer",
        reach=2.6,
        fails_above=3.5,
        values=cpu_ratio(subjects.BALANCE, subjects.CANNED_ANSWER),
    ),
    Goal(
        name="R9",
        meaning="401 for a wrong secret / canned answer",
        reach=1.9,
        fails_above=2.5,
        values=cpu_ratio(subjects.REFUSED, subjects.CANNED_ANSWER),
    ),
    Goal(
        name="R11",
        meaning="2 processes / 1 process",
        reach=1.1,
        fails_above=1.25,
        values=cpu_ratio(subjects.WORKERS, subjects.BALANCE),
    ),
    Goal(
        name="R14",
        meaning=f"MB per process at {CONVERSATIONS} conversations",
        reach=64,
        fails_above=96,
        values=_memory,
    ),
)


def systems(measured: Measured) -> Iterator[str]:
    """Write the table of systems."""
    yield "| System | CPU µs/request | requests/s | p50 ms | p99 ms | busy | memory MB |"
    yield "| --- | --- | --- | --- | --- | --- | --- |"
    for name, figures in measured.items():
        cells = [
            name,
            spread(figures.each(lambda one: one.cpu_us), ".1f"),
            spread(figures.each(lambda one: one.answers / one.seconds), ",.0f"),
            spread(figures.each(lambda one: one.p50_ms), ".1f"),
            spread(figures.each(lambda one: one.p99_ms), ".1f"),
            spread(figures.each(lambda one: one.cpu_s / one.seconds), ".2f"),
            "-" if figures.pss_mb is None else f"{figures.pss_mb:.0f}",
        ]
        yield f"| {' | '.join(cells)} |"


def goals(measured: Measured) -> Iterator[str]:
    """Write the table of goals."""
    yield "| | What | Measured | Goal | Fails above |"
    yield "| --- | --- | --- | --- | --- |"
    for goal in GOALS:
        found = spread(goal.values(measured), ".2f" if goal.reach < 10 else ".0f")  # noqa: PLR2004 - digits
        yield f"| {goal.name} | {goal.meaning} | {found} | {goal.reach} | {goal.fails_above} |"


def failed(measured: Measured) -> list[str]:
    """Name the goals that were missed by far."""
    return [
        goal.name
        for goal in GOALS
        if (values := goal.values(measured)) and median(values) > goal.fails_above
    ]


def spread(values: Sequence[float], form: str) -> str:
    """Write the median and, of several values, the lowest and the highest."""
    if not values:
        return "not measured"
    middle = format(median(values), form)
    if len(values) == 1:
        return middle
    return f"{middle} ({min(values):{form}}..{max(values):{form}})"


def document(measured: Measured) -> Mapping[str, object]:
    """Keep every round and every goal's values."""
    return {
        "systems": {name: asdict(figures) for name, figures in measured.items()},
        "goals": {goal.name: list(goal.values(measured)) for goal in GOALS},
    }
