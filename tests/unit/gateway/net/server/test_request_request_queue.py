"""Bytes into requests, in order."""

import asyncio

import pytest
from aiohttp.base_protocol import BaseProtocol

from gateway.net.server.peer import ServerLimits
from gateway.net.server.request import MalformedBody, RequestQueue, RequestTimeout, make_parser

GET = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
POST = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n"


@pytest.fixture
async def queue() -> RequestQueue:
    loop = asyncio.get_running_loop()
    protocol = BaseProtocol(loop)
    protocol._parser = make_parser(protocol, loop, ServerLimits())
    return RequestQueue(protocol._parser)


async def test_a_whole_request_waits(queue):
    assert queue.feed(GET)
    assert (len(queue.waiting), queue.has_partial) == (1, False)


@pytest.mark.parametrize(
    ("data", "begun"),
    [(b"G", True), (b"\r\n", False), (b"\r\n\r\nGE", True), (GET + b"GE", True), (GET, False)],
)
async def test_a_request_begins_with_its_first_byte(queue, data, begun):
    queue.feed(data)

    assert queue.has_partial is begun


async def test_a_body_begins_no_request(queue):
    queue.feed(POST)
    queue.feed(b"hel")

    assert (len(queue.waiting), queue.has_partial) == (1, False)


async def test_requests_wait_in_order(queue):
    queue.feed(GET + POST + b"hello" + GET)

    methods = [queue.take()[0].method for _ in range(3)]

    assert methods == ["GET", "POST", "GET"]


async def test_no_more_than_32_wait(queue):
    """What comes beyond is kept as bytes until there is room."""
    queue.feed(GET * 40)
    full = (queue.is_full, len(queue.waiting), queue.has_room)

    for _ in range(16):
        queue.take()
    room = queue.has_room
    queue.feed(b"")

    assert full == (True, 32, False)
    assert (room, len(queue.waiting)) == (True, 24)


async def test_what_was_held_back_begins_no_request(queue):
    """Forty whole requests, then nothing: the connection is idle, not late."""
    queue.feed(GET * 40)
    while queue.waiting:
        queue.take()

    queue.feed(b"")

    assert queue.has_partial is False


async def test_what_cannot_be_read_is_refused_in_its_turn(queue):
    queue.feed(GET)

    assert queue.feed(b"BAD\r\n\r\n")
    assert len(queue.waiting) == 2
    assert isinstance(queue.waiting[1][0], Exception)
    assert queue.closed


async def test_who_waits_for_a_body_is_told_that_it_will_not_come(queue):
    queue.feed(POST)
    _, content = queue.take()

    queue.refuse(RequestTimeout())

    with pytest.raises(MalformedBody):
        await content.read()


async def test_an_upgrade_that_is_not_granted_hides_no_request(queue):
    """What follows is a request like any other."""
    upgrade = GET[:-2] + b"Upgrade: websocket\r\nConnection: upgrade\r\n\r\n"

    queue.feed(upgrade + GET)
    queue.feed(GET)

    assert [queue.take()[0].upgrade for _ in range(3)] == [True, False, False]
