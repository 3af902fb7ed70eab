"""What the gateway is compared with: a bare pass-through proxy, and a canned answer."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import AsyncIterator

import aiohttp
import uvloop
from aiohttp import web

CANNED = b'{"balance":10000.00,"blocked":50.00,"updated_at":"2026-11-20T13:40:11Z"}'
_SESSION = web.AppKey("session", aiohttp.ClientSession)
_UPSTREAM = web.AppKey("upstream", str)


async def pass_on(request: web.Request) -> web.Response:
    """Ask the bank the same and say what it said: no credential, no JSON, no log, no metric."""
    headers = {name: text for name, text in request.headers.items() if name != "Host"}
    url = request.app[_UPSTREAM] + request.path_qs
    async with request.app[_SESSION].get(url, headers=headers) as answer:
        body = await answer.read()
        kind = {"Content-Type": answer.headers["Content-Type"]}
        return web.Response(status=answer.status, body=body, headers=kind)


async def answer_canned(_request: web.Request) -> web.Response:
    """Say the same to everybody."""
    return web.Response(body=CANNED, headers={"Content-Type": "application/json"})


def proxy(upstream: str) -> web.Application:
    """Make the proxy in front of ``upstream``, with aiohttp's client as it comes."""
    application = web.Application()
    application[_UPSTREAM] = upstream
    application.cleanup_ctx.append(_session)
    application.router.add_get("/{path:.*}", pass_on)
    return application


def canned() -> web.Application:
    """Make the server that only answers."""
    application = web.Application()
    application.router.add_route("*", "/{path:.*}", answer_canned)
    return application


async def serve(application: web.Application, port: int) -> None:
    """Serve until the process is ended."""
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port, backlog=1024).start()
    await asyncio.Event().wait()


async def _session(application: web.Application) -> AsyncIterator[None]:
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector) as session:
        application[_SESSION] = session
        yield


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--upstream", help="a URL without a path; a canned answer if absent")
    parser.add_argument("--asyncio", action="store_true", help="on the standard library's loop")
    given = parser.parse_args()
    served = serve(proxy(given.upstream) if given.upstream else canned(), given.port)
    asyncio.run(served) if given.asyncio else uvloop.run(served)
