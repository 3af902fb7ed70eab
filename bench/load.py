"""
Callers on kept connections.

In a closed loop each asks again the moment it was answered. In an open loop
requests are due at even intervals, whoever is still being answered.
"""

from __future__ import annotations

import asyncio
import re
import socket
import time
from collections import deque
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import cycle
from typing import cast

from bench.ticking import ticks

_END = b"\r\n\r\n"
_LENGTH = re.compile(rb"\r\ncontent-length: *([0-9]+)", re.IGNORECASE)
_TRACE = re.compile(rb"\r\nx-trace-id: *([^\r]+)", re.IGNORECASE)
_VARYING = re.compile(rb'(?<=\r\nDate: )[^\r]+|(?<=\r\nServer: )[^\r]+|(?<=";r=)[0-9]+')
_PATIENCE_S = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """
    What is asked, and how often at once.

    Attributes:
        request: The bytes of one request without a body.
        status: Of every right answer.
        others: Requests that take turns with ``request``.
        turns: Requests instead of these; they go on where the last round ended.
    """

    port: int
    request: bytes
    status: int = 200
    others: Sequence[bytes] = ()
    turns: Iterator[bytes] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """
    How it is asked.

    Attributes:
        connections: Kept open, one request at a time on each.
        per_s: Requests due in a second; zero is a closed loop.
    """

    connections: int
    per_s: int = 0


@dataclass(slots=True)
class Tally:
    """
    What came back.

    Attributes:
        wrong: Answers of another status, and connections that were lost.
        latencies_s: Of each answer, in seconds, from the moment its request was
            sent; in an open loop from the moment it was due, so that a system
            that stands still is not asked less.
    """

    answers: int = 0
    wrong: int = 0
    latencies_s: list[float] = field(default_factory=list)
    stopped: bool = False

    def clear(self) -> None:
        """Begin to count anew; what was wrong stays so."""
        self.answers = 0
        self.latencies_s.clear()


class Caller(asyncio.Protocol):
    """One kept connection."""

    def __init__(self, order: Order, tally: Tally, calls: Calls) -> None:
        """Ask as ``order`` says when ``calls`` has something for us."""
        self._right = f"HTTP/1.1 {order.status} ".encode()
        self._tally = tally
        self._calls = calls
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
        tally.answers += 1
        tally.wrong += not self._begun.startswith(self._right)
        tally.latencies_s.append(time.perf_counter() - self._since)
        if not tally.stopped:
            self._calls.free(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Count it, unless it was us who went."""
        self._tally.wrong += not self._tally.stopped

    def ask(self, request: bytes, since: float) -> None:
        """Send a request that was due at ``since``."""
        self._begun = b""
        self._since = since
        self.transport.write(request)


class Calls:
    """Who asks next, and when."""

    def __init__(self, order: Order, load: Load) -> None:
        """Give out the requests of ``order`` in turn."""
        self._requests = order.turns or cycle([order.request, *order.others])
        self._interval_s = 1 / load.per_s if load.per_s else 0.0
        self._idle: deque[Caller] = deque()
        self._due: deque[float] = deque()
        self._next = 0.0

    def free(self, caller: Caller) -> None:
        """Have a caller ask at once: always in a closed loop, in an open one if any is due."""
        if not self._interval_s:
            caller.ask(next(self._requests), time.perf_counter())
        elif self._due:
            caller.ask(next(self._requests), self._due.popleft())
        else:
            self._idle.append(caller)

    def begin(self) -> None:
        """Count intervals from now on."""
        self._next = time.perf_counter()

    def tick(self) -> None:
        """Send whatever is due by now; what finds nobody idle waits, and its wait counts."""
        now = time.perf_counter()
        while self._next <= now:
            if self._idle:
                self._idle.popleft().ask(next(self._requests), self._next)
            else:
                self._due.append(self._next)
            self._next += self._interval_s


@asynccontextmanager
async def calling(order: Order, load: Load) -> AsyncIterator[Tally]:
    """Call for the length of the block."""
    loop, tally, calls = asyncio.get_running_loop(), Tally(), Calls(order, load)
    callers: list[Caller] = []
    with ExitStack() as ticking:
        try:
            for _ in range(load.connections):
                make = partial(Caller, order, tally, calls)
                callers.append((await loop.create_connection(make, "127.0.0.1", order.port))[1])
            for caller in callers:
                calls.free(caller)
            if load.per_s:
                calls.begin()
                ticking.enter_context(ticks(1 / load.per_s, calls.tick))
            yield tally
        finally:
            tally.stopped = True
            for caller in callers:
                caller.transport.abort()


def is_complete(answer: bytes) -> bool:
    """Say whether all of an answer is here; one without a length never is."""
    head, separator, body = answer.partition(_END)
    length = _LENGTH.search(head)
    return bool(separator) and length is not None and len(body) >= int(length[1])


def ask(order: Order) -> str:
    """
    Ask once and return the whole answer in a form that can be compared.

    What differs from answer to answer is masked: the trace id, the time, what
    is left of a quota, and a banner with versions. Headers are sorted.

    Raises:
        OSError: nobody answers, within ten seconds.
    """
    answer = b""
    with socket.create_connection(("127.0.0.1", order.port), _PATIENCE_S) as connection:
        connection.sendall(order.request)
        while not is_complete(answer):
            piece = connection.recv(65536)
            if not piece:
                raise ConnectionResetError(order.port)
            answer += piece
    return _comparable(answer)


def _comparable(answer: bytes) -> str:
    head, _, body = _VARYING.sub(b"*", _without_trace(answer)).partition(_END)
    status, *headers = head.decode("latin-1").split("\r\n")
    return "\n".join([status, *sorted(headers), "", body.decode()])


def _without_trace(answer: bytes) -> bytes:
    trace = _TRACE.search(answer)
    return answer if trace is None else answer.replace(trace[1], b"*")
