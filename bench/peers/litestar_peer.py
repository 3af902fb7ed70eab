"""Litestar on Granian, asking the bank by aiohttp's client."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
from granian import Granian
from litestar import Litestar, Request, Response, get

from bench.peers.work import Work, answering, new_trace_id, translated

_WORK = Work()


@asynccontextmanager
async def lifespan(application: Litestar) -> AsyncIterator[None]:
    """Keep a session."""
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        application.state.session = session
        yield


@get("/baas/v1/account/{account_id:str}/balance")
async def balance(account_id: str, request: Request) -> Response[bytes]:
    """Answer one request."""
    began, trace_id = time.perf_counter(), new_trace_id()
    status = _WORK.refused(request.headers.get("authorization", ""), account_id)
    if status:
        return Response(b"", status_code=status, headers=answering(trace_id))
    called = time.perf_counter()
    session = request.app.state.session
    async with session.get(_WORK.bank, headers=_WORK.asking(trace_id)) as answer:
        body = await answer.read()
    bank_s = time.perf_counter() - called
    _WORK.told(trace_id, began, bank_s)
    headers = answering(trace_id)
    return Response(translated(body), headers=headers, media_type="application/json")


application = Litestar([balance], lifespan=[lifespan], openapi_config=None)

if __name__ == "__main__":
    Granian(
        "bench.peers.litestar_peer:application",
        address="127.0.0.1",
        port=_WORK.port,
        interface="asgi",
        loop="uvloop",
        log_enabled=False,
    ).serve()
