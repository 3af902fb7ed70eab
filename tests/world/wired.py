"""A listener of the test's own, with short deadlines and an application that tells what it saw."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Coroutine
from dataclasses import dataclass, field
from typing import Any

from gateway.domain.kernel.catalogue import ErrorCode
from gateway.net.server.http_server import Handler
from gateway.net.server.listener import Address, Listener
from gateway.net.server.peer import ServerLimits
from gateway.net.server.reply import Refusals, Reply
from gateway.net.server.request import Request

SHORT = ServerLimits(
    header_deadline_s=0.3,
    body_deadline_s=0.3,
    keepalive_s=0.6,
    linger_s=0.2,
    answer_deadline_s=0.4,
)

PATIENT = ServerLimits(
    header_deadline_s=600.0, body_deadline_s=600.0, keepalive_s=600.0, linger_s=5.0
)
"""For what must arrive, however busy the machine is."""

_TEXT = {"Content-Type": "text/plain"}


@dataclass(slots=True)
class Seen:
    """What reached the application, and what the listener refused itself."""

    requests: list[tuple[str, bytes]] = field(default_factory=list)
    refusals: list[tuple[str, str]] = field(default_factory=list)
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    body_within_s: float = 0.3

    def on_refusal(self, error: ErrorCode, trace_id: str) -> None:
        """Note a refusal by its public code."""
        self.refusals.append((error.code, trace_id))

    def answer(self, request: Request) -> Reply | Coroutine[Any, Any, Reply]:
        """Answer 200 unless the path says otherwise; at once if nothing is waited for."""
        held_or_sent = request.path == "/held" or request.method == "POST"
        if request.path == "/unread" or not held_or_sent:
            return self._answer(request, b"")
        return self._read(request)

    async def _read(self, request: Request) -> Reply:
        """Answer after reading the body."""
        body = await request.read(2**20, self.body_within_s)
        if request.path == "/held":
            self.requests.append((request.path, body))
            await self.gate.wait()
            return Reply()
        return self._answer(request, body)

    def _answer(self, request: Request, body: bytes) -> Reply:
        """Answer 200 unless the path says otherwise."""
        self.requests.append((request.path, body))
        if request.path == "/401":
            return Reply(status=401, headers=_TEXT, trace_id="of-the-application")
        if request.path == "/broken":
            message = f"it was {request.headers.get('X-Secret')}"
            raise LookupError(message)
        return Reply(body=request.path.encode(), headers=_TEXT, trace_id="of-the-application")


@contextlib.asynccontextmanager
async def listening(
    serves: Handler, seen: Seen, limits: ServerLimits = SHORT
) -> AsyncIterator[Listener]:
    """Listen for the length of a test."""
    listener = Listener(
        serves, at=Address(), limits=limits, refusals=Refusals(on_refusal=seen.on_refusal)
    )
    await listener.start()
    try:
        yield listener
    finally:
        seen.gate.set()
        await listener.close(1.0)
