"""What each injected fault does to an answer."""

from __future__ import annotations

import asyncio
import socket
import struct
from dataclasses import replace
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


async def spoil(
    request: web.Request, fault: Fault, answer: Answer, render: RenderRefusal
) -> web.StreamResponse:
    """Send what a fault makes of an answer; the bank shows refusals in its own way."""
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
            shown = render(refusals.of_status(fault.status, executed=fault.executes))
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
