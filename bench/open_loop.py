"""
Balances that are due at random instants, as callers who know nothing of one another send them.

A system is asked as fast as it answers, which is its capacity, then a share of that a second:
gateway and bare proxy, on uvloop, and where it is asked for on the loop of the standard library.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from bench.rounds import Goal, Pace, Round, Subject

HELD, EVERY = "open", "loops"
"""The figures: what has a limit, and what the choice of a loop goes by."""

_HELD: Final = (64, 0.8)
_CASES: Final = tuple(
    (connections, share) for connections in (64, 512) for share in (0.6, 0.8, 0.95)
)


def on_asyncio(system: str) -> str:
    """Name the row of a system on the loop of the standard library."""
    return f"{system}, on asyncio"


def paced(system: Subject) -> Iterator[tuple[str, Subject]]:
    """Ask a system at shares of its capacity; each with the figure that it is of."""
    for connections, share in _CASES:
        figure = HELD if (connections, share) == _HELD else EVERY
        pace, name = Pace(system.name, share), _row(system.name, connections, share)
        yield figure, replace(system, name=name, connections=connections, pace=pace)


def goal(name: str, of: str, to: str) -> Goal:
    """Compare the p99 of two systems, each at the same share of its own capacity."""
    return Goal(name, _row(of, *_HELD), _row(to, *_HELD), p99)


def p99(one: Round) -> float:
    """Return the 99th percentile of the answers of a round, in milliseconds."""
    return one.p99_ms


def _row(system: str, connections: int, share: float) -> str:
    return f"{system}, {connections} connections, {share:.0%} of capacity"
