"""
What a ratio is to reach, and where ``--check`` says no.

The table of docs/performance.md has the same rows; a test compares them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Limit:
    """
    Of one ratio, which is of CPU per request unless ``meaning`` says otherwise.

    Attributes:
        reach: What is aimed at.
        fails: Where the median is too bad: below it where more is better, else above it.
    """

    meaning: str
    reach: float
    fails: float
    more_is_better: bool = False

    def is_missed(self, ratio: float) -> bool:
        """Return whether a median is too bad."""
        return ratio < self.fails if self.more_is_better else ratio > self.fails

    def __str__(self) -> str:
        return f"{self.reach:g} | {'below' if self.more_is_better else 'above'} {self.fails:g}"


LIMITS: Final[Mapping[str, Limit]] = {
    "R1": Limit("balance / bare aiohttp proxy", 0.92, 1.08),
    "R2": Limit("balance / aiohttp with a canned answer", 4, 5.5),
    "R3": Limit("FastAPI + aiohttp client / balance", 1.9, 1.65, more_is_better=True),
    "R4": Limit("Litestar on Granian + aiohttp client / balance", 1.65, 1.4, more_is_better=True),
    "R7": Limit("p99 at 512 connections, bank at 20 ms / bare proxy", 1.2, 1.5),
    "R9": Limit("401 for a mistyped secret / canned answer", 3, 4),
    "R10": Limit("balance with spans of one in twenty / balance", 1.04, 1.2),
    "R14": Limit("memory at 512 connections / bare proxy", 3.3, 4),
    "R15": Limit("balance at Woovi / at the sandbox bank", 1.1, 1.18),
    "R16": Limit("p99 at 80 % of capacity, 64 connections / bare proxy", 1.2, 2),
    "R20": Limit("payout / balance, SQLite", 9.5, 11.5),
    "R21": Limit("payout / balance, PostgreSQL", 9.5, 10.5),
    "R22": Limit("payout, SQLite / the same of the commit before", 1, 1.05),
    "R23": Limit("payout, PostgreSQL / the same of the commit before", 1, 1.05),
    "R24": Limit("payout looked at / the same of the commit before", 1, 1.2),
    "R25": Limit("payout of a company with an endpoint / without one, SQLite", 1.02, 1.05),
    "R26": Limit("payout of a company with an endpoint / without one, PostgreSQL", 1.02, 1.05),
}
