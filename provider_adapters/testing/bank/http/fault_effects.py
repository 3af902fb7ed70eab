"""What each injected fault does to an answer."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from aiohttp import web

from provider_adapters.testing.bank import messages
from provider_adapters.testing.bank.kernel import refusals
from provider_adapters.testing.bank.kernel.faults import Fault, FaultKind
from provider_adapters.testing.bank.kernel.refusals import Code, Refusal
from provider_adapters.testing.bank.messages import Answer, RenderRefusal

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
_HANGS = (FaultKind.HANG, FaultKind.HANG_AFTER)
_RESETS = (FaultKind.RESET_BEFORE, FaultKind.RESET_AFTER)


@dataclass(frozen=True, slots=True)
class FaultEffects:
    """Answers requests of a bank that shows refusals in its own way."""

    render: RenderRefusal

    async def serve(
        self, request: web.Request, fault: Fault | None, execute: Callable[[], Answer]
    ) -> web.StreamResponse:
        """
        Answer a request, with the fault's effect on execution and answer.

        ``execute`` runs at most once, and is never interrupted: it does not await.
        """
        if fault and not fault.executes:
            return await self._spoil(request, fault, self.render(refusals.of_status(fault.status)))
        answer = self._executed(execute)
        fault = fault or answer.fault
        return await self._spoil(request, fault, answer) if fault else messages.respond(answer)

    def _executed(self, execute: Callable[[], Answer]) -> Answer:
        try:
            return execute()
        except Refusal as problem:
            return self.render(problem)

    async def _spoil(
        self, request: web.Request, fault: Fault, answer: Answer
    ) -> web.StreamResponse:
        kind = fault.fault
        if kind in _HANGS:
            await asyncio.sleep(HANG_S)
        if kind in _HANGS or kind in _RESETS:
            return _reset(request)
        if kind is FaultKind.DRIP:
            return await _drip(request, answer)
        if kind is FaultKind.HUGE:
            return await _flood(request)
        return self._wrong(fault, answer)

    def _wrong(self, fault: Fault, answer: Answer) -> web.Response:
        match fault.fault:
            case FaultKind.MALFORMED:
                body = answer.body()
                half = body[: len(body) // 2 + 1]
                return web.Response(body=half, content_type="application/json")
            case FaultKind.WRONG_TYPES:
                return messages.respond(Answer(document=_mistype(answer.document)))
            case FaultKind.REJECT:
                return messages.respond(self.render(Refusal(Code.REJECTED, "refused")))
            case _:
                problem = refusals.of_status(fault.status, executed=fault.executes)
                shown = replace(self.render(problem), status=fault.status)
                headers = {**shown.headers, **_headers(fault.status)}
                return messages.respond(replace(shown, headers=headers))


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
