"""The bank's ports: they serve and record a dialect's calls, and inject faults."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
import struct
from collections import deque
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Final

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from provider_adapters.testing.bank import clock, messages, settlement
from provider_adapters.testing.bank.books import Books
from provider_adapters.testing.bank.clock import BankClock
from provider_adapters.testing.bank.dialect import BankRequest, Dialect, Row
from provider_adapters.testing.bank.messages import (
    Answer,
    Code,
    Fault,
    FaultKind,
    Faults,
    Refusal,
    RenderRefusal,
)

# At most 4 MB of bodies.
_KEPT = 1000
_BODY_KEPT = 4096


@dataclass(frozen=True, slots=True)
class RecordedCalls:
    """
    The last thousand requests as documents, oldest first, in memory only.

    Each has the raw path with its query; secret headers are without their value.
    """

    clock: BankClock
    secret_headers: Collection[str]
    kept: deque[dict[str, object]] = field(default_factory=lambda: deque(maxlen=_KEPT))

    def recording(self) -> Middleware:
        """Return the middleware that records every request."""

        @web.middleware
        async def record(request: web.Request, handler: Handler) -> web.StreamResponse:
            body = await request.read()
            call: dict[str, object] = {
                "at": clock.show(self.clock.micros()),
                "method": request.method,
                "path": request.raw_path,
                "headers": {
                    name: self._shown(name, text) for name, text in request.headers.items()
                },
                "body": body[:_BODY_KEPT].decode(errors="replace"),
            }
            self.kept.append(call)
            return await handler(request)

        return record

    def _shown(self, name: str, value: str) -> str:
        if name.lower() not in self.secret_headers:
            return value
        scheme, space, _ = value.partition(" ")
        return f"{scheme} ***" if space else "***"


_REOPEN_TRIES = 50
_REOPEN_PAUSE_S = 0.02
# Of the loop, until an accepted connection is known: asyncio loses it by closing earlier.
_TURNS_TO_A_CONNECTION = 4


class ListeningPort:
    """
    A port that can close and open again at the same number.

    While it is closed, the operating system refuses connections. Open ones are
    closed at once, together with requests that hang on them.

    Attributes:
        port: Its real number, once open.
        refusing: The fault that keeps it closed, if any.
    """

    def __init__(
        self, runner: web.AppRunner, host: str, port: int, tls: ssl.SSLContext | None = None
    ) -> None:
        """Serve the runner's application; port 0 takes a free one."""
        self.port = port
        self.refusing: list[Fault] = []
        self._runner = runner
        self._host = host
        self._tls = tls
        self._site: web.TCPSite | None = None
        self._reopening: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Listen; safe to repeat."""
        await self._stop_waiting()
        if self._site is None:
            await self._listen(_REOPEN_TRIES if self.refusing else 1)

    async def refuse(self, fault: Fault) -> None:
        """Refuse connections for ``count`` seconds, or until opened."""
        await self.close()
        self.refusing = [fault]
        if fault.count is not None:
            reopening = self._reopen_in(fault.count)
            self._reopening = asyncio.create_task(reopening)  # noqa: TID251 - owned: close() ends it

    async def close(self) -> None:
        """Stop listening and close all connections."""
        await self._stop_waiting()
        if self._site is not None:
            for _ in range(_TURNS_TO_A_CONNECTION):
                await asyncio.sleep(0)
            await self._site.stop()
            self._site = None
        for connection in self._runner.server.connections if self._runner.server else ():
            # Not close(): in aiohttp 3.14 that leaves an idle connection open and deaf.
            connection.force_close()

    async def _listen(self, tries: int) -> None:
        """Listen; when reopening, another program may use the port briefly for a connection."""
        site = web.TCPSite(self._runner, self._host, self.port, ssl_context=self._tls)
        try:
            await site.start()
        except OSError:
            await site.stop()
            if tries == 1:
                raise
            await asyncio.sleep(_REOPEN_PAUSE_S)
            await self._listen(tries - 1)
        else:
            self._site, self.port, self.refusing = site, site.port, []

    async def _reopen_in(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
        await self._listen(_REOPEN_TRIES)

    async def _stop_waiting(self) -> None:
        task, self._reopening = self._reopening, None
        if task is not None:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task


HANG_S: Final = 120.0
"""Seconds a request hangs before the bank resets the connection; above every client's limit."""

# Slower than any deadline allows, so that only a limit on the whole call ends it.
_DRIP_S = 1.0
# Far above what a client may read of one answer.
_HUGE_BYTES = 64 * 1024 * 1024
_CHUNK = b"x" * 65536
# SO_LINGER on, zero seconds.
_RESET = struct.pack("ii", 1, 0)
_RETRYABLE = (429, 503)
_REDIRECTS = range(300, 400)


async def spoil(
    request: web.Request, fault: Fault, answer: Answer, render: RenderRefusal
) -> web.StreamResponse:
    """Send an answer changed by a fault; the bank shows refusals in its own way."""
    match fault.fault:
        case FaultKind.HANG | FaultKind.HANG_AFTER:
            await asyncio.sleep(HANG_S)
            return _reset(request)
        case FaultKind.RESET_BEFORE | FaultKind.RESET_AFTER:
            return _reset(request)
        case FaultKind.DRIP:
            return await _drip(request, answer)
        case FaultKind.HUGE:
            return await _flood(request)
        case _:
            return messages.respond(_wrong(fault, answer, render))


def _wrong(fault: Fault, answer: Answer, render: RenderRefusal) -> Answer:
    match fault.fault:
        case FaultKind.MALFORMED:
            body = answer.body()
            return Answer(document=body[: len(body) // 2 + 1])
        case FaultKind.WRONG_TYPES:
            return Answer(document=_mistype(answer.document))
        case FaultKind.REJECT:
            return render(Refusal(Code.REJECTED, "refused"))
        case _:
            shown = render(messages.of_status(fault.status, executed=fault.executes))
            headers = {**shown.headers, **_headers(fault.status)}
            return replace(shown, status=fault.status, headers=headers)


def _headers(status: int) -> dict[str, str]:
    if status in _RETRYABLE:
        return {"Retry-After": "1"}
    return {"Location": "http://elsewhere.example/"} if status in _REDIRECTS else {}


def _reset(request: web.Request) -> web.Response:
    """Reset the connection: with linger zero, closing sends RST instead of FIN."""
    transport = request.transport
    if transport is not None:
        bare = transport.get_extra_info("socket")
        bare.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        transport.abort()
    return web.Response()  # never sent: the connection is closed


async def _drip(request: web.Request, answer: Answer) -> web.StreamResponse:
    body = answer.body()
    response = web.StreamResponse(
        status=answer.status,
        headers={"Content-Type": "application/json", "Content-Length": str(len(body))},
    )
    await response.prepare(request)
    for place in range(len(body)):
        await response.write(body[place : place + 1])
        await asyncio.sleep(_DRIP_S)
    return response


async def _flood(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    await response.prepare(request)
    await response.write(b'{"padding":"')
    for _ in range(_HUGE_BYTES // len(_CHUNK)):
        await response.write(_CHUNK)
    await response.write(b'"}')
    return response


def _mistype(document: object) -> object:
    """Give every value another type, and keep the names."""
    if isinstance(document, dict):
        return {name: _mistype(value) for name, value in document.items()}
    if isinstance(document, list):
        return {str(place): _mistype(value) for place, value in enumerate(document)}
    if isinstance(document, str):
        return len(document)
    return {} if document is None else str(document)


LARGEST_BODY = 64 * 1024
"""Bytes of a body; every valid one is far smaller."""


@dataclass(frozen=True, slots=True)
class CustomersPort:
    """The application of a customers' port: the bank's, or its second host's for tokens."""

    dialect: Dialect
    books: Books
    faults: Faults
    recorded: RecordedCalls
    latency_s: float = 0.0
    at_token_host: bool = False

    def application(self) -> web.Application:
        """Build the application of the port; calls of the other port are not found."""
        shown = messages.showing_refusals(self.dialect.refusal)
        app = web.Application(
            middlewares=[shown, self.recorded.recording()], client_max_size=LARGEST_BODY
        )
        for row in self.dialect.rows:
            if row.at_token_host is self.at_token_host:
                app.router.add_route(row.method, row.path, self._serve(row))
        return app

    def _serve(self, row: Row) -> Handler:
        async def serve(received: web.Request) -> web.StreamResponse:
            raw = await received.read()
            if self.latency_s:
                await asyncio.sleep(self.latency_s)
            request = self._request(received, raw)
            key = request.headers.get("Idempotency-Key", "")
            fault = self.faults.take(row.operation, lambda: self._customer(row, request), key)
            if fault and not fault.executes:
                answer = self.dialect.refusal(messages.of_status(fault.status))
            else:
                answer = self._run(row, request)
            spoiling = fault or answer.fault
            if spoiling is None:
                return messages.respond(answer)
            return await spoil(received, spoiling, answer, self.dialect.refusal)

        return serve

    def _request(self, received: web.Request, raw: bytes) -> BankRequest:
        tls = received.get_extra_info("ssl_object")
        return BankRequest(
            books=self.books,
            method=received.method,
            target=received.raw_path,
            path=received.match_info,
            query=received.query,
            headers=received.headers,
            raw=raw,
            certificate=(tls and tls.getpeercert(binary_form=True)) or b"",
        )

    def _customer(self, row: Row, request: BankRequest) -> str:
        """Return the account that a request comes from; empty on an open row, and for nobody."""
        try:
            return "" if row.is_open else self.dialect.authenticate(request).id
        except Refusal:
            return ""

    def _run(self, row: Row, request: BankRequest) -> Answer:
        """Settle due payouts, identify the customer, run the call; never interrupted."""
        settlement.settle_due(self.books)
        try:
            if not row.is_open:
                request = replace(request, signed_in=self.dialect.authenticate(request))
            return row.answer(request)
        except Refusal as problem:
            return self.dialect.refusal(problem)
