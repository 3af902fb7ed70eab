"""Bytes into requests, in order."""

import asyncio
import itertools

import pytest
from aiohttp.base_protocol import BaseProtocol
from aiohttp.http_parser import RawRequestMessage
from hypothesis import given
from hypothesis import strategies as st

from gateway.net.server.inbox import Item, RequestQueue, make_parser
from gateway.net.server.peer import ServerLimits
from gateway.net.server.request import HeadTooLarge, MalformedBody, RequestTimeout

LIMITS = ServerLimits()
GET = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
POST = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n"


UPGRADE = GET[:-2] + b"Upgrade: websocket\r\nConnection: upgrade\r\n\r\n"
CHUNKED = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.fixture
async def queue() -> RequestQueue:
    return made()


def made() -> RequestQueue:
    loop = asyncio.get_running_loop()
    protocol = BaseProtocol(loop)
    protocol._parser = make_parser(protocol, loop, LIMITS)
    return RequestQueue(protocol._parser, LIMITS.head_bytes)


async def test_a_whole_request_waits(queue):
    assert queue.feed(GET)
    assert (len(queue.waiting), queue.has_partial) == (1, False)


async def test_a_request_begins_with_its_first_byte():
    expected = {b"G": True, b"\r\n": False, b"\r\n\r\nGE": True, GET + b"GE": True, GET: False}
    queues = {data: made() for data in expected}
    for data, queue in queues.items():
        queue.feed(data)

    assert {data: queue.has_partial for data, queue in queues.items()} == expected


async def test_a_body_begins_no_request(queue):
    queue.feed(POST)
    queue.feed(b"hel")

    assert (len(queue.waiting), queue.has_partial) == (1, False)


async def test_requests_wait_in_order(queue):
    queue.feed(GET + POST + b"hello" + GET)

    methods = [queue.take()[0].method for _ in range(3)]

    assert methods == ["GET", "POST", "GET"]


async def test_no_more_than_four_wait(queue):
    """What comes beyond is kept as bytes until there is room."""
    queue.feed(GET * 7)
    full = (queue.is_full, len(queue.waiting), queue.has_room)

    for _ in range(2):
        queue.take()
    room = queue.has_room
    queue.feed(b"")

    assert full == (True, 4, False)
    assert (room, len(queue.waiting)) == (True, 4)


def long(size: int) -> bytes:
    """Write a request of so many bytes; no line of it is too long."""
    most, lines = 8000, []
    left = size - len(GET)
    while left:
        length = left if left <= most else min(most, left - len(b"X-A: \r\n"))
        lines.append(b"X-A: " + b"a" * (length - len(b"X-A: \r\n")) + b"\r\n")
        left -= length
    return GET[:-2] + b"".join(lines) + b"\r\n"


@pytest.mark.parametrize(
    ("size", "refused"), [(LIMITS.head_bytes, False), (LIMITS.head_bytes + 1, True)]
)
async def test_a_whole_head_is_measured(size, refused):
    """In whatever pieces it comes, and whatever comes before it."""
    befores = (b"", GET, POST + b"hello")
    for before, piece in ((b"", 1), *itertools.product(befores, (1000, 40_000))):
        queue = made()
        data = before + long(size)
        for at in range(0, len(data), piece):
            if not queue.closed:
                queue.feed(data[at : at + piece])

        heads = [queue.take()[0] for _ in range(len(queue.waiting))]

        assert (queue.closed, isinstance(heads[-1], HeadTooLarge)) == (refused, refused)
        assert len(heads) == (2 if before else 1)


async def test_a_head_without_an_end_is_refused_before_its_end(queue):
    """Each of its lines may be there: they would be half a megabyte."""
    queue.feed(GET[:-2])
    lines = 0
    while not queue.closed:
        lines += 1
        queue.feed(b"X-A: " + b"a" * 5000 + b"\r\n")

    assert isinstance(queue.take()[0], HeadTooLarge)
    assert lines == 7


async def test_one_that_was_held_back_is_measured_too(queue):
    queue.feed(GET * 4 + long(LIMITS.head_bytes + 1))
    for _ in range(4):
        queue.take()

    queue.feed(b"")

    assert isinstance(queue.take()[0], HeadTooLarge)


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
    queue.feed(UPGRADE + GET)
    queue.feed(GET)

    assert [queue.take()[0].upgrade for _ in range(3)] == [True, False, False]


async def test_the_same_bytes_are_the_same_request(queue):
    for _ in range(3):
        assert queue.feed(GET)

    first, second, third = (queue.take()[0] for _ in range(3))

    assert first is second is third


async def test_the_same_bytes_in_another_place_are_read_anew():
    """They may be a part of something else."""
    cases = {
        "body": ([b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 28\r\n\r\n", GET], 1),
        "chunks": ([CHUNKED, GET], 1),
        "header": ([b"GET /b HTTP/1.1\r\nX: ", GET], 1),
        "begun": ([GET + b"G", GET], 1),
        "begun twice": ([GET + b"G", GET + b"G"], 1),
        "without its first byte": ([GET[1:]], 0),
        "begun behind a body": ([POST + b"helloG", GET[1:], GET[1:]], 2),
        "behind a byte": ([b"X" + GET], 0),
        "two at once": ([GET + GET, GET], 3),
        "twice two at once": ([GET + GET, GET + GET], 4),
        "blank line": ([b"\r\n", GET], 1),
    }
    for name, (pieces, requests) in cases.items():
        heads = taken(GET, *pieces)

        assert len(heads) == 1 + requests, name
        assert heads[0] not in heads[1:], name


def taken(*pieces: bytes) -> list[RawRequestMessage]:
    """Read the pieces, and take each request at once."""
    queue, heads = made(), []
    for piece in pieces:
        if not queue.closed:
            queue.feed(piece)
        while queue.waiting:
            heads += [each for each in queue.take()[:1] if not isinstance(each, Exception)]
    return heads


async def test_blank_lines_behind_a_request_that_waits_are_no_request(queue):
    queue.feed(GET)

    for _ in range(3):
        queue.feed(b"\r\n\r\n")

    assert len(queue.waiting) == 1


async def test_what_was_held_back_is_read_once(queue):
    queue.feed(GET * 5)
    while queue.waiting:
        queue.take()

    for _ in range(3):
        queue.feed(b"")

    assert len(queue.waiting) == 1


async def test_no_more_than_four_wait_behind_the_same_requests(queue):
    """The parser is told that each was answered, also of those that it has not read."""
    for _ in range(5):
        queue.feed(GET)
        queue.take()

    queue.feed(GET * 40)

    assert len(queue.waiting) == 4


async def test_a_long_head_is_not_kept(queue):
    long = GET[:-2] + b"X-A: " + b"a" * 4096 + b"\r\n\r\n"
    for _ in range(2):
        queue.feed(long)

    assert queue.take()[0] is not queue.take()[0]


PIECES = st.sampled_from(
    [
        *(GET, GET, GET, GET[:9], GET[9:], GET + GET[:9], GET * 5, b"", b"\r\n", b"\r\n\r\n"),
        *(POST, b"hello", POST + b"hello", POST + b"hello" + GET[:9], POST + b"hello" + GET),
        *(UPGRADE, UPGRADE, CHUNKED, b"5\r\nhello\r\n", b"0\r\n\r\n", b"BAD\r\n\r\n"),
    ]
)


@given(st.lists(st.tuples(PIECES, st.integers(1, 3), st.integers(0, 40)), max_size=8))
async def test_requests_are_what_they_are_without_what_is_kept(
    steps: list[tuple[bytes, int, int]],
) -> None:
    """However they are cut into pieces, and whenever they are taken."""
    ours, forgetful = made(), made()

    for piece, taken in [(piece, taken) for piece, times, taken in steps for _ in range(times)]:
        if ours.closed:
            break
        forgetful._former = None
        assert ours.feed(piece) is forgetful.feed(piece)
        assert state(ours) == state(forgetful)
        for _ in range(min(taken, len(ours.waiting))):
            assert read(ours.take()) == read(forgetful.take())


def state(queue: RequestQueue) -> list[object]:
    return [queue.has_partial, queue.closed, queue.is_full, *map(read, queue.waiting)]


def read(item: Item) -> tuple[object, ...]:
    head, content = item
    if isinstance(head, Exception):
        return type(head), content.is_eof()
    return head.method, head.path, head.raw_headers, head.upgrade, content.is_eof()
