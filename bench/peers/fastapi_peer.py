"""FastAPI on uvicorn, asking the bank by aiohttp's client or by httpx."""

from __future__ import annotations

import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import aiohttp
import httpx
import uvicorn
from fastapi import FastAPI, Request, Response

from bench.peers.given import given
from bench.peers.work import Work, answering, new_trace_id, translated

_MOST = 2048
Ask = Callable[[dict[str, str]], Awaitable[bytes]]


@asynccontextmanager
async def by_aiohttp(url: str) -> AsyncIterator[Ask]:
    """Ask by aiohttp's client as it comes."""
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def ask(headers: dict[str, str]) -> bytes:
            async with session.get(url, headers=headers) as answer:
                return await answer.read()

        yield ask


@asynccontextmanager
async def by_httpx(url: str) -> AsyncIterator[Ask]:
    """Ask by httpx, whose connections are all kept."""
    limits = httpx.Limits(max_connections=_MOST, max_keepalive_connections=_MOST)
    async with httpx.AsyncClient(limits=limits) as client:

        async def ask(headers: dict[str, str]) -> bytes:
            return (await client.get(url, headers=headers)).content

        yield ask


def application(work: Work, client: Callable[[str], object]) -> FastAPI:
    """Make the gateway."""
    asks: list[Ask] = []

    @asynccontextmanager
    async def lifespan(_application: FastAPI) -> AsyncIterator[None]:
        async with client(work.bank_url) as ask:
            asks.append(ask)
            yield

    made = FastAPI(lifespan=lifespan)

    @made.get("/baas/v1/account/{account_id}/balance")
    async def balance(account_id: str, request: Request) -> Response:
        began, trace_id = time.perf_counter(), new_trace_id()
        status = work.refused(request.headers.get("authorization", ""), account_id)
        if status:
            return Response(status_code=status, headers=answering(trace_id))
        called = time.perf_counter()
        body = await asks[0](work.asking(trace_id))
        bank_s = time.perf_counter() - called
        work.told(trace_id, began, bank_s)
        headers = answering(trace_id)
        return Response(translated(body), headers=headers, media_type="application/json")

    return made


if __name__ == "__main__":
    told = given()
    chosen = by_httpx if sys.argv[1:] == ["httpx"] else by_aiohttp
    uvicorn.run(
        application(Work(told), chosen),
        host="127.0.0.1",
        port=told.port,
        loop="uvloop",
        http="httptools",
        access_log=False,
        log_level="warning",
    )
