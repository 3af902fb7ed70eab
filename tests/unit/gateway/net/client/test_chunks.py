"""Chunks keep to their sizes, however they are cut."""

from __future__ import annotations

import pytest

from gateway.domain.bank.providers import BadReply
from gateway.net.client.chunks import Chunks

WHOLE = b"5\r\nhello\r\nA;a=b\r\n0123456789\r\n003 \r\n\r\n\n\r\n0\r\nX: y\r\n\r\n"


def follow(*segments: bytes) -> None:
    chunks = Chunks()
    for segment in segments:
        chunks.follow(segment)


def test_whole_ones_are_followed_wherever_they_are_cut():
    follow(WHOLE)
    follow(*(bytes([byte]) for byte in WHOLE))
    for cut in range(len(WHOLE)):
        follow(WHOLE[:cut], WHOLE[cut:])


@pytest.mark.parametrize("behind", [b"HTTP/1.1 200 OK\r\n", b"\n", b"nonsense\n"])
def test_what_comes_behind_does_not_matter(behind: bytes):
    follow(WHOLE + behind)
    follow(WHOLE, behind)


@pytest.mark.parametrize(
    "data",
    [
        b"5\r\nhell\r\n0\r\n\r\n",
        b"4\r\nhello\r\n0\r\n\r\n",
        b"5\nhello\r\n",
        b"5\r\nhello\n",
        b"5\rhello\r\n",
        b"5\r\nhello\r\n0\r\n\n",
        b"5\r\nhello\r\n0\r\nX: \r y\r\n\r\n",
        b"\r\n",
        b"-1\r\n",
        b"0x5\r\nhello\r\n",
        b"5 5\r\nhello\r\n",
        b"ffffffffffffffff\r\n",
        b"5;" + b"x" * 70_000,
    ],
)
def test_what_two_readers_may_read_apart_is_refused(data: bytes):
    for segments in ((data,), tuple(bytes([byte]) for byte in data[:100])):
        if len(data) > 100 and len(segments) > 1:
            continue
        with pytest.raises(BadReply) as failed:
            follow(*segments)

        assert failed.value.reason == "not_http"
