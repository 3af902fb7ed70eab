"""
Callers on kept connections: each asks again the moment it was answered, or when a request is due.

The latter do not wait for a slow system to answer before they ask on: what had to wait for a free
connection is counted from when it was due.
"""

from __future__ import annotations

import asyncio
import ctypes
import itertools
import os
import random
import re
import socket
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import cast
from uuid import uuid4

_END = b"\r\n\r\n"
_LENGTH = re.compile(rb"\r\ncontent-length: *([0-9]+)", re.IGNORECASE)
_TRACE = re.compile(rb"\r\nx-trace-id: *([^\r]+)", re.IGNORECASE)
_BANNER = re.compile(rb"\r\nServer: [^\r]+")
_VARYING = re.compile(rb'(?<=\r\nDate: )[^\r]+|(?<=";r=)[0-9]+')
_PATIENCE_S = 10.0
_LAST_ANSWERS_S = 600.0
_SEED = 1
# timerfd_create(2): a loop's own timers are off by a millisecond, which is several requests
_LIBC = ctypes.CDLL(None, use_errno=True)
_ABSOLUTE = 1
_TIMER_FLAGS = os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """
    What is asked.

    Attributes:
        requests: The bytes of one after another; they go on where the last round ended.
        status: Of every right answer.
    """

    port: int
    requests: Iterator[bytes]
    status: int = 200


@dataclass(slots=True)
class Tally:
    """
    What came back.

    Attributes:
        open: Requests that wait for their answer.
        wrong: Answers of another status, and connections that were lost.
        latencies_s: Of each answer, in seconds, from the moment its request was sent, or due.
    """

    answers: int = 0
    open: int = 0
    wrong: int = 0
    latencies_s: list[float] = field(default_factory=list)
    stopped: bool = False


class Caller(asyncio.Protocol):
    """One kept connection; ``then`` is called after each answer."""

    def __init__(self, order: Order, tally: Tally, then: Callable[[Caller], None]) -> None:
        """Ask for what ``order`` says."""
        self._requests = order.requests
        self._right = b"HTTP/1.1 %d " % order.status
        self._tally = tally
        self._then = then
        self._begun = b""
        self._since = 0.0
        self.transport: asyncio.WriteTransport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Be there to be called."""
        self.transport = cast("asyncio.WriteTransport", transport)

    def data_received(self, data: bytes) -> None:
        """Count an answer when it is complete, and go on."""
        self._begun = self._begun + data if self._begun else data
        if not is_complete(self._begun):
            return
        tally = self._tally
        tally.open -= 1
        tally.answers += 1
        tally.wrong += not self._begun.startswith(self._right)
        tally.latencies_s.append(time.perf_counter() - self._since)
        self._then(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Count it, unless it was us who went."""
        self._tally.wrong += not self._tally.stopped

    def ask(self, since: float | None = None) -> None:
        """Send the next request, which was due at an instant; now if there is none."""
        self._begun = b""
        self._tally.open += 1
        self._since = time.perf_counter() if since is None else since
        self.transport.write(next(self._requests))


class Arrivals:
    """
    Requests that are due at random instants, always the same ones; the longest idle caller asks.

    Args:
        rate: Requests a second.
    """

    def __init__(self, rate: float) -> None:
        self._rate = rate
        self._random = random.Random(_SEED)
        self._next = 0.0
        self._waiting: deque[float] = deque()
        self._timer = _LIBC.timerfd_create(time.CLOCK_MONOTONIC, _TIMER_FLAGS)
        self.idle: deque[Caller] = deque()

    def begin(self) -> None:
        """Let requests be due from now on."""
        self._next = time.perf_counter()
        asyncio.get_running_loop().add_reader(self._timer, self._come_due)
        self._come_due()

    def end(self) -> None:
        """Let none be due any more; those that wait are still sent."""
        asyncio.get_running_loop().remove_reader(self._timer)
        os.close(self._timer)

    def free(self, caller: Caller) -> None:
        """Take a caller that was answered."""
        if self._waiting:
            caller.ask(self._waiting.popleft())
        else:
            self.idle.append(caller)

    def _come_due(self) -> None:
        """Send all that are due, and wake for the next one."""
        now = time.perf_counter()
        while self._next <= now:
            if self.idle:
                self.idle.popleft().ask(self._next)
            else:
                self._waiting.append(self._next)
            self._next += self._random.expovariate(self._rate)
        seconds, rest = divmod(self._next, 1)
        when = (ctypes.c_long * 4)(0, 0, int(seconds), int(rest * 1e9))
        _LIBC.timerfd_settime(self._timer, _ABSOLUTE, when, None)


@asynccontextmanager
async def calling(order: Order, connections: int) -> AsyncIterator[Tally]:
    """Call for the length of the block; then wait for the last answers."""
    tally = Tally()

    def go_on(caller: Caller) -> None:
        if not tally.stopped:
            caller.ask()

    async with _connected(order, connections, tally, go_on):
        yield tally


@asynccontextmanager
async def arriving(order: Order, connections: int, rate: float) -> AsyncIterator[Tally]:
    """Let so many requests a second be due for the length of the block; wait for all answers."""
    tally, arrivals = Tally(), Arrivals(rate)
    async with _connected(order, connections, tally, arrivals.free):
        while len(arrivals.idle) < connections and not tally.wrong:  # noqa: ASYNC110 - as below
            await asyncio.sleep(0.01)
        arrivals.begin()
        try:
            yield tally
        finally:
            arrivals.end()


@asynccontextmanager
async def _connected(
    order: Order, connections: int, tally: Tally, then: Callable[[Caller], None]
) -> AsyncIterator[None]:
    """Connect, and have each caller ask once; behind the block wait for the last answers."""
    loop = asyncio.get_running_loop()
    callers: list[Caller] = []
    try:
        for _ in range(connections):
            make = partial(Caller, order, tally, then)
            callers.append((await loop.create_connection(make, "127.0.0.1", order.port))[1])
        for caller in callers:
            caller.ask()
        yield
    finally:
        tally.stopped = True
        end = loop.time() + _LAST_ANSWERS_S
        while tally.open > tally.wrong and loop.time() < end:  # noqa: ASYNC110 - counted in callbacks
            await asyncio.sleep(0.01)
        for caller in callers:
            caller.transport.abort()


def traced(request: bytes) -> Iterator[bytes]:
    """Repeat a request, each time with a trace id of its own, as callers' programs send it."""
    begin, head = str(uuid4())[:24].encode(), request.removesuffix(b"\r\n")
    return (b"%sX-Trace-ID: %s%012d\r\n\r\n" % (head, begin, each) for each in itertools.count())


def is_complete(answer: bytes) -> bool:
    """Return whether all of an answer is here; one without a length never is."""
    head, separator, body = answer.partition(_END)
    length = _LENGTH.search(head)
    return bool(separator) and length is not None and len(body) >= int(length[1])


def ask(order: Order) -> str:
    """
    Ask once and return the whole answer in a form that can be compared.

    What differs from answer to answer is masked: the trace id, the time, what
    is left of a quota; a banner is left out. Headers are sorted.

    Raises:
        OSError: nobody answers, within ten seconds.
    """
    answer = b""
    with socket.create_connection(("127.0.0.1", order.port), _PATIENCE_S) as connection:
        connection.sendall(next(order.requests))
        while not is_complete(answer):
            piece = connection.recv(65536)
            if not piece:
                raise ConnectionResetError(order.port)
            answer += piece
    trace = _TRACE.search(answer)
    told = answer if trace is None else answer.replace(trace[1], b"*")
    head, _, body = _VARYING.sub(b"*", _BANNER.sub(b"", told)).partition(_END)
    status, *headers = head.decode("latin-1").split("\r\n")
    return "\n".join([status, *sorted(headers), "", body.decode()])
