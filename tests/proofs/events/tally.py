"""What a campaign counts, and how it says so."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

_SHOWN = 20


@dataclass(slots=True, kw_only=True)
class Tally:
    """
    The figures of one campaign.

    Attributes:
        changes: Ordered at the gateway and at the bank, by kind.
        kills: By what was killed; at a fail point, by its name.
        events: In the feeds at the end, by type.
        answers: Of the receiver, by what it did.
        others: Whatever else is worth a figure.
        violations: One line each; empty is what is hoped for.
    """

    seed: int
    changes: Counter[str] = field(default_factory=Counter)
    kills: Counter[str] = field(default_factory=Counter)
    events: Counter[str] = field(default_factory=Counter)
    answers: Counter[str] = field(default_factory=Counter)
    others: Counter[str] = field(default_factory=Counter)
    violations: list[str] = field(default_factory=list)
    began: float = field(default_factory=time.monotonic)

    @property
    def took_s(self) -> float:
        return time.monotonic() - self.began

    def lines(self) -> Iterator[str]:
        yield f"seed        {self.seed}"
        yield f"took        {self.took_s:.0f} s"
        yield f"changes     {self.changes.total()}: {_listed(self.changes)}"
        yield f"kills       {self.kills.total()}: {_listed(self.kills)}"
        yield f"events      {self.events.total()}: {_listed(self.events)}"
        yield f"receiver    {self.answers.total()} requests: {_listed(self.answers)}"
        yield f"besides     {_listed(self.others)}"
        yield f"violations  {len(self.violations)}"
        yield from (f"  {line}" for line in self.violations[:_SHOWN])


def _listed(counted: Counter[str]) -> str:
    return ", ".join(f"{name} {number}" for name, number in sorted(counted.items())) or "none"
