"""How late the event loop is: a task that sleeps and looks at the clock."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from math import ceil

from gateway.domain.kernel.clocks import Monotonic
from gateway.runtime.periodic_task import PeriodicTask, Schedule


class LoopLag:
    """
    Measures the delay of what is due, in seconds.

    With the defaults ``p95_s`` looks back two seconds, so one hiccup alone does
    not shed requests and the second one does.

    Attributes:
        task: Takes the samples in the background.
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
        # No pause between two samples: a loop that is blocked just then would go unseen.
        self.task = PeriodicTask("event loop lag", self.sample, Schedule(every_s=0.0))

    def p95_s(self) -> float:
        """Return the 95th percentile of the last samples; zero while they are too few. Cheap."""
        return self._p95_s

    def forget(self) -> None:
        """Drop the samples: a slow start says nothing about the load that follows."""
        self._samples.clear()
        self._p95_s = 0.0

    async def sample(self) -> None:
        """Sleep for one interval, and note how late the loop was."""
        due = self._clock() + self._interval_s
        await asyncio.sleep(self._interval_s)
        self._take(max(0.0, self._clock() - due))

    def _take(self, lag_s: float) -> None:
        """Keep one sample; of a few, the 95th percentile would be the worst one alone."""
        self._samples.append(lag_s)
        if len(self._samples) == self._samples.maxlen:
            self._p95_s = sorted(self._samples)[ceil(0.95 * len(self._samples)) - 1]
        self._observe(lag_s)
