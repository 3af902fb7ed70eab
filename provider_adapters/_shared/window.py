"""Calls and failures of the last seconds, in a fixed amount of memory."""

from __future__ import annotations

_SLICES = 10


class Tally:
    """
    How many calls there were in the last ``span_s`` seconds, and how many failed.

    Kept in ten slices that are dropped whole, so it forgets up to a tenth of
    the span early.
    """

    __slots__ = ("_newest", "_slice_s", "_slices", "calls", "failures")

    def __init__(self, span_s: float) -> None:
        self._slice_s = span_s / _SLICES
        self._slices = [[0, 0] for _ in range(_SLICES)]
        self._newest = 0
        self.calls = 0
        self.failures = 0

    def add(self, now: float, *, failed: bool) -> None:
        """Count a call that ended at ``now``, seconds of a clock that never runs backwards."""
        newest = int(now / self._slice_s)
        if newest != self._newest:
            self._turn(newest)
        counted = self._slices[newest % _SLICES]
        counted[0] += 1
        self.calls += 1
        if failed:
            counted[1] += 1
            self.failures += 1

    def _turn(self, newest: int) -> None:
        """Drop the slices that have become too old."""
        for at in range(max(self._newest + 1, newest - _SLICES + 1), newest + 1):
            old = self._slices[at % _SLICES]
            self.calls -= old[0]
            self.failures -= old[1]
            old[0] = old[1] = 0
        self._newest = newest
