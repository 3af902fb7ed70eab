"""
Answers as broken servers, smugglers and balancers send them, each with what must come of it.

The bank goes on listening after an answer, unless the answer is one that only its end bounds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from gateway.banks.client.responses import HEAD_BYTES, HEADERS, INTERIMS, LINE_BYTES
from tests.world.banks.scripted import answer

LARGEST = 64 * 1024
"""Bytes of a body that are read in these tests."""
SIZES = (0, 1, 7)
"""Answers are cut into segments of so many bytes; 0 leaves them whole."""
# Of more bytes than this the cuts are larger: no more happens in two million turns than in some.
_SMALL = 1_000
_OK = b"HTTP/1.1 200 OK\r\n"
_CHUNKED = _OK + b"Transfer-Encoding: chunked\r\n\r\n"
_LAST = b"0\r\n\r\n"
_HINT = b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"


@dataclass(frozen=True)
class Nasty:
    """
    One answer.

    Attributes:
        expected: The reason of the failure, or the body that is read.
        closes: The bank ends the connection behind it.
        status: Of what is read.
        is_last: It is read, and its connection is used no more.
    """

    data: bytes = field(repr=False)
    expected: str | bytes
    closes: bool = False
    status: int = 200
    is_last: bool = False


def pieces(data: bytes, size: int) -> Sequence[bytes]:
    step = len(data) if not size else size if len(data) < _SMALL else size * len(data) // _SMALL
    return [data[at : at + step] for at in range(0, len(data), step or 1)]


def _headed(*lines: bytes, body: bytes = b"hello") -> bytes:
    return _OK + b"".join(line + b"\r\n" for line in lines) + b"\r\n" + body


def _named(prefix: str, answers: Mapping[str, Nasty]) -> Iterator[tuple[str, Nasty]]:
    return ((f"{prefix}: {name}", each) for name, each in answers.items())


def _not_http(datas: Mapping[str, bytes]) -> dict[str, Nasty]:
    return {name: Nasty(data, "not_http") for name, data in datas.items()}


def _read(datas: Mapping[str, bytes], body: bytes = b"hello", *, closes: bool = False) -> dict:
    return {name: Nasty(data, body, closes) for name, data in datas.items()}


_LENGTHS = _not_http(
    {
        f"{value!r}"[1:]: _headed(b"Content-Length: " + value)
        for value in (
            *(b"+5", b"-5", b"-0", b"0x5", b"5 5", b"5,5", b"5, 5", b"5, 6", b"5;", b"5.0", b"5e0"),
            *(b"five", b"", b"\xb2", b"\xd9\xa5", b"5\x005", b"5\x0b", b"\x0c5", b"'5'", b"1_0"),
            *(b"18446744073709551616", b"18446744073709551621", b"9" * 19, b"9" * 400, b"0" * 19),
        )
    }
    | {
        "two that differ": _headed(b"Content-Length: 5", b"Content-Length: 6"),
        "two that agree": _headed(b"Content-Length: 5", b"Content-Length: 5"),
        "two in other letters": _headed(b"Content-Length: 5", b"content-length: 5"),
        "blank before the colon": _headed(b"Content-Length : 5"),
        "tab before the colon": _headed(b"Content-Length\t: 5"),
        "blank before the name": _headed(b" Content-Length: 5"),
        "with chunks": _headed(
            b"Content-Length: 5", b"Transfer-Encoding: chunked", body=b"5\r\nhello\r\n" + _LAST
        ),
        "with chunks, first": _headed(
            b"Transfer-Encoding: chunked", b"Content-Length: 5", body=b"5\r\nhello\r\n" + _LAST
        ),
    }
)
_LENGTHS |= _read(
    {
        "a leading zero": _headed(b"Content-Length: 05"),
        "blanks around": _headed(b"Content-Length: \t 5 \t "),
        "no blank": _headed(b"Content-Length:5"),
        "other letters": _headed(b"cOnTeNt-LeNgTh: 5"),
    }
)

_CODINGS = {
    name: Nasty(data, "content_coding")
    for name, data in {
        **{
            f"{value!r}"[1:]: _headed(
                b"Transfer-Encoding: " + value, body=b"5\r\nhello\r\n" + _LAST
            )
            for value in (
                *(b"identity", b"gzip, chunked", b"chunked, chunked", b"chunked, identity"),
                *(b"xchunked", b"chunkedx", b"chunked;q=1", b"'chunked'", b"deflate"),
            )
        },
        **{
            f"content {value!r}": _headed(b"Content-Encoding: " + value, b"Content-Length: 5")
            for value in (b"gzip", b"br", b"zstd", b"identity, gzip", b"x-gzip", b"deflate")
        },
        "content, one thing twice": _headed(
            b"Content-Encoding: identity", b"Content-Encoding: identity", b"Content-Length: 5"
        ),
        "content, twice": _headed(
            b"Content-Encoding: identity", b"Content-Encoding: gzip", b"Content-Length: 5"
        ),
    }.items()
}
_CODINGS |= _not_http(
    {
        "two lines of chunked": _headed(
            *[b"Transfer-Encoding: chunked"] * 2, body=b"5\r\nhello\r\n" + _LAST
        ),
        "nothing": _headed(b"Transfer-Encoding: ", body=b"5\r\nhello\r\n" + _LAST),
        "chunks in 1.0": b"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"
        + _LAST,
        "blank before the colon": _headed(
            b"Transfer-Encoding : chunked", body=b"5\r\nhello\r\n" + _LAST
        ),
    }
)
_CODINGS |= _read(
    {
        "other letters": _headed(b"tRANSFER-eNCODING: cHUNKED", body=b"5\r\nhello\r\n" + _LAST),
        "content identity": _headed(b"Content-Encoding: identity", b"Content-Length: 5"),
    }
)

_LINES = _not_http(
    {
        "line feeds alone": _headed(b"Content-Length: 5").replace(b"\r\n", b"\n"),
        "one line feed alone": _OK + b"X: a\nContent-Length: 5\r\n\r\nhello",
        "carriage returns alone": _headed(b"Content-Length: 5").replace(b"\r\n", b"\r"),
        "carriage return in a value": _headed(b"X: a\rb", b"Content-Length: 5"),
        "two carriage returns": _headed(b"X: a\r", b"Content-Length: 5"),
        "folded by a blank": _headed(b"X: a", b" b", b"Content-Length: 5"),
        "folded by a tab": _headed(b"X: a", b"\tContent-Length: 6", b"Content-Length: 5"),
        "folded length": _headed(b"Content-Length:", b" 5"),
        "folded by an empty line of a tab": _headed(b"X: a", b"\t", b"Content-Length: 5"),
        "a control in a value": _headed(b"X: a\x05b", b"Content-Length: 5"),
        "a DEL in a value": _headed(b"X: a\x7fb", b"Content-Length: 5"),
        "line feeds before": b"\n\n" + _headed(b"Content-Length: 5"),
        "carriage returns before": b"\r\r" + _headed(b"Content-Length: 5"),
        "a blank line before": b"\r\n" + _headed(b"Content-Length: 5"),
        "blank lines before": b"\r\n\r\n" + _headed(b"Content-Length: 5"),
        "blank lines alone": b"\r\n" * HEAD_BYTES,
        "a blank line behind a line feed": _OK + b"Content-Length: 5\n\r\n\r\nhello",
        "a length behind a line feed alone": _OK + b"X: a\n\nContent-Length: 5\r\n\r\nhello",
        "NUL in a value": _headed(b"X: a\x00b", b"Content-Length: 5"),
        "NUL in a name": _headed(b"X\x00: a", b"Content-Length: 5"),
        "blank in a name": _headed(b"X y: a", b"Content-Length: 5"),
        "blank behind a name": _headed(b"X : a", b"Content-Length: 5"),
        "no name": _headed(b": a", b"Content-Length: 5"),
        "no colon": _headed(b"Content-Length 5"),
        "quotes in a name": _headed(b'"X": a', b"Content-Length: 5"),
        "beyond ASCII in a name": _headed("Céu: a".encode(), b"Content-Length: 5"),
        "a line of a blank": _headed(b" ", b"Content-Length: 5"),
        "a long line": _headed(b"X: " + b"x" * (LINE_BYTES + 1), b"Content-Length: 5"),
        "a long name": _headed(b"x" * (LINE_BYTES + 1) + b": x", b"Content-Length: 5"),
        "many lines": _headed(*[b"X: y"] * (HEADERS + 1), b"Content-Length: 5"),
        "a long head": _OK + b"".join(b"X%d: %s\r\n" % (n, b"x" * 8000) for n in range(9)),
        "a head without an end": _OK + b"X: y\r\n" * (HEAD_BYTES // 6 + 1),
    }
)
_LINES |= _read(
    {
        "an empty value": _headed(b"X:", b"Content-Length: 5"),
        "beyond ASCII in a value": _headed(b"X: \xe7\xff", b"Content-Length: 5"),
        "as long a line as may be": _headed(b"X: " + b"x" * (LINE_BYTES - 3), b"Content-Length: 5"),
        "as many lines as may be": _headed(*[b"X: y"] * (HEADERS - 1), b"Content-Length: 5"),
        "a cookie": _headed(b"Set-Cookie: a=b", b"Content-Length: 5"),
    }
)

_STATUS_LINES = _not_http(
    {
        f"{line!r}"[1:]: line + b"\r\nContent-Length: 5\r\n\r\nhello"
        for line in (
            *(b"HTTP/1.1 20 OK", b"HTTP/1.1 2000 OK", b"HTTP/1.1 2x0 OK", b"HTTP/1.1 -200 OK"),
            *(b"HTTP/1.1  200 OK", b"HTTP/1.1\t200 OK", b" HTTP/1.1 200 OK", b"HTTP/1.1"),
            *(b"HTTP/1.1 ", b"HTTP/2 200 OK", b"HTTP/2.0 200 OK", b"HTTP/1.2 200 OK"),
            *(b"HTTP/0.9 200 OK", b"HTTP/11 200 OK", b"HTTP/1.10 200 OK", b"http/1.1 200 OK"),
            *(b"RTSP/1.0 200 OK", b"ICY 200 OK", b"SSH-2.0-x", b"HTTPS/1.1 200 OK", b"200 OK"),
            *(b"HTTP /1.1 200 OK", b"HTTP/1.1 200 O\x00K", b"HTTP/1.1 200 O\rK", b"{}"),
            *(b"HTTP/1.1 000 None", b"HTTP/1.1 099 OK", b"HTTP/1.1 200OK", b"HTTP/01.1 200 OK"),
            *(b"HTTP/1.1 200 \x7f", b"HTTP/1.1 200 O\x05K", b"HTTP/3 200 OK", b"HTTP/1. 200 OK"),
            *(b"ICE/1.0 200 OK", b"HTTP/1.1 200 " + b"x" * LINE_BYTES, b"HTTP/1,1 200 OK"),
            *(b"GET / HTTP/1.1", b"<html>", b"HTTP/1.1 \xb2\xb0\xb0 OK", b"+OK", b"220 ready"),
        )
    }
)
_STATUS_LINES |= _read(
    {
        "no reason": b"HTTP/1.1 200\r\nContent-Length: 5\r\n\r\nhello",
        "an empty reason": b"HTTP/1.1 200 \r\nContent-Length: 5\r\n\r\nhello",
        "a reason in Latin": b"HTTP/1.1 200 N\xe3o\r\nContent-Length: 5\r\n\r\nhello",
    }
)
_STATUS_LINES |= {
    f"1.0 with {line!r}": Nasty(
        b"HTTP/1.0 200 OK\r\n" + line + b"\r\nContent-Length: 5\r\n\r\nhello",
        b"hello",
        is_last=True,
    )
    for line in (b"X: y", b"Connection: keep-alive")
}

_CHUNKS = _not_http(
    {
        f"{body[:24]!r}"[1:]: _CHUNKED + body
        for body in (
            *(b"+5\r\nhello\r\n", b"-5\r\nhello\r\n", b"0x5\r\nhello\r\n", b"x\r\n", b"\r\n"),
            *(b"5\nhello\r\n", b"5\r\nhello\n", b"5\r\nhelloX\r\n", b"4\r\nhello\r\n"),
            *(b"6\r\nhello\r\n0\r\n\r\n", b"5\r\rhello\r\n", b" 5\r\nhello\r\n", b"5 5\r\nhello"),
            *(b"f" * 17 + b"\r\n", b"1" + b"0" * 16 + b"\r\nhello", b"5;a\nhello\r\n"),
            *(b"5\x00\r\nhello\r\n", b"\xd9\xa5\r\nhello", b"5,\r\nhello\r\n", b"5.\r\nhello"),
            *(b"5\r\nhello\r\n0\r\nX : y\r\n\r\n", b"5\r\nhello\r\n0\r\nX: \x00\r\n\r\n"),
            b"5\r\nhello\r\n0\r\nX: a\r\n b\r\n\r\n",
            *(b"0\r\n\n", b"0\r\n\rx", b"5;a\x00b\r\nhello\r\n", b"5\r\nhello0\r\n\r\n"),
            *(b"5\r\nhell\r\n0\r\n\r\n", b"0\n\n", b"0\r\nX: y\n\r\n", b"hello\r\n"),
        )
    }
)
_CHUNKS |= {
    "a trailer that frames": Nasty(
        _CHUNKED + b"5\r\nhello\r\n0\r\nContent-Length: 3\r\n\r\n", "not_http"
    ),
    "an endless extension": Nasty(_CHUNKED + b"5;" + b"x" * 2_000_000, "too_large"),
    "a trailer longer than a head": Nasty(
        _CHUNKED + b"5\r\nhello\r\n0\r\nX: " + b"y" * 70_000 + b"\r\n\r\n", "too_large"
    ),
    "an endless trailer": Nasty(_CHUNKED + b"0\r\nX: " + b"x" * 2_000_000, "too_large"),
    "the largest size there is": Nasty(
        _CHUNKED + b"f" * 16 + b"\r\nhello\r\n" + _LAST, "answer_cut_short", closes=True
    ),
    "one chunk beyond the bound": Nasty(
        _CHUNKED + b"%x\r\n" % (LARGEST + 1) + b"x" * (LARGEST + 1), "too_large"
    ),
    "many chunks beyond the bound": Nasty(
        _CHUNKED + (b"400\r\n" + b"x" * 1024 + b"\r\n") * (LARGEST // 1024 + 1), "too_large"
    ),
    "many bytes for few": Nasty(_CHUNKED + (b"1;" + b"x" * 4000 + b"\r\nx\r\n") * 200, "too_large"),
}
_CHUNKS |= _read(
    {
        "capital letters": _CHUNKED + b"A\r\nhellohello\r\n" + _LAST,
        "small letters": _CHUNKED + b"a\r\nhellohello\r\n" + _LAST,
        "zeros before": _CHUNKED + b"00000A\r\nhellohello\r\n" + _LAST,
        "an extension": _CHUNKED + b'5;a=b;c="d"\r\nhello\r\n5\r\nhello\r\n' + _LAST,
        "a blank behind": _CHUNKED + b"5 \r\nhello\r\n5\t\r\nhello\r\n" + _LAST,
        "a trailer of a coding": _CHUNKED
        + b"A\r\nhellohello\r\n0\r\nTransfer-Encoding: chunked\r\n\r\n",
        "a trailer": _CHUNKED + b"A\r\nhellohello\r\n0\r\nX: y\r\n\r\n",
        "each byte a chunk": _CHUNKED + b"".join(b"1\r\n%c\r\n" % c for c in b"hellohello") + _LAST,
        "a trailer of 60 KB": _CHUNKED
        + b"A\r\nhellohello\r\n0\r\nX: "
        + b"y" * 60_000
        + b"\r\n\r\n",
        "many zeros at the end": _CHUNKED + b"A\r\nhellohello\r\n000\r\n\r\n",
    },
    b"hellohello",
)

_SIZES = {
    "declared beyond the bound": Nasty(
        _headed(b"Content-Length: %d" % (LARGEST + 1), body=b""), "too_large"
    ),
    "declared without an end": Nasty(
        _headed(b"Content-Length: " + b"9" * 18, body=b""), "too_large"
    ),
    "until the end, beyond the bound": Nasty(_OK + b"\r\n" + b"x" * (LARGEST + 1), "too_large"),
    "an error's page beyond the bound": Nasty(
        b"HTTP/1.1 502 Bad Gateway\r\n\r\n" + b"x" * (LARGEST + 1), "too_large"
    ),
    "chunks of one byte, at the bound": Nasty(
        _CHUNKED + b"1\r\nx\r\n" * LARGEST + _LAST, b"x" * LARGEST
    ),
    "chunks at the bound": Nasty(
        _CHUNKED + b"%x\r\n" % LARGEST + b"x" * LARGEST + b"\r\n" + _LAST, b"x" * LARGEST
    ),
    "until the end, at the bound": Nasty(
        _OK + b"\r\n" + b"x" * LARGEST, b"x" * LARGEST, closes=True
    ),
    "at the bound": Nasty(answer(b"x" * LARGEST), b"x" * LARGEST),
    "until the end": Nasty(_OK + b"\r\nhello", b"hello", closes=True),
    "1.0 until the end": Nasty(b"HTTP/1.0 200 OK\r\n\r\nhello", b"hello", closes=True),
    "nothing until the end": Nasty(_OK + b"\r\n", b"", closes=True),
}

_CUTS = {
    **{
        f"length, after {place}": Nasty(answer(b"hello")[:place], "connection_lost", closes=True)
        for place in (0, 1, 8, 9, 15, 17, 30, 60)
    },
    **{
        f"body, {left} short": Nasty(answer(b"hello")[:-left], "answer_cut_short", closes=True)
        for left in (1, 4, 5)
    },
    **{
        f"chunks, {left} short": Nasty(
            (_CHUNKED + b"5\r\nhello\r\n" + _LAST)[:-left], "answer_cut_short", closes=True
        )
        for left in (1, 2, 3, 4, 5, 6, 7, 8, 12, 14, 15)
    },
    "a hint alone": Nasty(_HINT, "connection_lost", closes=True),
}

_INTERIM = {
    "a hint": Nasty(_HINT + answer(b"hello"), b"hello"),
    "as many hints as may be": Nasty(_HINT * INTERIMS + answer(b"hello"), b"hello"),
    "100, unasked": Nasty(b"HTTP/1.1 100 Continue\r\n\r\n" + answer(b"hello"), b"hello"),
    "102": Nasty(b"HTTP/1.1 102 Processing\r\n\r\n" + answer(b"hello"), b"hello"),
    "199": Nasty(b"HTTP/1.1 199 What\r\n\r\n" + answer(b"hello"), "not_http"),
    "a hint with a body": Nasty(
        b"HTTP/1.1 103 H\r\nContent-Length: 5\r\n\r\nhello" + answer(b"hello"), "not_http"
    ),
    "a hint with chunks": Nasty(
        b"HTTP/1.1 103 H\r\nTransfer-Encoding: chunked\r\n\r\n" + _LAST + answer(b"hello"),
        "not_http",
    ),
    "a blank line behind a hint": Nasty(_HINT + b"\r\n" + answer(b"hello"), "not_http"),
    "a hint with a length of nothing": Nasty(
        b"HTTP/1.1 103 H\r\nContent-Length: 0\r\n\r\n" + answer(b"hello"), b"hello"
    ),
    "a hint with two lengths": Nasty(
        b"HTTP/1.1 103 H\r\n" + b"Content-Length: 0\r\n" * 2 + b"\r\n" + answer(b"hello"),
        "not_http",
    ),
    "a hint of 1.0": Nasty(b"HTTP/1.0 100 Continue\r\n\r\n" + answer(b"hello"), "not_http"),
    "a hint that closes": Nasty(
        b"HTTP/1.1 100 Continue\r\nConnection: close\r\n\r\n" + answer(b"hello"), "not_http"
    ),
    "a hint with a NUL": Nasty(b"HTTP/1.1 103 \x00\r\n\r\n" + answer(b"hello"), "not_http"),
    "a NUL behind a hint": Nasty(_HINT + answer(b"hello", status="200 \x00"), "not_http"),
    "101": Nasty(b"HTTP/1.1 101 Up\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", "not_http"),
    "101, nothing said of an upgrade": Nasty(b"HTTP/1.1 101 Up\r\n\r\n", "not_http"),
    "200 that offers an upgrade": Nasty(
        _headed(b"Upgrade: h2c", b"Connection: Upgrade", b"Content-Length: 5"), b"hello"
    ),
    "204 with a length": Nasty(
        b"HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n", b"", status=204
    ),
    "204 with a body": Nasty(
        b"HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello", b"", status=204, is_last=True
    ),
    "204 with chunks": Nasty(
        b"HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n", b"", status=204
    ),
    "304 with a length": Nasty(b"HTTP/1.1 304 Same\r\nContent-Length: 5\r\n\r\n", b"", status=304),
    "204 with a length beyond the bound": Nasty(
        b"HTTP/1.1 204 No Content\r\nContent-Length: 999999999\r\n\r\n", b"", status=204
    ),
    "204 with two lengths": Nasty(
        b"HTTP/1.1 204 No Content\r\nContent-Length: 0\r\nContent-Length: 5\r\n\r\n", "not_http"
    ),
    "205 with chunks": Nasty(
        b"HTTP/1.1 205 Reset\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n" + _LAST,
        b"hello",
        status=205,
    ),
    "205": Nasty(b"HTTP/1.1 205 Reset\r\nContent-Length: 0\r\n\r\n", b"", status=205),
    "a redirect": Nasty(
        b"HTTP/1.1 307 T\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n",
        b"",
        status=307,
    ),
    "600": Nasty(b"HTTP/1.1 600 What\r\nContent-Length: 5\r\n\r\nhello", b"hello", status=600),
}

_SURPLUS = {
    f"behind a {kind}: {name}": Nasty(data + more, b"hello", is_last=True)
    for kind, data in {
        "length": answer(b"hello"),
        "chunk": _CHUNKED + b"5\r\nhello\r\n" + _LAST,
    }.items()
    for name, more in {
        "another answer": answer(b'{"his": 1}'),
        "a line": b"\r\n",
        "half a line": b"\n",
        "the end of chunks": _LAST,
        "a NUL": b"\x00",
        "a byte": b"x",
        "a refusal": answer(b"{}", status="400 Bad Request"),
        "half an answer": answer(b"{}")[:20],
    }.items()
}

_CLOSING = {
    f"{value!r}"[1:]: Nasty(
        _headed(b"Connection: " + value, b"Content-Length: 5"), b"hello", is_last=is_last
    )
    for value, is_last in {
        b"close": True,
        b"Close": True,
        b"keep-alive, close": True,
        b"x,\tcLOSE": True,
        b"keep-alive": False,
        b"": False,
    }.items()
}
_CLOSING["in a second line"] = Nasty(
    _headed(b"Connection: keep-alive", b"Connection: close", b"Content-Length: 5"),
    b"hello",
    is_last=True,
)

NASTY: Mapping[str, Nasty] = dict(
    pair
    for prefix, answers in {
        "length": _LENGTHS,
        "coding": _CODINGS,
        "line": _LINES,
        "status line": _STATUS_LINES,
        "chunk": _CHUNKS,
        "size": _SIZES,
        "cut": _CUTS,
        "interim": _INTERIM,
        "surplus": _SURPLUS,
        "closing": _CLOSING,
    }.items()
    for pair in _named(prefix, answers)
)
