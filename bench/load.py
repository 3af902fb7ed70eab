"""Callers without rest: each asks again the moment it was answered."""

from __future__ import annotations

import asyncio
import re
import socket
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import cast

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
    """

    port: int
    request: bytes
    status: int = 200


@dataclass(slots=True)
class Tally:
    """
    What came back.

    Attributes:
        wrong: Answers of another status, and connections that were lost.
        latencies_s: Of each answer, in seconds from the request's last byte.
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

    def __init__(self, order: Order, tally: Tally) -> None:
        """Ask as ``order`` says, from the moment there is a connection."""
        self._request = order.request
        self._right = f"HTTP/1.1 {order.status} ".encode()
        self._tally = tally
        self._begun = b""
        self._asked_at = 0.0
        self.transport: asyncio.WriteTransport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Ask for the first time."""
        self.transport = cast("asyncio.WriteTransport", transport)
        self._ask()

    def data_received(self, data: bytes) -> None:
        """Count an answer when it is complete, and ask again."""
        self._begun += data
        if not is_complete(self._begun):
            return
        tally = self._tally
        tally.answers += 1
        tally.wrong += not self._begun.startswith(self._right)
        tally.latencies_s.append(time.perf_counter() - self._asked_at)
        if not tally.stopped:
            self._ask()

    def connection_lost(self, exc: Exception | None) -> None:
        """Count it, unless it was us who went."""
        self._tally.wrong += not self._tally.stopped

    def _ask(self) -> None:
        self._begun = b""
        self._asked_at = time.perf_counter()
        self.transport.write(self._request)


@asynccontextmanager
async def calling(order: Order, connections: int) -> AsyncIterator[Tally]:
    """Call on so many connections for the length of the block."""
    loop = asyncio.get_running_loop()
    tally = Tally()
    callers: list[Caller] = []
    try:
        for _ in range(connections):
            make = partial(Caller, order, tally)
            callers.append((await loop.create_connection(make, "127.0.0.1", order.port))[1])
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
