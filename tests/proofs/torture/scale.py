"""How much a campaign does."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """
    The least a campaign does before it ends, and how long it may take at most.

    Attributes:
        payouts: Trials; each is one reference.
        kills: ``kill -9`` of gateways, at fail points and at random.
        faults: Faults that hit: of the bank, and connections lost on the way.
        phases: Between two of them every process is killed and the clocks are moved on, so that
            leases and quiet periods end.
        partners: At work at the same time.
        seconds: The time for all phases together; driving to rest comes after it.
    """

    payouts: int
    kills: int
    faults: int
    phases: int
    partners: int
    seconds: float


SCALES = {
    "part": Scale(payouts=40, kills=2, faults=12, phases=1, partners=16, seconds=60),
    "smoke": Scale(payouts=150, kills=6, faults=60, phases=2, partners=32, seconds=60),
    "ci": Scale(payouts=600, kills=15, faults=300, phases=2, partners=64, seconds=240),
    "full": Scale(payouts=2_000, kills=50, faults=1_000, phases=4, partners=64, seconds=900),
    "release": Scale(
        payouts=1_000_000, kills=10_000, faults=250_000, phases=60, partners=64, seconds=3_600
    ),
}
