"""A listener of the test's own, with short deadlines and an application that records requests."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from aiohttp import web
from aiohttp.typedefs import Handler

from gateway.core.catalogue import ErrorCode
from gateway.core.errors import BODY_TOO_LARGE, MALFORMED_REQUEST, REQUEST_TIMEOUT
from gateway.net.server.listener import Address, Listener
from gateway.net.server.peer import ServerLimits
from gateway.net.server.refusals import Refusals
from gateway.net.server.request import (
    BodyTooLarge,
    MalformedBody,
    RequestTimeout,
    expect_nothing,
    read_body,
    target,
)

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

_TEXT = {"Content-Type": "text/plain", "X-Trace-ID": "of-the-application"}
_UNREAD = {
    BodyTooLarge: BODY_TOO_LARGE,
    RequestTimeout: REQUEST_TIMEOUT,
    MalformedBody: MALFORMED_REQUEST,
}


@dataclass(slots=True)
class Seen:
    """What reached the application, and what the listener refused itself."""

    requests: list[tuple[str, bytes]] = field(default_factory=list)
    refusals: list[tuple[str, str]] = field(default_factory=list)
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    body_within_s: float = 0.3

    def on_refusal(self, error: ErrorCode, trace_id: str) -> None:
        self.refusals.append((error.code, trace_id))

    @web.middleware
    async def observe(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Refuse a body that could not be read."""
        try:
            return await handler(request)
        except tuple(_UNREAD) as problem:
            return self._refusal(_UNREAD[type(problem)])

    def _refusal(self, error: ErrorCode) -> web.Response:
        refused = Refusals(on_refusal=self.on_refusal).answer(error)
        return web.Response(status=refused.status, body=refused.body, headers=refused.headers)

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Answer 200 unless the path says otherwise."""
        path, _ = target(request)
        body = b""
        if path != "/unread" and (path == "/held" or request.method == "POST"):
            body = await read_body(request, 2**20, self.body_within_s)
        self.requests.append((path, body))
        if path == "/held":
            await self.gate.wait()
            return web.Response()
        if path == "/401":
            return web.Response(status=401, headers=_TEXT)
        if path == "/broken":
            message = f"it was {request.headers.get('X-Secret')}"
            raise LookupError(message)
        return web.Response(body=path.encode(), headers=_TEXT)


def application(serves: Handler, seen: Seen) -> web.Application:
    async def serve(request: web.Request) -> web.StreamResponse:
        return await serves(request)

    app = web.Application(middlewares=[seen.observe])
    app.router.add_route("*", "/{tail:.*}", serve, expect_handler=expect_nothing)
    return app


@contextlib.asynccontextmanager
async def listening(
    serves: Handler, seen: Seen, limits: ServerLimits = SHORT
) -> AsyncIterator[Listener]:
    app = application(serves, seen)
    listener = Listener(
        app, at=Address(), limits=limits, refusals=Refusals(on_refusal=seen.on_refusal)
    )
    await listener.start()
    try:
        yield listener
    finally:
        seen.gate.set()
        await listener.close(1.0)
