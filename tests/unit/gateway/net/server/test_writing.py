"""Answers written piece by piece: whole or seen to be cut, at the caller's pace, within bounds."""

import asyncio
import gc
import tracemalloc
from collections.abc import AsyncGenerator, Callable
from dataclasses import replace

import aiohttp
import pytest
from aiohttp import web

from gateway.net.server.writing import Pieces, write_pieces
from tests.world.raw_http import HOST
from tests.world.waiting import until
from tests.world.wired import PATIENT, listening

GET = b"GET / HTTP/1.1\r\n" + HOST + b"\r\n"
OLD = b"GET / HTTP/1.0\r\n" + HOST + b"Connection: keep-alive\r\n\r\n"
PIECE = b"x" * 10_000


class Writer:
    """Answers with pieces, and notes how they ended."""

    def __init__(self, make: Callable[[], Pieces]) -> None:
        self.make = make
        self.problems: list[BaseException] = []

    async def __call__(self, request: web.Request) -> web.StreamResponse:
        answer = web.StreamResponse(headers={"Content-Type": "text/csv"})
        try:
            await write_pieces(request, answer, self.make())
        except (OSError, LookupError) as problem:
            self.problems.append(problem)
            raise ConnectionResetError from problem
        return answer


class Pieced:
    """Pieces without an end, or with one; notes how many were asked for and that it was closed."""

    def __init__(self, most: int = 10**9, *, fails: Exception | None = None) -> None:
        self.most, self.fails, self.given, self.closed = most, fails, 0, False

    async def __call__(self) -> AsyncGenerator[bytes, None]:
        try:
            while self.given < self.most:
                self.given += 1
                yield PIECE
            if self.fails is not None:
                raise self.fails
        finally:
            self.closed = True


async def test_a_streamed_file_arrives_complete_and_keeps_the_connection(seen):
    pieces = Pieced(3)
    async with listening(Writer(pieces), seen, PATIENT) as listener:
        url = f"http://127.0.0.1:{listener.port}/"
        async with aiohttp.ClientSession() as session:
            for _ in range(2):
                pieces.given = 0
                async with session.get(url) as said:
                    assert said.headers["Transfer-Encoding"] == "chunked"
                    assert "Content-Length" not in said.headers
                    assert await said.read() == PIECE * 3
        assert listener.connections.open_connections <= 1


async def test_a_stream_to_an_http_1_0_caller_ends_with_the_connection(seen):
    """It knows no chunks; the end of the connection ends the body."""
    async with listening(Writer(Pieced(2)), seen, PATIENT) as listener:
        told = await _raw(listener.port, OLD)

    head, _, body = told.partition(b"\r\n\r\n")
    assert body == PIECE * 2
    assert b"chunked" not in head
    assert b"keep-alive" not in head


@pytest.mark.parametrize("asked", [GET, OLD], ids=["HTTP/1.1", "HTTP/1.0"])
async def test_a_failure_during_a_stream_resets_the_connection(asked, seen):
    """Without chunks, a normal end would look like a complete file."""
    pieces = Pieced(2, fails=LookupError("gone"))
    writer = Writer(pieces)
    async with listening(writer, seen, PATIENT) as listener:
        reader, sender = await asyncio.open_connection("127.0.0.1", listener.port)
        sender.write(asked)
        with pytest.raises(ConnectionResetError):
            await reader.read(-1)
        sender.close()

    assert [type(each) for each in writer.problems] == [LookupError]
    assert pieces.closed


async def test_a_client_library_raises_on_a_cut_file(seen):
    pieces = Pieced(2, fails=LookupError("gone"))
    async with (
        listening(Writer(pieces), seen, PATIENT) as listener,
        aiohttp.ClientSession() as session,
    ):
        url = f"http://127.0.0.1:{listener.port}/"
        with pytest.raises(aiohttp.ClientError):
            async with session.get(url) as said:
                await said.read()


async def test_a_disconnecting_caller_closes_the_source(seen):
    pieces = Pieced()
    writer = Writer(pieces)
    async with listening(writer, seen, PATIENT) as listener:
        reader, sender = await asyncio.open_connection("127.0.0.1", listener.port)
        sender.write(GET)
        await reader.read(4096)
        sender.transport.abort()
        await until(lambda: pieces.closed)

    assert [isinstance(each, ConnectionError) for each in writer.problems] == [True]


async def test_a_caller_that_stops_reading_is_disconnected_with_bounded_memory(seen):
    pieces = Pieced()
    limits = replace(PATIENT, answer_deadline_s=0.05)
    async with listening(Writer(pieces), seen, limits) as listener:
        reader, sender = await asyncio.open_connection("127.0.0.1", listener.port, limit=1024)
        sender.write(GET)
        await reader.read(10)
        await until(lambda: pieces.closed)
        sender.close()

    # What the system's own buffers hold, and 64 KiB of ours.
    assert pieces.given * len(PIECE) < 2**24


async def test_a_stream_is_cut_at_its_deadline(seen):
    """A caller that reads every piece never stalls, and is still cut off."""
    pieces = Pieced()
    writer = Writer(pieces)
    async with listening(writer, seen, replace(PATIENT, stream_deadline_s=0.05)) as listener:
        url = f"http://127.0.0.1:{listener.port}/"
        async with aiohttp.ClientSession() as session:
            with pytest.raises(aiohttp.ClientError):
                await _take_all(session, url)
        await until(lambda: pieces.closed)

    assert [type(each) for each in writer.problems] == [TimeoutError]


async def test_head_returns_the_headers_without_reading_the_source(seen):
    pieces = Pieced()
    async with listening(Writer(pieces), seen, PATIENT) as listener:
        asked = GET.replace(b"GET", b"HEAD")
        told = await _raw(listener.port, asked + asked[:-2] + b"Connection: close\r\n\r\n")

    assert told.count(b"200 OK") == 2
    assert pieces.given == 0


async def test_a_large_stream_uses_bounded_memory(seen):
    """20 MB are sent with only a few pieces in memory."""
    serves = Writer(Pieced(2_000))
    async with listening(serves, seen, PATIENT) as listener, aiohttp.ClientSession() as session:
        gc.collect()
        tracemalloc.start()
        async with session.get(f"http://127.0.0.1:{listener.port}/") as said:
            size = 0
            async for some in said.content.iter_any():
                size += len(some)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()

    assert size == 2_000 * len(PIECE)
    assert peak < 4 * 2**20


async def test_closing_the_listener_waits_for_a_stream_and_then_cuts_it(seen):
    pieces = Pieced()
    async with listening(Writer(pieces), seen, PATIENT) as listener:
        reader, sender = await asyncio.open_connection("127.0.0.1", listener.port)
        sender.write(GET)
        await reader.read(10)
        closing = asyncio.create_task(listener.close(0.1))
        with pytest.raises(ConnectionResetError):
            await reader.read(-1)
        assert await closing is False
        sender.close()

    assert pieces.closed


async def _take_all(session: aiohttp.ClientSession, url: str) -> None:
    async with session.get(url) as said:
        async for _ in said.content.iter_any():
            pass


async def _raw(port: int, asked: bytes) -> bytes:
    """Send bytes, and read until the other side closes."""
    reader, sender = await asyncio.open_connection("127.0.0.1", port)
    sender.write(asked)
    told = await reader.read(-1)
    sender.close()
    return told
