"""
Any bytes at all: never a crash, never another answer than aiohttp's client would read.

What is proven, over bytes that hypothesis draws: the reader ends in an answer or a provider
error; where a segment ends changes nothing; a well-formed answer is read as it was meant and
as aiohttp's client reads it; and of an ill-formed one we never make another answer than
aiohttp's client does: we may only refuse more.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from itertools import combinations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.proofs.transport.answers import SEEDS, Told, doubtful, mutated, told
from tests.proofs.transport.witnesses import Roads, answer_ends, cut, read, roads

SPOILT = doubtful() | mutated()


@pytest.fixture(scope="module")
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    with asyncio.Runner() as runner:
        yield runner.get_loop()


@pytest.fixture(scope="module")
def both(loop: asyncio.AbstractEventLoop) -> Iterator[Roads]:
    stack = AsyncExitStack()
    yield loop.run_until_complete(stack.enter_async_context(roads()))
    loop.run_until_complete(stack.aclose())


@given(data=mutated() | st.binary(max_size=300), places=st.lists(st.integers(0, 400), max_size=6))
@example(data=b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n", places=[])
@example(data=b"HTTP/1.1 101 X\r\nUpgrade: a\r\nConnection: upgrade\r\n\r\nabc", places=[])
def test_no_bytes_crash_the_reader(data: bytes, places: Sequence[int]):
    """The result is always an answer or a provider error."""
    read(cut(data, places))


@given(answer=told(), behind=st.binary(max_size=40), places=st.lists(st.integers(0, 900)))
def test_segmentation_and_following_bytes_change_no_answer(
    answer: Told, behind: bytes, places: Sequence[int]
):
    """Unless the end of the connection is the end of the answer."""
    framed = b"\r\nContent-Length: " in answer.data or b"\r\nTransfer-Encoding: " in answer.data
    data = answer.data + behind if framed else answer.data

    status, _, body = read(cut(data, places))

    assert (status, body) == (answer.status, answer.body)


@pytest.mark.parametrize("data", SEEDS, ids=["length", "chunks", "end", "hint"])
def test_two_cuts_anywhere_change_no_answer(data: bytes):
    """At every pair of positions, and with one byte per segment."""
    whole = read([data])

    for places in combinations(range(1, len(data)), 2):
        assert read(cut(data, places)) == whole, places
    assert read(cut(data, range(len(data)))) == whole


@given(data=SPOILT)
def test_a_cut_anywhere_changes_no_malformed_answer(data: bytes):
    """An answer refused as a whole is refused in pieces too, and the other way round."""
    whole = read([data])

    for place in range(1, len(data)):
        assert read(cut(data, [place])) == whole, place
    assert read(cut(data, range(len(data)))) == whole


@given(meant=told())
def test_a_well_formed_answer_is_read_like_aiohttp(
    loop: asyncio.AbstractEventLoop, both: Roads, meant: Told
):
    """Status, every header and body, and both match what the bank sent."""
    closing = meant.data.replace(b"Some Reason\r\n", b"Some Reason\r\nConnection: close\r\n", 1)

    ours = loop.run_until_complete(both.ask(both.ours, closing))
    stock = loop.run_until_complete(both.ask(both.stock, closing))

    assert ours == stock
    assert (ours[0], ours[-1]) == (meant.status, meant.body)


@given(data=SPOILT)
def test_aiohttp_reads_every_accepted_answer_alike(
    loop: asyncio.AbstractEventLoop, both: Roads, data: bytes
):
    """Aiohttp gets only the bytes of the answer: those after it would disturb it."""
    end = answer_ends(data)
    if end is None:
        return

    ours = loop.run_until_complete(both.ask(both.ours, data))
    stock = loop.run_until_complete(both.ask(both.stock, data[:end]))

    assert ours == read([data[:end]])
    assert ours == stock


def test_a_length_with_a_space_before_its_colon_is_refused():
    """The parser uses its length, while a look-up by name finds none."""
    assert read([b"HTTP/1.1 200 OK\r\nContent-Length : 5\r\n\r\n"])[0] != 200


def test_a_blank_line_with_a_space_does_not_end_the_head():
    """The parser ends the head there, while the reader waits for an empty line."""
    data = b"HTTP/1.1 204 No\r\n \r\nX: y\r\n\r\n"

    assert read([data]) == read(cut(data, range(len(data))))


def test_a_bare_line_feed_gives_the_same_answer_in_any_segments():
    """The parser ends the head at the line feed, the reader two bytes later."""
    data = b'HTTP/1.1 200 OK\r\nContent-Length: 8\n\r\n\r\n{"a": 1}'

    assert read([data]) == read(cut(data, range(len(data))))
