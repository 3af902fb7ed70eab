"""Bytes become answers, whatever segments they come in."""

from __future__ import annotations

import gzip
from collections.abc import Iterable
from random import Random

import pytest
from multidict import CIMultiDict

from gateway.banks.client.messages import ProviderAnswer
from gateway.banks.client.responses import INTERIMS, ResponseReader, read_head
from gateway.banks.port.providers import BadReply, ProviderError
from tests.world.banks.nasty import LARGEST, NASTY, SIZES, Nasty, pieces
from tests.world.banks.scripted import answer
from tests.world.extent import SEED

BODY = b'{"a": 1}'
CHUNKED = (
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    b'3\r\n{"a\r\n5;x=y\r\n": 1}\r\n0\r\nTrailer: t\r\n\r\n'
)
CLOSED = b"HTTP/1.1 200 OK\r\n\r\n" + BODY
PACKED = answer(
    gzip.compress(BODY, mtime=0),
    headers=(b"Content-Encoding: gzip", b"Connection: keep-alive", b"Keep-Alive: timeout=5"),
)
EARLY = b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"


class Heard:
    def __init__(self) -> None:
        self.reading = ResponseReader(LARGEST)
        self.statuses: list[int] = []

    def read(self, *segments: bytes) -> ProviderAnswer | None:
        self.reading.begin(self.statuses.append)
        for segment in segments:
            found = self.reading.feed(segment)
            if found is not None:
                return found
        return None


def verdict(nasty: Nasty, size: int) -> tuple[object, ...]:
    """Say what is made of an answer and of its end; whole, of its connection too."""
    heard = Heard()
    try:
        found = heard.read(*pieces(nasty.data, size)) or heard.reading.end()
    except ProviderError as failed:
        return (failed.reason, heard.reading.reusable)
    return (found.status, found.body, heard.reading.reusable if size == 0 else None)


def expected(nasty: Nasty, size: int) -> tuple[object, ...]:
    if isinstance(nasty.expected, str):
        return (nasty.expected, False)
    reusable = not (nasty.closes or nasty.is_last)
    return (nasty.status, nasty.expected, reusable if size == 0 else None)


def cuts(data: bytes) -> Iterable[tuple[bytes, ...]]:
    """In one piece, in two at every place, and byte by byte."""
    yield (data,)
    for cut in range(1, len(data)):
        yield data[:cut], data[cut:]
    yield tuple(bytes([byte]) for byte in data)


def test_every_malformed_answer_is_read_or_refused_as_expected():
    """In any segmentation."""
    wrong = {
        (name, size): found
        for name, nasty in NASTY.items()
        for size in SIZES
        if (found := verdict(nasty, size)) != expected(nasty, size)
    }

    assert wrong == {}
    assert len(NASTY) >= 270


def outcome(heard: Heard, segments: Iterable[bytes]) -> tuple[object, ...]:
    """The answer, or the failure; and the statuses that were reported."""
    heard.statuses.clear()
    try:
        found = heard.read(*segments) or heard.reading.end()
    except ProviderError as failed:
        return (type(failed), failed.reason, failed.http_status, *heard.statuses)
    return (found.status, list(found.headers.items()), found.body, *heard.statuses)


def test_segmentation_changes_neither_an_answer_nor_a_failure():
    """One reader reads them all, without a trace of the previous one."""
    heard = Heard()
    short = {name: nasty.data for name, nasty in NASTY.items() if 0 < len(nasty.data) < 200}
    short |= {f"spoilt {seed}": spoilt(seed) for seed in range(100)}
    wrong = set()
    for name, data in short.items():
        whole = outcome(Heard(), [data])
        wrong |= {(name, cut) for cut in cuts(data) if outcome(heard, cut) != whole}

    assert wrong == set()
    assert len(short) >= 330


def spoilt(seed: int) -> bytes:
    """An answer with one to three bytes replaced, left out or added."""
    draw = Random(SEED + seed)
    data = bytearray(draw.choice([answer(BODY), CHUNKED, EARLY + answer(BODY), PACKED]))
    for _ in range(draw.randint(1, 3)):
        at = draw.randrange(len(data))
        data[at : at + draw.randint(0, 1)] = draw.choice([b"", b"\r\n", b"\n", b":", b"0", b" "])
    return bytes(data)


@pytest.mark.parametrize(
    "data",
    [answer(BODY), CHUNKED, PACKED, EARLY + answer(BODY), EARLY * INTERIMS + CHUNKED],
    ids=["length", "chunks", "gzip", "early hints", "many hints"],
)
def test_an_answer_is_read_in_any_segmentation(data: bytes):
    """One reader reads them all, one after the other, as on a kept connection."""
    heard = Heard()
    for segments in cuts(data) if len(data) < 300 else [(data,)]:
        found = heard.read(*segments)

        assert found is not None
        assert (found.status, found.body) == (200, BODY)
        assert "Trailer" not in found.headers
        assert heard.reading.reusable
    assert set(heard.statuses) == {200}


def test_an_answer_without_a_length_ends_with_the_connection():
    for segments in cuts(CLOSED):
        heard = Heard()

        assert heard.read(*segments) is None
        assert heard.reading.end().body == BODY
        assert not heard.reading.reusable


@pytest.mark.parametrize("data", [answer(BODY), CHUNKED, EARLY + answer(BODY)])
def test_a_truncated_answer_is_refused(data: bytes):
    """At every byte: before the end of its head as a lost connection, then as truncated."""
    whole = data.index(b"\r\n\r\n", len(EARLY) if data.startswith(EARLY) else 0) + 4
    for cut in range(len(data)):
        heard = Heard()
        assert heard.read(data[:cut]) is None

        with pytest.raises(ProviderError) as failed:
            heard.reading.end()

        expected = "answer_cut_short" if cut >= whole else "connection_lost"
        assert failed.value.reason == expected
        assert failed.value.http_status == (200 if cut >= whole else None)


def test_an_unrequested_compressed_answer_is_decompressed():
    """A proxy of the bank may compress anyway; the limit applies to the plain body."""
    whole = gzip.compress(BODY)
    coded = (b"Content-Encoding: gzip",)
    opened = Heard().read(answer(whole, headers=coded))
    refused = {
        answer(gzip.compress(b"x" * (LARGEST + 1)), headers=coded): "too_large",
        answer(whole[:-4], headers=coded): "content_coding",
        answer(whole + b"x", headers=coded): "content_coding",
        answer(BODY, headers=coded): "content_coding",
    }

    assert opened is not None
    assert opened.body == BODY
    for data, reason in refused.items():
        with pytest.raises(BadReply) as failed:
            Heard().read(data)
        assert failed.value.reason == reason, data


def test_a_single_answer_may_announce_the_close_of_its_connection():
    """Nothing follows on that connection anyway."""
    reading = ResponseReader(LARGEST, single=True)
    for said in (b"Connection: close", b"Connection: keep-alive", b"X: y"):
        reading.begin(lambda _: None)
        found = reading.feed(answer(BODY, headers=(said,)))

        assert found is not None
        assert found.body == BODY
        assert not reading.reusable


def test_nothing_is_read_after_too_many_interim_responses():
    """A flood of them must not keep the process busy until the timeout."""
    heard = Heard()

    found = heard.read(EARLY * (INTERIMS + 1) + answer())

    assert (found, heard.reading.discarding) == (None, True)


def test_the_bank_s_keep_alive_timeout_is_kept():
    heard = Heard()

    heard.read(answer(headers=(b"Keep-Alive: timeout=5",)))

    assert heard.reading.kept_s == 5


def test_keep_alive_seconds_are_read_from_the_header():
    """For as long as the bank announces, if it does."""
    expected = {"timeout=5": 5.0, "max=10, Timeout = 7": 7.0, "max=10": None, "timeout=-1": None}

    assert {said: kept_s({"Keep-Alive": said}) for said in expected} == expected
    assert kept_s({}) is None


def kept_s(headers: dict[str, str]) -> float | None:
    return read_head(200, CIMultiDict(headers), is_old=False).kept_s


def test_two_content_lengths_are_refused():
    """Even though llhttp refuses them already."""
    for other in ("5", "6"):
        with pytest.raises(BadReply):
            read_head(
                200, CIMultiDict([("Content-Length", "5"), ("content-length", other)]), is_old=False
            )
