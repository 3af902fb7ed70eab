"""
An event loop without threads, sockets or waiting: time is a number, order is drawn from a seed.

What is ready runs in an order drawn by chance, first come first served only within one task. When
nothing is ready, time jumps to the next timer.
"""

from __future__ import annotations

import asyncio
import hashlib
import heapq
from collections import deque
from collections.abc import Callable
from contextvars import Context, ContextVar, copy_context
from random import Random


class Process:
    """
    A process that can be stopped for a while or for ever, between any two steps.

    Attributes:
        stopped: Nothing of it runs; what becomes ready is held.
        plan: What happens before the n-th step, or before the n-th step of a call or of a commit.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.stopped = False
        self.held: list[asyncio.Handle] = []
        self.steps = 0
        self.call_steps = 0
        self.plan: dict[tuple[str, int], Callable[[], None]] = {}

    def step(self, *, in_call: bool) -> None:
        """Count a step that is about to be done; a plan may stop it."""
        self.steps += 1
        self._due(("any", self.steps))
        if in_call:
            self.call_steps += 1
            self._due(("call", self.call_steps))

    def _due(self, when: tuple[str, int]) -> None:
        planned = self.plan.pop(when, None)
        if planned is not None:
            planned()


OWNER: ContextVar[Process | None] = ContextVar("owner", default=None)
CALL: ContextVar[object | None] = ContextVar("call", default=None)
WRITES: ContextVar[bool] = ContextVar("writes", default=False)
"""Whether a step is one of those that commit for several callers at once."""
_MOST_STEPS = 60_000
_LANE: ContextVar[int] = ContextVar("lane", default=0)


class Stuck(Exception):
    """Nothing is ready and nothing ever will be, or it goes on for ever."""


class Loop(asyncio.BaseEventLoop):
    """
    A loop whose only inputs are its tasks and a source of chance.

    Attributes:
        steps: Callbacks run so far.
        broken: Raised out of the loop as soon as it is set.
        watch: Told every step, for a readable trace.
    """

    def __init__(self, chance: Random) -> None:
        super().__init__()
        self.steps = 0
        self.most_steps = _MOST_STEPS
        self.broken: Exception | None = None
        self.watch: Callable[[str], None] | None = None
        self.tasks: list[asyncio.Task[object]] = []
        self._chance = chance
        self._time = 0.0
        self._lanes: dict[int, deque[asyncio.Handle]] = {}
        self._digest = hashlib.sha256()
        self.set_exception_handler(_keep)

    def time(self) -> float:
        return self._time

    def digest(self) -> str:
        """A hash over every step and note so far."""
        return self._digest.hexdigest()

    def note(self, text: str) -> None:
        """Make a text part of the run's hash."""
        self._digest.update(text.encode())

    def create_task(self, coro, *, name=None, context=None):
        """Give every task a lane of its own, numbered as they come."""
        context = copy_context() if context is None else context.copy()
        lane = len(self.tasks) + 1
        context.run(_LANE.set, lane)
        task = asyncio.Task(coro, loop=self, name=name or f"task-{lane}", context=context)
        self.tasks.append(task)
        return task

    def release(self, process: Process) -> None:
        process.stopped = False
        held, process.held = process.held, []
        self._ready.extend(held)

    def _run_once(self) -> None:
        if self.broken is not None:
            raise self.broken
        handle = self._next()
        context: Context = handle._context
        owner = context.get(OWNER)
        if owner is not None and not owner.stopped:
            owner.step(in_call=context.get(CALL) is not None or context.get(WRITES, False))
        if owner is not None and owner.stopped:
            owner.held.append(handle)
            return
        self.steps += 1
        if self.steps > self.most_steps:
            raise Stuck
        lane = context.get(_LANE, 0)
        self._digest.update(b"%d %.6f;" % (lane, self._time))
        if self.watch is not None:
            self.watch(f"{owner.name if owner else '-':>6} {lane:>4} {_named(handle)}")
        handle._run()

    def _next(self) -> asyncio.Handle:
        while True:
            self._collect()
            if not self._lanes:
                self._pass_time()
                continue
            lane = self._choose()
            waiting = self._lanes[lane]
            handle = waiting.popleft()
            if not waiting:
                del self._lanes[lane]
            if not handle._cancelled:
                return handle

    def _choose(self) -> int:
        if len(self._lanes) == 1:
            return next(iter(self._lanes))
        # sorted: what a set of tasks wakes up comes in an order no seed decides
        lanes = sorted(self._lanes)
        return lanes[int(self._chance.random() * len(lanes))]

    def _collect(self) -> None:
        while self._scheduled and self._scheduled[0]._when <= self._time:
            timer = heapq.heappop(self._scheduled)
            timer._scheduled = False
            self._ready.append(timer)
        while self._ready:
            handle = self._ready.popleft()
            if not handle._cancelled:
                lane = handle._context.get(_LANE, 0)
                self._lanes.setdefault(lane, deque()).append(handle)

    def _pass_time(self) -> None:
        while self._scheduled and self._scheduled[0]._cancelled:
            heapq.heappop(self._scheduled)._scheduled = False
        if not self._scheduled:
            raise Stuck
        self._time = max(self._time, self._scheduled[0]._when)

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        """Leave it; it is dropped when its time comes."""

    def _write_to_self(self) -> None:
        """There is no other thread to be woken from."""


def _keep(loop: asyncio.AbstractEventLoop, context: dict[str, object]) -> None:
    """Report an unhandled error as a finding, not as a log line."""
    problem = context.get("exception")
    if isinstance(problem, Exception) and isinstance(loop, Loop) and loop.broken is None:
        loop.broken = problem


def _named(handle: asyncio.Handle) -> str:
    callback = handle._callback
    task = getattr(callback, "__self__", None)
    if isinstance(task, asyncio.Task):
        return f"{task.get_name()} {getattr(task.get_coro(), '__qualname__', '')}"
    return getattr(callback, "__qualname__", type(callback).__name__)
