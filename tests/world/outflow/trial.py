"""A trial of the outflow guard: false stops of companies without a thief, and thefts of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from gateway.outflow.envelope import Excess
from tests.world.outflow.kinds import KINDS, large, middling
from tests.world.outflow.replay import Subject, Theft, false_stops, thefts

_LARGE_ON: Final = (50, 54, 57, 59)
"""Three working days and a Saturday."""
_MIDDLING_ON: Final = (48, 55, 62)
"""Sundays."""
MOST_PART: Final = 0.05
MOST_OUTSIDE: Final = 3


@dataclass(slots=True)
class Trial:
    """
    The result of some lives.

    Attributes:
        days: Days on which the guard might have stopped.
        false: Its stops: seed, day, who and what.
    """

    days: int = 0
    false: list[tuple[int, int, Subject, Excess]] = field(default_factory=list)
    large: list[Theft] = field(default_factory=list)
    middling: list[Theft] = field(default_factory=list)

    def add(self, other: Trial) -> None:
        """Add what came of others."""
        self.days += other.days
        self.false += other.false
        self.large += other.large
        self.middling += other.middling


def lived(name: str, seed: int, days: int) -> Trial:
    """Let a company live for some days."""
    kind = KINDS[name]
    false = [(seed, *each) for each in false_stops(kind, seed, days)]
    return Trial(days=days - kind.judged_from, false=false)


def robbed(name: str, seed: int) -> Trial:
    """Rob a company on some days, in both ways."""
    kind = KINDS[name]
    return Trial(
        large=[*thefts(kind, seed, _LARGE_ON, large)],
        middling=[*thefts(kind, seed, _MIDDLING_ON, middling)],
    )


def missed(found: Sequence[Theft]) -> list[Theft]:
    """Return the thefts that took too much: four outside, or a twentieth of a normal day."""
    return [
        each
        for each in found
        if each.by is None or each.outside > MOST_OUTSIDE or each.part > MOST_PART
    ]


def row(name: str, of: Trial) -> str:
    """Return a row of the table in docs/outflow.md."""
    outside = max((each.outside for each in (*of.large, *of.middling)), default=0)
    cells = (name, f"{of.days:,}", len(of.false), *_kept(of.large), *_kept(of.middling), outside)
    return f"| {' | '.join(map(str, cells))} |"


def _kept(found: Sequence[Theft]) -> tuple[str, str]:
    """Return how many thefts took little enough, and the parts taken: the middle and the most."""
    if not found:
        return "", ""
    parts = sorted(100 * each.part for each in found)
    kept = len(found) - len(missed(found))
    return f"{kept} of {len(found)}", f"{parts[len(parts) // 2]:.1f} %, {parts[-1]:.1f} %"
