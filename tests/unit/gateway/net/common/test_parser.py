"""Framing of requests."""

from aiohttp.http import HttpVersion
from aiohttp.http_parser import RawRequestMessage
from multidict import CIMultiDict, CIMultiDictProxy
from yarl import URL

from gateway.net.common.parser import LENGTH, VERSIONS, is_only_chunked


def test_a_length_is_up_to_18_digits():
    """19 digits could be 2**64 - 1, which the parser reads as "no length"."""
    lengths = ["0", "5", "005", "9" * 18]
    others = ["", "+5", "-1", "5 ", "0x5", "5,5", "9" * 19, "٥", "5\n"]

    assert [text for text in lengths + others if LENGTH.fullmatch(text)] == lengths


def test_two_versions_are_spoken():
    assert set(VERSIONS) == {HttpVersion(1, 0), HttpVersion(1, 1)}


def test_chunked_is_the_one_transfer_coding():
    expected = [
        (["chunked"], (1, 1), True),
        (["Chunked"], (1, 1), True),
        (["chunked"], (1, 0), False),
        (["chunked", "chunked"], (1, 1), False),
        (["gzip, chunked"], (1, 1), False),
        (["identity"], (1, 1), False),
        ([""], (1, 1), False),
    ]

    found = [(each, at, is_only_chunked(message(each, at))) for each, at, _ in expected]

    assert found == expected


def message(codings: list[str], version: tuple[int, int]) -> RawRequestMessage:
    """Make what the parser would have made."""
    headers = CIMultiDict([("Transfer-Encoding", each) for each in codings])
    return RawRequestMessage(
        method="POST",
        path="/",
        version=HttpVersion(*version),
        headers=CIMultiDictProxy(headers),
        raw_headers=(),
        should_close=False,
        compression=None,
        upgrade=False,
        chunked=True,
        url=URL("/"),
    )
