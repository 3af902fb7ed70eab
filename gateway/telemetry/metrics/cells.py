"""
Counters, gauges and histograms as plain numbers: a tenth of the cost of prometheus-client's own.

Only the thread of the event loop changes them, so they need no lock; scrapes read them on another
thread.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate
from time import time

from prometheus_client.samples import Exemplar

Bucket = tuple[str, float] | tuple[str, float, Exemplar]
"""Upper bound as text, number of durations up to it, and the exemplar if there is one."""


class Counter:
    """One series of a counter; count with ``value += 1``."""

    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value: float = 0


class Gauge:
    """One series of a gauge."""

    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value: float = 0

    def set(self, value: float) -> None:
        """Show ``value`` from now on."""
        self.value = value


class Histogram:
    """
    One series of a histogram of durations in seconds.

    Attributes:
        counts: Durations in each bucket alone; those above every bound are in the last one.
        total: Sum of the durations.
    """

    __slots__ = ("_bounds", "_exemplars", "counts", "total")

    def __init__(self, bounds: Sequence[float] = ()) -> None:
        """Count in buckets with these upper bounds, in ascending order, and in one above them."""
        self._bounds = bounds
        self._exemplars: dict[int, Exemplar] = {}
        self.counts = [0] * (len(bounds) + 1)
        self.total = 0.0

    def observe(self, seconds: float, trace_id: str = "") -> None:
        """
        Add a duration; a trace id becomes the exemplar of its bucket.

        OpenMetrics allows 120 characters for the id, which is not checked here.
        """
        place = bisect_left(self._bounds, seconds)
        self.counts[place] += 1
        self.total += seconds
        if trace_id:
            self._exemplars[place] = Exemplar({"trace_id": trace_id}, seconds, time())

    def buckets(self) -> list[Bucket]:
        """Return the buckets as prometheus-client's ``HistogramMetricFamily`` takes them."""
        names = (*(str(float(bound)) for bound in self._bounds), "+Inf")
        shown: list[Bucket] = list(zip(names, accumulate(self.counts.copy()), strict=True))
        for place, exemplar in self._exemplars.copy().items():
            shown[place] = (*shown[place][:2], exemplar)
        return shown
