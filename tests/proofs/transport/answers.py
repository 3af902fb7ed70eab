"""Answers as a fuzzer makes them: well-formed ones, nearly well-formed ones, and noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from hypothesis import strategies as st

from tests.world.banks.scripted import answer

SEEDS = (
    answer(b'{"a": 1}'),
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
    b"HTTP/1.0 200 OK\r\n\r\nuntil the end",
    b"HTTP/1.1 103 Early Hints\r\nA: b\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n",
)
NAMES = st.from_regex(r"X-[A-Za-z0-9-]{1,12}", fullmatch=True)
VALUES = st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), max_size=30)
BODIES = st.binary(max_size=600)
STATUSES = st.sampled_from([200, 201, 202, 204, 302, 304, 400, 404, 409, 422, 429, 500, 503])

STATUS_LINES = (
    b"HTTP/1.1 200 OK", b"HTTP/1.1 200", b"HTTP/1.1 200 ", b"HTTP/1.0 200 OK", b"HTTP/1.1  200 OK",
    b"http/1.1 200 OK", b"HTTP/1.2 200 OK", b"HTTP/2 200", b"HTTP/1.1 2000 OK", b"HTTP/1.1 20 OK",
    b"HTTP/1.1 204 No", b"HTTP/1.1 304 No", b"HTTP/1.1 205 No", b"HTTP/1.1 101 Up",
    b"HTTP/1.1 100 Go", b"HTTP/1.1 404 \xe9", b"HTTP/1.1 000 None", b"\r\nHTTP/1.1 200 OK",
)  # fmt: skip
HEADERS = (
    b"Content-Length: 5", b"content-length:5", b"Content-Length: 05", b"Content-Length: +5",
    b"Content-Length: 5, 5", b"Content-Length: 4", b"Content-Length: 6", b"Content-Length: ",
    b"Content-Length : 5", b" Content-Length: 5", b"Content-Length: 0x5", b"Content-Length: 5 ",
    b"Content-Length: 18446744073709551615", b"Content-Length: -1", b"Content-Length\t: 5",
    b"Transfer-Encoding: chunked", b"transfer-encoding:CHUNKED", b"Transfer-Encoding: identity",
    b"Transfer-Encoding: gzip, chunked", b"Transfer-Encoding: chunked, chunked",
    b"Transfer-Encoding: xchunked", b"Transfer-Encoding: chunked, identity",
    b"Transfer-Encoding:\x0bchunked", b"Transfer-Encoding: ", b"Connection: close",
    b"Connection: keep-alive", b"Connection: upgrade", b"Upgrade: h2c", b"Trailer: X",
    b"Content-Encoding: identity", b"Content-Encoding: gzip", b"Keep-Alive: timeout=5",
    b"X: a\r\n b", b"X:", b"X", b": x", b"X: \x00", b"X: \xff", b"X: a\rb", b"X y: z",
    b"Set-Cookie: a=b; c", b"X: " + b"y" * 300, b"Location: http://127.0.0.1:1/",
    b" ", b"\t", b" x: y",
)  # fmt: skip
BODY_PIECES = (
    b"hello", b"5\r\nhello\r\n", b"5;a=b\r\nhello\r\n", b"05\r\nhello\r\n", b"5 \r\nhello\r\n",
    b"5\nhello\n", b"0x5\r\nhello\r\n", b"+5\r\nhello\r\n", b"-1\r\n", b"4\r\nhello\r\n",
    b"6\r\nhello\r\n", b"5\r\nhelloX\r\n", b"ffffffffffffffff\r\n", b"A\r\nhellohello\r\n",
    b"0\r\n\r\n", b"0\r\nX: y\r\n\r\n", b"0\r\nContent-Length: 5\r\n\r\n", b"0\r\n", b"00\r\n\r\n",
    b"0;x\r\n\r\n", b"\r\n", b"", b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", b"{}",
)  # fmt: skip
LINE_ENDS = (b"\r\n", b"\r\n", b"\r\n", b"\r\n", b"\n", b"\r", b"\r\r\n")


@dataclass(frozen=True)
class Told:
    """An answer as the bank meant it, and its bytes."""

    status: int
    headers: Sequence[tuple[str, str]]
    body: bytes
    data: bytes = field(repr=False)


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """Take a good answer and spoil it in a few places."""
    data = bytearray(draw(st.sampled_from(SEEDS)))
    for _ in range(draw(st.integers(1, 6))):
        at = draw(st.integers(0, len(data) - 1))
        piece = draw(st.binary(max_size=4) | st.sampled_from([b"\r\n", b"\n", b"\r", b"0", b":"]))
        data[at : at + draw(st.integers(0, 3))] = piece
    return bytes(data)


@st.composite
def doubtful(draw: st.DrawFn) -> bytes:
    """Put an answer together of lines that servers and smugglers have sent, fit or not."""
    usual = st.sampled_from([STATUS_LINES[0], STATUS_LINES[0], *STATUS_LINES])
    end = draw(st.sampled_from([b"\r\n", b"\r\n", b"\r\n", b""]))
    lines = [draw(usual), *draw(st.lists(st.sampled_from(HEADERS), max_size=4))]
    head = b"".join(line + (end or draw(st.sampled_from(LINE_ENDS))) for line in lines)
    pieces = draw(st.lists(st.sampled_from(BODY_PIECES), max_size=4))
    hint = draw(st.sampled_from([b"", b"", b"HTTP/1.1 103 Hint\r\nLink: </x>\r\n\r\n"]))
    return hint + head + b"\r\n" + b"".join(pieces)


@st.composite
def told(draw: st.DrawFn) -> Told:
    status, body = draw(STATUSES), draw(BODIES)
    headers = draw(st.lists(st.tuples(NAMES, VALUES), max_size=8))
    framing = draw(st.sampled_from(["length", "chunks", "end"]))
    if status in {204, 304}:
        body, framing = b"", "none"
    lines = [f"HTTP/1.1 {status} Some Reason", *(f"{name}: {value}" for name, value in headers)]
    sent = body
    if framing == "length":
        lines.append(f"Content-Length: {len(body)}")
    elif framing == "chunks":
        lines.append("Transfer-Encoding: chunked")
        size = draw(st.integers(1, 200))
        parts = [body[at : at + size] for at in range(0, len(body), size)]
        sent = b"".join(b"%X\r\n%s\r\n" % (len(part), part) for part in [*parts, b""])
    data = "\r\n".join([*lines, "", ""]).encode() + sent
    hint = draw(st.sampled_from([b"", b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"]))
    return Told(status, headers, body, hint + data)
