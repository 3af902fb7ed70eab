"""How late the event loop is: a task that sleeps and looks at the clock."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from math import ceil

from gateway.domain.kernel.clocks import Monotonic


class LoopLag:
    """
    Measures the delay of what is due, in seconds.

    With the defaults ``p95_s`` looks back two seconds, so one hiccup alone does
    not shed requests and the second one does.
    """

    def __init__(
        self,
        observe: Callable[[float], None],
        clock: Monotonic,
        *,
        interval_s: float = 0.1,
        samples: int = 20,
    ) -> None:
        """Tell ``observe`` of every sample; keep the last ``samples``."""
        self._observe = observe
        self._clock = clock
        self._interval_s = interval_s
        self._samples: deque[float] = deque(maxlen=samples)
        self._p95_s = 0.0
        self._task: asyncio.Task[None] | None = None

    def p95_s(self) -> float:
        """Return the 95th percentile of the last samples; zero while they are too few. Cheap."""
        return self._p95_s

    def start(self) -> None:
        """Begin to measure the running loop; begun twice is begun once."""
        if self._task is None:
            self._task = asyncio.create_task(self._run())  # noqa: TID251 - stop() ends it

    def forget(self) -> None:
        """Begin anew: what was slow until now says nothing of what comes."""
        self._samples.clear()
        self._p95_s = 0.0

    async def stop(self) -> None:
        """End; the last figure stays."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def _run(self) -> None:
        """Sleep and compare, for ever."""
        while True:
            due = self._clock() + self._interval_s
            await asyncio.sleep(self._interval_s)
            self._take(max(0.0, self._clock() - due))

    def _take(self, lag_s: float) -> None:
        """Keep one sample; of a few, the 95th percentile would be the worst one alone."""
        self._samples.append(lag_s)
        if len(self._samples) == self._samples.maxlen:
            self._p95_s = sorted(self._samples)[ceil(0.95 * len(self._samples)) - 1]
        self._observe(lag_s)
