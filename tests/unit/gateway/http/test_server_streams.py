"""Streamed answers: reported once, when they have ended, and how."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import aiohttp
import pytest

from gateway.core import errors
from gateway.core.priority import Priority
from gateway.core.storage import StoreUnavailable
from gateway.http.route import Answer, Route, RouteLimits, Surface
from gateway.http.server import Exchange, why_cut
from gateway.http.table import PlacedRoute
from gateway.net.server.lane import Reply
from tests.world.gateway.listener_client import (
    READ_BALANCE,
    TAKES,
    admission,
    declared,
    on_stage,
    surface,
)
from tests.world.waiting import until


async def _pieces(ends: str) -> AsyncGenerator[bytes, None]:
    for _ in range(3):
        yield b"x" * 1000
    if ends == "store":
        raise StoreUnavailable(ends)
    if ends == "fault":
        raise LookupError(ends)
    while ends == "never":
        yield b"x" * 10_000


async def _ends(_who: object, said: str) -> str:
    return said


def _shows(said: str, _who: object) -> Answer[bytes]:
    return Answer(content=b"first", content_type="text/csv", rest=_pieces(said))


def route() -> Route[Any]:
    return declared(
        method="GET",
        path="/file/{word}",
        name="tests.file",
        summary="A file.",
        needs=READ_BALANCE,
        priority=Priority.HEAVY,
        limits=RouteLimits("read", 0),
        takes=TAKES,
        runs=_ends,
        shows=_shows,
        fails={StoreUnavailable: errors.STORE_UNAVAILABLE},
        raises=(),
        media=("text/csv",),
    )


async def test_a_complete_file_is_logged_with_its_bytes():
    gate = admission()
    async with on_stage(surface(route()), admission=gate) as listener_client:
        status, headers, body = await listener_client.ask("GET", "/v1/file/well")

    assert (status, headers["Content-Type"], len(body)) == (200, "text/csv", 3_005)
    assert headers["Cache-Control"] == "no-store"
    (record,) = listener_client.witness.records
    assert (record.status, record.reason, record.bytes_out) == (200, "", 3_005)
    assert sum(gate.held) == 0


@pytest.mark.parametrize(
    ("ends", "reason"), [("store", "StoreUnavailable"), ("fault", "LookupError")]
)
async def test_a_truncated_download_is_noticed_by_the_caller_and_reported(ends: str, reason: str):
    gate = admission()
    async with on_stage(surface(route()), admission=gate) as listener_client:
        with pytest.raises(aiohttp.ClientError):
            await listener_client.ask("GET", f"/v1/file/{ends}")
        well, _, _ = await listener_client.ask("GET", "/v1/file/well")

    cut, _ = listener_client.witness.records
    assert (cut.status, cut.reason, cut.bytes_out) == (200, reason, 3_005)
    assert (well, sum(gate.held)) == (200, 0)


async def test_a_disconnected_caller_is_reported_as_gone():
    gate = admission()
    async with on_stage(surface(route()), admission=gate) as listener_client:
        reader, sender = await asyncio.open_connection("127.0.0.1", listener_client.port)
        sender.write(b"GET /v1/file/never HTTP/1.1\r\nHost: a\r\nAuthorization: a\r\n\r\n")
        await reader.readuntil(b"\r\n\r\n")
        sender.transport.abort()
        await until(lambda: listener_client.witness.records)

    assert listener_client.record.reason == "caller_gone"
    assert sum(gate.held) == 0


async def test_a_refusal_keeps_its_reason_when_the_caller_disconnects():
    """The log has the reason of the refusal, not that the caller disconnected."""

    def in_pieces(exchange: Exchange, _reply: Reply) -> None:
        exchange.rest = _pieces("never")

    gate = admission()
    async with on_stage(surface(route()), admission=gate, alter=in_pieces) as listener_client:
        reader, sender = await asyncio.open_connection("127.0.0.1", listener_client.port)
        sender.write(b"GET /v1/nowhere HTTP/1.1\r\nHost: a\r\n\r\n")
        await reader.readuntil(b"\r\n\r\n")
        sender.transport.abort()
        await until(lambda: listener_client.witness.records)

    assert (listener_client.record.status, listener_client.record.reason) == (404, "no_route")


async def test_head_is_logged_without_starting_the_file():
    async with on_stage(surface(route())) as listener_client:
        status, _, _ = await listener_client.ask("HEAD", "/v1/file/fault")

    assert status == 200
    assert listener_client.record.reason == ""


@pytest.mark.parametrize(
    ("problem", "reason"),
    [
        (ConnectionResetError(), "caller_gone"),
        (TimeoutError(), "caller_slow"),
        (StoreUnavailable("down"), "StoreUnavailable"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_each_cause_of_a_cut_file_has_a_reason(problem: Exception, reason: str):
    shown: Surface = surface(route())
    gate = shown.gates[0]

    assert why_cut(problem, PlacedRoute(shown, gate, gate.routes[0], "/v1/file")) == reason
