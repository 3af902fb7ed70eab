"""A server behind a proxy that says what it was sent, or nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import web


async def echo(request: web.Request) -> web.StreamResponse:
    """Say what arrived; hang up where the path says so."""
    if request.path == "/readyz":
        return web.Response()
    if request.path.endswith("/dies"):
        assert request.transport is not None
        request.transport.abort()
    headers = {"X-Trace-ID": request.headers.get("X-Trace-ID", "")}
    said = {"headers": dict(request.headers), "url": request.path_qs}
    return web.json_response(said, headers=headers)


@asynccontextmanager
async def echoing(port: int) -> AsyncIterator[None]:
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", echo)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", port).start()
        yield
    finally:
        await runner.cleanup()
