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
        kills: Of gateways, by where: a fail point's name, ``random`` or ``clock``.
        faults: That hit, by what.
        answers: To partners, by status and code.
        ends: Of stored payouts, by state.
        violations: One line each; empty is what is hoped for.
    """

    seed: int
    bank: str = "sandbox"
    payouts: int = 0
    kills: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    others: Counter[str] = field(default_factory=Counter)
    answers: Counter[str] = field(default_factory=Counter)
    ends: Counter[str] = field(default_factory=Counter)
    violations: list[str] = field(default_factory=list)
    began: float = field(default_factory=time.monotonic)

    def lines(self) -> Iterator[str]:
        kills, faults = self.kills.total(), self.faults.total()
        yield f"bank        {self.bank}"
        yield f"seed        {self.seed}"
        yield f"took        {time.monotonic() - self.began:.0f} s"
        yield f"trials      {self.payouts} payouts"
        yield f"kills       {kills} of gateways: {_listed(self.kills)}"
        yield f"faults      {faults}: {_listed(self.faults)}"
        yield f"besides     {_listed(self.others)}"
        yield f"answers     {_listed(self.answers)}"
        yield f"ends        {_listed(self.ends)}"
        yield f"violations  {len(self.violations)}"
        yield from (f"  {line}" for line in self.violations[:_SHOWN])
        if not self.violations:
            yield (
                f"bound       with 95 % confidence below {_bound(self.payouts)} per payout,"
                f" {_bound(kills)} per kill, {_bound(faults)} per fault"
            )


def _listed(counted: Counter[str]) -> str:
    return ", ".join(f"{name} {number}" for name, number in sorted(counted.items())) or "none"


def _bound(trials: int) -> str:
    """Give 3/N, the rule of three; one where there were fewer than three trials."""
    return f"{min(1.0, 3 / max(trials, 1)):.2g}"
