"""FastAPI on uvicorn, asking the bank by aiohttp's client."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
import uvicorn
from fastapi import FastAPI, Request, Response

from bench.peers.work import Work, answering, new_trace_id, translated

_WORK = Work()


@asynccontextmanager
async def lifespan(application: FastAPI) -> AsyncIterator[None]:
    """Keep a session."""
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        application.state.session = session
        yield


application = FastAPI(lifespan=lifespan)


@application.get("/baas/v1/account/{account_id}/balance")
async def balance(account_id: str, request: Request) -> Response:
    """Answer one request."""
    began, trace_id = time.perf_counter(), new_trace_id()
    status = _WORK.refused(request.headers.get("authorization", ""), account_id)
    if status:
        return Response(status_code=status, headers=answering(trace_id))
    called = time.perf_counter()
    session = request.app.state.session
    async with session.get(_WORK.bank, headers=_WORK.asking(trace_id)) as answer:
        body = await answer.read()
    _WORK.told(trace_id, began, time.perf_counter() - called)
    headers = answering(trace_id)
    return Response(translated(body), headers=headers, media_type="application/json")


if __name__ == "__main__":
    uvicorn.run(
        application,
        host="127.0.0.1",
        port=_WORK.port,
        loop="uvloop",
        http="httptools",
        access_log=False,
        log_level="warning",
    )
