"""The listener's life: start, stop in two steps."""

import asyncio

import pytest
from aiohttp import web

from gateway.net.server.listener import Address, Listener
from gateway.net.server.peer import ServerLimits
from tests.world.raw_http import HOST, ask, split, until_closed
from tests.world.waiting import settle, until
from tests.world.wired import PATIENT, Seen, listening

HELD = b"GET /held HTTP/1.1\r\n" + HOST + b"\r\n"
GET = b"GET / HTTP/1.1\r\n" + HOST + b"\r\n"


async def test_a_request_reaches_its_handler(seen):
    async with listening(seen.answer, seen, PATIENT) as listener:
        answer = await ask(listener.port, "/a")

    assert (answer.status, seen.requests) == (200, [("/a", b"")])


async def test_the_bound_port_is_reported(seen):
    async with listening(seen.answer, seen, PATIENT) as listener:
        assert listener.port > 0


async def test_several_listeners_can_share_a_port(seen):
    first = Listener(app(seen), at=Address(reuse_port=True))
    await first.start()
    second = Listener(app(seen), at=Address(port=first.port, reuse_port=True))

    await second.start()

    assert second.port == first.port
    await first.close(0.1)
    await second.close(0.1)


async def test_an_address_in_use_is_an_error_and_the_listener_can_be_closed(seen):
    async with listening(seen.answer, seen, PATIENT) as listener:
        second = Listener(app(seen), at=Address(port=listener.port))

        with pytest.raises(OSError, match="address already in use"):
            await second.start()

        assert await second.close(0.1)


async def test_new_connections_are_refused_once_it_stops_accepting(seen):
    async with listening(seen.answer, seen, PATIENT) as listener:
        await listener.stop_accepting()

        with pytest.raises(ConnectionRefusedError):
            await ask(listener.port)


async def test_a_kept_connection_is_refused_and_closed_while_draining(seen):
    """503 ``SVC.GTW.006`` with Retry-After, without calling the application."""
    async with listening(seen.answer, seen, PATIENT) as listener:
        reader, writer = await asyncio.open_connection("127.0.0.1", listener.port)
        writer.write(GET)
        await until(lambda: seen.requests)
        await listener.stop_accepting()
        writer.write(GET + GET)
        answers = split(await reader.read())
        writer.close()

    assert [answer.status for answer in answers] == [200, 503]
    assert answers[1].code == "SVC.GTW.006"
    assert answers[1].headers["retry-after"] == "1"
    assert answers[1].headers["connection"] == "close"
    assert len(seen.requests) == 1


async def test_a_request_in_flight_during_shutdown_is_answered_and_closed(seen):
    async with listening(seen.answer, seen, PATIENT) as listener:
        calling = asyncio.create_task(until_closed(listener.port, HELD))
        await held(listener)
        await listener.stop_accepting()
        seen.gate.set()
        told = await calling

    assert told.statuses == [200]
    assert (told.answers[0].headers["connection"], told.closed) == ("close", True)


async def test_close_waits_for_a_request_in_flight(seen):
    async with listening(seen.answer, seen, PATIENT) as listener:
        calling = asyncio.create_task(until_closed(listener.port, HELD))
        await held(listener)
        closing = asyncio.create_task(listener.close(600.0))
        await settle()
        waits = not closing.done()
        seen.gate.set()

        assert (waits, await closing, (await calling).statuses) == (True, True, [200])


async def test_close_cuts_requests_off_at_its_deadline(seen):
    """Requests still in flight then are cut off, and reported."""
    async with listening(seen.answer, seen, PATIENT) as listener:
        calling = asyncio.create_task(until_closed(listener.port, HELD))
        await held(listener)

        finished = await listener.close(0.05)
        told = await calling

    assert (finished, told.statuses, told.closed) == (False, [], True)


async def test_close_does_not_wait_for_idle_callers(seen):
    listener = Listener(app(seen), at=Address(), limits=ServerLimits())
    await listener.start()
    calling = asyncio.create_task(until_closed(listener.port, GET))
    await until(lambda: seen.requests)

    finished = await listener.close(3600.0)

    assert (finished, (await calling).statuses) == (True, [200])


async def test_stopping_and_closing_are_idempotent(seen):
    async with listening(seen.answer, seen, PATIENT) as listener:
        await listener.stop_accepting()
        await listener.stop_accepting()

        closed = [await listener.close(0.1), await listener.close(0.1)]

    assert closed == [True, True]


async def test_a_listener_that_never_started_can_be_closed(seen):
    listener = Listener(app(seen), at=Address())

    assert await listener.close(0.1)


def app(seen: Seen) -> web.Application:
    made = web.Application()
    made.router.add_get("/", seen.answer)
    return made


async def held(listener: Listener) -> None:
    """Wait until the held request is being worked on."""
    await until(lambda: listener.connections.in_flight)
