"""Framing that requests and responses share. Both readers' own tests hold it against messages."""

import pytest
from aiohttp.http import HttpVersion
from aiohttp.http_parser import RawResponseMessage
from multidict import CIMultiDict, CIMultiDictProxy

from gateway.net.common.parser import LENGTH, VERSIONS, is_only_chunked


@pytest.mark.parametrize("text", ["0", "5", "005", "9" * 18])
def test_a_length_is_digits(text: str):
    assert LENGTH.fullmatch(text)


@pytest.mark.parametrize("text", ["", "+5", "-1", "5 ", "0x5", "5,5", "9" * 19, "٥", "5\n"])
def test_nothing_else_is_a_length(text: str):
    """19 digits could be 2**64 - 1, which the parser reads as "no length"."""
    assert LENGTH.fullmatch(text) is None


def test_two_versions_are_spoken():
    assert set(VERSIONS) == {HttpVersion(1, 0), HttpVersion(1, 1)}


@pytest.mark.parametrize(
    ("codings", "version", "only"),
    [
        (["chunked"], (1, 1), True),
        (["Chunked"], (1, 1), True),
        (["chunked"], (1, 0), False),
        (["chunked", "chunked"], (1, 1), False),
        (["gzip, chunked"], (1, 1), False),
        (["identity"], (1, 1), False),
        ([""], (1, 1), False),
    ],
    ids=str,
)
def test_chunked_is_the_one_transfer_coding(codings, version, only):
    assert is_only_chunked(message(codings, version)) is only


def message(codings: list[str], version: tuple[int, int]) -> RawResponseMessage:
    """Make what the parser would have made."""
    headers = CIMultiDict([("Transfer-Encoding", each) for each in codings])
    return RawResponseMessage(
        version=HttpVersion(*version),
        code=200,
        reason="OK",
        headers=CIMultiDictProxy(headers),
        raw_headers=(),
        should_close=False,
        compression=None,
        upgrade=False,
        chunked=True,
    )
