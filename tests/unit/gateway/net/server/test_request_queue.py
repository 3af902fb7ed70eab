"""Bytes into requests, in order."""

import asyncio

import pytest
from aiohttp.base_protocol import BaseProtocol

from gateway.net.server.body import MalformedBody, RequestTimeout
from gateway.net.server.limits import WireLimits
from gateway.net.server.request_queue import Inbox, make_parser

GET = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
POST = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n"


@pytest.fixture
async def inbox() -> Inbox:
    loop = asyncio.get_running_loop()
    protocol = BaseProtocol(loop)
    protocol._parser = make_parser(protocol, loop, WireLimits())
    return Inbox(protocol._parser)


async def test_a_whole_request_waits(inbox):
    assert inbox.feed(GET)
    assert (len(inbox.waiting), inbox.begun) == (1, False)


@pytest.mark.parametrize(
    ("data", "begun"),
    [(b"G", True), (b"\r\n", False), (b"\r\n\r\nGE", True), (GET + b"GE", True), (GET, False)],
)
async def test_a_request_begins_with_its_first_byte(inbox, data, begun):
    inbox.feed(data)

    assert inbox.begun is begun


async def test_a_body_begins_no_request(inbox):
    inbox.feed(POST)
    inbox.feed(b"hel")

    assert (len(inbox.waiting), inbox.begun) == (1, False)


async def test_requests_wait_in_order(inbox):
    inbox.feed(GET + POST + b"hello" + GET)

    methods = [inbox.take()[0].method for _ in range(3)]

    assert methods == ["GET", "POST", "GET"]


async def test_no_more_than_32_wait(inbox):
    """What comes beyond is kept as bytes until there is room."""
    inbox.feed(GET * 40)
    full = (inbox.is_full, len(inbox.waiting), inbox.has_room)

    for _ in range(16):
        inbox.take()
    room = inbox.has_room
    inbox.feed(b"")

    assert full == (True, 32, False)
    assert (room, len(inbox.waiting)) == (True, 24)


async def test_what_was_held_back_begins_no_request(inbox):
    """Forty whole requests, then nothing: the connection is idle, not late."""
    inbox.feed(GET * 40)
    while inbox.waiting:
        inbox.take()

    inbox.feed(b"")

    assert inbox.begun is False


async def test_what_cannot_be_read_is_refused_in_its_turn(inbox):
    inbox.feed(GET)

    assert inbox.feed(b"BAD\r\n\r\n")
    assert len(inbox.waiting) == 2
    assert isinstance(inbox.waiting[1][0], Exception)
    assert inbox.deaf


async def test_who_waits_for_a_body_is_told_that_it_will_not_come(inbox):
    inbox.feed(POST)
    _, content = inbox.take()

    inbox.refuse(RequestTimeout())

    with pytest.raises(MalformedBody):
        await content.read()


async def test_an_upgrade_that_is_not_granted_hides_no_request(inbox):
    """What follows is a request like any other."""
    upgrade = GET[:-2] + b"Upgrade: websocket\r\nConnection: upgrade\r\n\r\n"

    inbox.feed(upgrade + GET)
    inbox.feed(GET)

    assert [inbox.take()[0].upgrade for _ in range(3)] == [True, False, False]
