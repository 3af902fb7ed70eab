"""Refusals where no row was found: what was asked for, and by whom."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from aiohttp import web

from gateway.domain.kernel import errors
from gateway.domain.kernel.errors import ServiceError
from gateway.domain.requests.calls import Call, Policy, RawRequest
from gateway.http.route import RefusedPath
from gateway.net.server.request import address_of

_NOWHERE: Final = (errors.ROUTE_UNKNOWN, errors.METHOD_NOT_ALLOWED)
READING: Final = ("GET", "HEAD")

Ask = Callable[[Sequence[Policy], Call], Awaitable[None] | None]


def is_nowhere(problem: Exception) -> bool:
    """Say whether there is no such path, or no such method of it."""
    return isinstance(problem, ServiceError) and problem.error in _NOWHERE


async def who_asks(request: web.Request, knows: Sequence[Policy], ask: Ask) -> Call | None:
    """Return a call with the person who makes it; None for whoever is not known."""
    asked = RawRequest(path={}, headers=request.headers, address=address_of(request))
    call = Call(asked=asked, needs=None, quota="")
    try:
        waiting = ask(knows, call)
        if waiting is not None:
            await waiting
    except Exception:  # noqa: BLE001 - it is refused anyway, then as nobody in particular
        return None
    return call


def refused_path(request: web.Request, path: str, query: str, trace_id: str) -> RefusedPath:
    """Say what was asked for."""
    target = f"{path}?{query}" if query else path
    is_read = request.method in READING
    return RefusedPath(target=target, is_read=is_read, trace_id=trace_id, headers=request.headers)
