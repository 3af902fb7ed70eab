"""Plain requests, and what becomes of them when a few bytes are others: each from a seed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from random import Random

from tests.world.extent import SEED

LARGEST = 8 * 1024
"""Of what comes whole, in our lane."""
LINE, FIELD, FIELDS, HEAD = 16 * 1024, 8190, 64, 32 * 1024
"""The bounds: request line, header, how many headers, head."""


@dataclass(slots=True)
class Message:
    """
    A request in its parts.

    Attributes:
        lines: Headers without their line ends.
        before, behind: What comes in the same segment.
    """

    method: bytes
    target: bytes
    lines: list[bytes]
    body: bytes = b""
    version: bytes = b"HTTP/1.1"
    before: bytes = b""
    behind: bytes = b""
    blanks: tuple[bytes, bytes] = (b" ", b" ")
    ends: dict[int, bytes] = field(default_factory=dict)

    def written(self) -> bytes:
        """Write it, with the line ends that were changed."""
        first = self.method + self.blanks[0] + self.target + self.blanks[1] + self.version
        lines = [first, *self.lines, b""]
        ended = [line + self.ends.get(at, b"\r\n") for at, line in enumerate(lines)]
        return self.before + b"".join(ended) + self.body + self.behind


READS = 4
"""Drawn three times as often as the others: they are cheap."""

METHODS = (
    *(b"HEAD", b"POST", b"GET", b"PUT", b"DELETE", b"PATCH", b"OPTIONS", b"TRACE", b"CONNECT"),
    *(b"get", b"Get", b"QUERY", b"GETS", b"G", b"PRI", b"M-SEARCH", b"STEAL", b"G\xc3T"),
)
VERSIONS = (
    *(b"HTTP/1.0", b"HTTP/0.9", b"HTTP/1.2", b"HTTP/2.0", b"HTTP/11", b"http/1.1", b"HTTP/1.1 "),
    *(b"HTTP/1.10", b"HTTP/01.1", b"HTTP/1", b"", b"RTSP/1.0", b"ICE/1.0"),
)
BEHIND = (
    *(b"\r\n", b"\n", b"\0", b"G", b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", b"0\r\n\r\n", b" ", b"{}"),
    *(b"GET /baas/v1/ HTTP/1.1\r\nHost: a\r\n\r\n", b"POST /baas/v1/a HTTP/1.1\r\n"),
)
BEFORE = (b"\r\n", b"\n", b"\r\n\r\n", b" ", b"\0", b"\r", b"\xef\xbb\xbf", b"\t")
ENDS = (
    b"\n",
    b"\r",
    b"\r\r\n",
    b"\n\r\n",
    b"",
    b"\r\n ",
    b"\r\n\t",
    b" \r\n",
    b"\t\r\n",
    b"\r\n\r\n",
)
TARGETS = (
    *(b"#a", b"?", b"?a=b#c", b"%", b"%zz", b"%00", b"%2F", b"%2e%2e", b"/", b"//", b"/..", b"/."),
    *(b"\0", b"\x7f", b"\xff", b"\xc3\xa7", b"\t", b" ", b"?a=b&a=c", b"?=", b"?a=%ff", b"?a=\xff"),
    *(b"\\", b'"', b"<>", b"^`{|}", b"?a=b?c", b";a=b", b"*", b":", b"@", b"?date_from=2026-11-20"),
)
ODD_LINES = (
    *(
        b"Transfer-Encoding: chunked",
        b"Transfer-Encoding: identity",
        b"Transfer-Encoding: xchunked",
    ),
    *(b"Transfer-Encoding:chunked", b"Transfer-Encoding : chunked", b"transfer-encoding: Chunked"),
    *(b"Transfer-Encoding: gzip, chunked", b"Transfer-Encoding: ", b"TE: trailers", b"Trailer: A"),
    *(b"Content-Length: 0", b"Content-Length: 5", b"Content-Length: +0", b"Content-Length: 00"),
    *(b"Content-Length:", b"Content-Length: 0, 0", b"Content-Length: -1", b"Content-Length: 0x0"),
    *(b"Content-Length: " + b"9" * 30, b"Content-Length : 0", b"Content-Length: 0 ", b"Host: b"),
    *(b"Expect: 100-continue", b"Expect: a-miracle", b"Expect:", b"Upgrade: h2c", b"Upgrade:"),
    *(b"Upgrade: websocket", b"HTTP2-Settings: AAMAAABkAAQAAP__", b"Sec-WebSocket-Key1: a"),
    *(b"Connection: close", b"Connection: keep-alive", b"Connection: Keep-Alive", b"Connection:"),
    *(b"Connection: upgrade", b"Connection: keep-alive, close", b"Connection: close, a"),
    *(b"Connection: host", b"Connection: content-length", b"Connection: a", b"Connection: Close"),
    *(b"Connection: keep-alive, Upgrade", b"Proxy-Connection: close", b"Keep-Alive: timeout=1"),
    *(b"Host:", b"Host: a:99999", b"Host: a/b", b"Host: a@b", b"Host: a b", b"host: pixgate"),
    *(b"Authorization: Basic YQ==", b"authorization: Bearer a", b"Authorization:", b"Cookie: a=b"),
    *(b"Content-Type: text/plain", b"Content-Encoding: gzip", b"Content-Encoding: identity"),
    *(b"Accept: text/html", b"Accept-Encoding: gzip", b"Accept:", b"If-None-Match: *", b"Range: a"),
    *(b"X-Trace-ID: of-the-caller", b"X-Trace-ID: \xe9", b"X-Trace-ID:", b"X-Trace-ID: a b"),
    *(b"traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", b"tracestate: a=b"),
    *(b"X-Forwarded-For: 203.0.113.7", b"Forwarded: for=a", b"X-HTTP-Method-Override: POST"),
    *(b"X-A: a\0b", b"X-A: a\x01b", b"X-A: a\x7fb", b"X-A: a\x80b", b"X-A: \xc3\xa7", b"X-A: a\tb"),
    *(b"X-A: a\rb", b"X-A: a\nb", b"X-A: a\r\n b", b"X-A: a\r\n\tb", b"X-A:", b"X-A: ", b"X-A:\t"),
    *(b"X-A:a", b"X-A:  a", b"X-A: a ", b"X-A: a\t", b"X-A:\ta", b"X-A : a", b"X A: a", b" X-A: a"),
    *(
        b"X-A\xff: a",
        b"X(A): a",
        b"X_A: a",
        b"!#$%&'*+-.^_`|~: a",
        b": a",
        b"X-A",
        b"=: a",
        b"\0: a",
    ),
    *(b"X-A: a: b", b'X-A: "a', b"X-A: (a", b"X-A: a,b", b"X-A: a;b", b"X-A: \\", b"X-A: a\x0bb"),
)
LENGTHS: tuple[Callable[[int], bytes], ...] = (
    lambda size: b"+%d" % size,
    lambda size: b"0%d" % size,
    lambda size: b"%d " % size,
    lambda size: b" %d" % size,
    lambda size: b"\t%d" % size,
    lambda size: b"%d, %d" % (size, size),
    lambda size: b"%d;" % size,
    lambda size: b"0x%x" % size,
    lambda size: b"-%d" % size,
    lambda size: b"%d.0" % size,
    lambda size: b"%d" % (size + 1),
    lambda size: b"%d" % max(size - 1, 0),
    lambda size: b"%d" % (size + 2**64),
    lambda size: b"%019d" % size,
    lambda size: b"%018d" % size,
    lambda _size: b"1_0",
    lambda _size: b"",
    lambda _size: "٥".encode(),
)


def _line(message: Message, chance: Random) -> None:
    message.lines.insert(chance.randint(0, len(message.lines)), chance.choice(ODD_LINES))


def _twice(message: Message, chance: Random) -> None:
    message.lines.append(chance.choice(message.lines or [b"A: b"]))


def _without(message: Message, chance: Random) -> None:
    if message.lines:
        message.lines.pop(chance.randrange(len(message.lines)))


def _in_case(message: Message, chance: Random) -> None:
    at = chance.randrange(len(message.lines) or 1)
    for line in message.lines[at : at + 1]:
        name, colon, value = line.partition(b":")
        message.lines[at] = chance.choice((name.upper(), name.lower())) + colon + value


def _spaced(message: Message, chance: Random) -> None:
    at = chance.randrange(len(message.lines) or 1)
    for line in message.lines[at : at + 1]:
        name, _, value = line.partition(b": ")
        form = chance.choice(
            (b"%b:%b", b"%b:  %b", b"%b: %b ", b"%b:\t%b", b"%b : %b", b"%b: %b\t")
        )
        message.lines[at] = form % (name, value)


def _length(message: Message, chance: Random) -> None:
    line = b"Content-Length: " + chance.choice(LENGTHS)(len(message.body))
    message.lines = [each for each in message.lines if not each.startswith(b"Content-Length")]
    message.lines.insert(chance.randint(0, len(message.lines)), line)


def _chunked(message: Message, chance: Random) -> None:
    message.lines = [each for each in message.lines if not each.startswith(b"Content-Length")]
    message.lines.append(b"Transfer-Encoding: chunked")
    message.body = b"%x\r\n%b\r\n0\r\n\r\n" % (len(message.body), message.body)


def _method(message: Message, chance: Random) -> None:
    message.method = chance.choice(METHODS)


def _version(message: Message, chance: Random) -> None:
    message.version = chance.choice(VERSIONS)


def _target(message: Message, chance: Random) -> None:
    at = chance.choice((len(message.target), chance.randint(0, len(message.target))))
    message.target = message.target[:at] + chance.choice(TARGETS) + message.target[at:]


def _form(message: Message, chance: Random) -> None:
    forms = (b"http://pixgate%b", b"HTTPS://other:1%b", b"/%b", b"*", b"ftp://a%b", b"a:443", b"")
    form = chance.choice(forms)
    message.target = form % message.target if b"%b" in form else form


def _blanks(message: Message, chance: Random) -> None:
    some = (b"", b"  ", b"\t", b" \t", b"\0", b"\xa0")
    blanks = [*message.blanks]
    blanks[chance.randrange(2)] = chance.choice(some)
    message.blanks = (blanks[0], blanks[1])


def _end(message: Message, chance: Random) -> None:
    message.ends[chance.randint(0, len(message.lines) + 1)] = chance.choice(ENDS)


def _before(message: Message, chance: Random) -> None:
    message.before = chance.choice(BEFORE)


def _behind(message: Message, chance: Random) -> None:
    message.behind = chance.choice((*BEHIND, message.written()))


def _count(message: Message, chance: Random) -> None:
    wanted = FIELDS + chance.randint(-1, 1)
    message.lines += [b"X-%d: a" % number for number in range(wanted - len(message.lines))]


def _size(message: Message, chance: Random) -> None:
    """Fill a line, the head or the whole up to a bound, or one byte below or above it."""
    near = chance.randint(-1, 1)
    kind = chance.randrange(8)
    if kind == 0:
        room = LINE + near - len(message.method + message.target + message.version) - 2
        message.target += b"?" + b"a" * (room - 1)
    elif kind == 1:
        message.lines.append(b"X-Long: " + b"a" * (FIELD + near - len(b"X-Long: ")))
    elif kind == 2:
        _fill(message, HEAD + near + len(message.body), chance)
    elif kind == 3:
        _fill(message, FIELD + near + len(message.body), chance)
    else:
        _fill(message, LARGEST + near, chance)


def _fill(message: Message, size: int, _chance: Random) -> None:
    number = 0
    while (room := size - len(message.written())) > 0:
        line = b"X-Fill-%d: " % number
        message.lines.append(line + b"a" * max(min(room - len(line) - 2, 5_000), 0))
        number += 1
        if room < 5_000:
            return


def _body(message: Message, chance: Random) -> None:
    at = chance.randint(0, len(message.body))
    message.body = message.body[:at] + bytes([chance.randrange(256)]) + message.body[at + 1 :]


OF_PARTS = (
    *(_line, _line, _line, _line, _twice, _without, _in_case, _spaced, _length, _length, _chunked),
    *(_method, _version, _target, _target, _form, _blanks, _end, _end, _before, _behind, _behind),
    *(_count, _size, _body),
)


def _flipped(data: bytes, chance: Random) -> bytes:
    at = chance.randrange(len(data))
    return data[:at] + bytes([chance.randrange(256)]) + data[at + 1 :]


def _inserted(data: bytes, chance: Random) -> bytes:
    at = chance.randrange(len(data))
    return data[:at] + chance.choice((b"\r\n", b"\n", b"\r", b" ", b"\t", b"\0", b":")) + data[at:]


def _lost(data: bytes, chance: Random) -> bytes:
    at = chance.randrange(len(data))
    return data[:at] + data[at + chance.randint(1, 3) :]


def _short(data: bytes, chance: Random) -> bytes:
    return data[: chance.randint(1, len(data))]


OF_BYTES = (_flipped, _inserted, _lost, _short)


@dataclass(frozen=True, slots=True)
class Mutation:
    """
    Bytes that may be a request, and how they come.

    Attributes:
        changes: What was done to a plain request; none leaves it plain.
        cut: The same bytes in pieces.
    """

    name: str
    changes: tuple[str, ...]
    data: bytes
    cut: tuple[bytes, ...]


def drawn(number: int, plain: Mapping[str, Message]) -> Mutation:
    """Draw the mutation of a number; the same seed and number draw the same."""
    chance = Random(f"{SEED} {number}")
    name = chance.choice((*plain, *list(plain)[:READS], *list(plain)[:READS]))
    told = plain[name]
    message = Message(told.method, told.target, list(told.lines), told.body)
    changes = []
    for _ in range(chance.choice((0, 1, 1, 1, 1, 2, 2, 3))):
        change = chance.choice(OF_PARTS)
        change(message, chance)
        changes.append(change.__name__)
    data = message.written()
    if chance.random() < 0.2:
        spoil = chance.choice(OF_BYTES)
        data = spoil(data, chance) or b"\0"
        changes.append(spoil.__name__)
    return Mutation(name, tuple(changes), data, tuple(_cut(data, chance)))


def _cut(data: bytes, chance: Random) -> list[bytes]:
    """Cut at one to three places; of twenty short ones, one byte by byte."""
    if len(data) < 600 and not chance.randrange(20):
        return [data[at : at + 1] for at in range(len(data))]
    places = sorted({chance.randint(1, max(len(data) - 1, 1)) for _ in range(chance.randint(1, 3))})
    ends = [0, *places, len(data)]
    return [data[start:end] for start, end in pairwise(ends) if start < end]
