"""A store and its regular check, on clocks that a test moves."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime

from gateway.app.store_check import StoreCheck
from gateway.core.storage import Writes
from gateway.store.kernel.clock import DatabaseClock
from gateway.store.kernel.database import DEFAULT_LIMITS, Limits
from gateway.telemetry.metrics.registry import MetricRegistry
from tests.world.metrics import INSTANCE, WORDS
from tests.world.store import open_store

MANY_S = 600.0
"""What a busy machine may be late by is far from what a test puts a clock to."""


@dataclass
class CheckedStore:
    """
    A store, its check and what that shows.

    Attributes:
        at: The wall clock.
        elapsed_s: The elapsed time.
    """

    url: str
    limits: Limits = DEFAULT_LIMITS
    at: datetime = field(default_factory=lambda: datetime.now(UTC))
    elapsed_s: float = 0.0

    def __post_init__(self) -> None:
        self.values = MetricRegistry(INSTANCE, WORDS)
        self.writes = Writes()
        self.store = open_store(self.url, self.limits)
        self.clock = DatabaseClock(lambda: self.at, lambda: self.elapsed_s, MANY_S)
        self.check = StoreCheck(
            store=self.store,
            clock=self.clock,
            writes=self.writes,
            monotonic=lambda: self.elapsed_s,
            values=self.values,
        )
