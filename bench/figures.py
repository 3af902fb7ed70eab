"""What was measured: rounds of systems under load, and figures that need none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import median


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """
    One system under load for a while.

    Attributes:
        cpu_s: User and system time of the whole process tree.
        other_cores: What programs that have no part in this took meanwhile.
        pss_mb: Memory of the process tree at the end, still under load.
    """

    answers: int
    seconds: float
    cpu_s: float
    other_cores: float
    p50_ms: float
    p99_ms: float
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
        values: Of what is measured without rounds, such as a start.
    """

    rounds: dict[str, list[Round]] = field(default_factory=dict)
    values: dict[str, list[float]] = field(default_factory=dict)

    def each(self, system: str, figure: Callable[[Round], float]) -> list[float]:
        """Return one figure of every round of a system."""
        return [figure(one) for one in self.rounds.get(system, ())]


def spread(values: Sequence[float], form: str) -> str:
    """Write the median and, of several values, the lowest and the highest."""
    if not values:
        return "not measured"
    middle = format(median(values), form)
    if len(values) == 1:
        return middle
    return f"{middle} ({min(values):{form}}..{max(values):{form}})"
