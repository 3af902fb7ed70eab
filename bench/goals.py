"""
StoreGauges to reach, each made of what one run measured; less is better in all of them.

Absolute figures are shown beside what was set for them, and fail nothing: another
machine has others. Ratios to a system of the same run fail.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from bench.figures import Measured, Round, spread

Values = Callable[[Measured], Sequence[float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """
    A figure to reach.

    Attributes:
        values: One a round; none where it was not measured.
        reach, aim: What was set, and what would be better still.
        fails_above: Where ``--check`` says no; of a ratio alone, which a slower
            machine does not change. None where nothing was set.
    """

    name: str
    meaning: str
    reach: float
    aim: float | None = None
    fails_above: float | None = None
    values: Values


def cpu_ratio(of: str, to: str) -> Values:
    """Compare CPU per request, round by round."""
    return _ratio(of, to, lambda one: one.cpu_us)


def cpu_over(of: str, to: str) -> Values:
    """Subtract CPU per request, in microseconds, round by round."""

    def values(measured: Measured) -> Sequence[float]:
        pairs = zip(_cpu_us(measured, of), _cpu_us(measured, to), strict=False)
        return [one - other for one, other in pairs]

    return values


def p50_ms(of: str) -> Values:
    """Take the median latency of every round."""
    return lambda measured: measured.each(of, _p50_ms)


def p99_ms(of: str, over: str = "") -> Values:
    """Take the 99th percentile of every round, or how far it is above another system's."""

    def values(measured: Measured) -> Sequence[float]:
        own = measured.each(of, _p99_ms)
        if not over:
            return own
        return [one - other for one, other in zip(own, measured.each(over, _p99_ms), strict=False)]

    return values


def p50_ratio(of: str, to: str) -> Values:
    """Compare median latencies, round by round."""
    return _ratio(of, to, _p50_ms)


def p99_ratio(of: str, to: str) -> Values:
    """Compare 99th percentiles, round by round."""
    return _ratio(of, to, _p99_ms)


def tail(of: str) -> Values:
    """Compare the 99th percentile with the median, round by round."""
    return lambda measured: measured.each(of, lambda one: one.p99_ms / one.p50_ms)


def memory_mb(of: str) -> Values:
    """Take the memory of every round."""
    return lambda measured: measured.each(of, _pss_mb)


def memory_ratio(of: str, to: str) -> Values:
    """Compare memory, round by round."""
    return _ratio(of, to, _pss_mb)


def value_over_cpu(of: str, to: str) -> Values:
    """Compare microseconds measured without rounds with a system's CPU per request."""

    def values(measured: Measured) -> Sequence[float]:
        system = _cpu_us(measured, to)
        return [one / median(system) for one in measured.values.get(of, [])] if system else []

    return values


def value(of: str) -> Values:
    """Take what was measured without rounds."""
    return lambda measured: measured.values.get(of, [])


def table(goals: Sequence[Goal], measured: Measured) -> Iterator[str]:
    """Write the table of goals."""
    yield "| | What | Measured | Reach | Aim | Fails above |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for goal in goals:
        found = spread(goal.values(measured), _form(goal))
        figures = (goal.reach, goal.aim, goal.fails_above)
        cells = ("-" if each is None else f"{each:g}" for each in figures)
        yield f"| {goal.name} | {goal.meaning} | {found} | {' | '.join(cells)} |"


def failed(goals: Sequence[Goal], measured: Measured) -> list[str]:
    """Name the goals that were missed by far."""
    return [
        goal.name
        for goal in goals
        if goal.fails_above is not None
        and (values := goal.values(measured))
        and median(values) > goal.fails_above
    ]


def _form(goal: Goal) -> str:
    """Write as many digits as mean something."""
    return ".2f" if goal.reach < 10 else ".0f"  # noqa: PLR2004 - digits


def _ratio(of: str, to: str, figure: Callable[[Round], float]) -> Values:
    """Compare one figure of two systems, round by round."""

    def values(measured: Measured) -> Sequence[float]:
        pairs = zip(measured.each(of, figure), measured.each(to, figure), strict=False)
        return [one / other for one, other in pairs]

    return values


def _cpu_us(measured: Measured, system: str) -> Sequence[float]:
    return measured.each(system, lambda one: one.cpu_us)


def _p50_ms(one: Round) -> float:
    return one.p50_ms


def _pss_mb(one: Round) -> float:
    return one.pss_mb


def _p99_ms(one: Round) -> float:
    return one.p99_ms
