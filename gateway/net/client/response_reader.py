"""
The fast path: the usual response is read by one regular expression, all others by the parser.

A usual response can be read in one way only: HTTP/1.1, complete in one segment, one length
that is exact, no coding, no word of closing unless we close as well.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, ItemsView, Iterator, Mapping, Sequence
from typing import Final

from aiohttp.base_protocol import BaseProtocol
from aiohttp.http_parser import HttpResponseParser, RawResponseMessage
from aiohttp.streams import EMPTY_PAYLOAD, StreamReader
from multidict import CIMultiDict

from gateway.domain.bank.provider_reasons import Reason
from gateway.domain.bank.providers import BadReply, ProviderError, Unavailable
from gateway.net.client import framing
from gateway.net.client.framing import (
    HEADERS,
    LINE_BYTES,
    Chunks,
    HeadEnd,
    is_interim,
    is_without_body,
)
from gateway.net.client.messages import ProviderAnswer
from gateway.net.common.parser import LENGTH


def _usual(connection: bytes) -> re.Pattern[bytes]:
    """Match a usual response; ``connection`` is all that its Connection header may say."""
    # Headers that bound the body or the connection, except the one length.
    framing = (
        rb"(?i:content-length|transfer-encoding|content-encoding|upgrade|keep-alive"
        rb"|connection(?!:[\t ]*" + connection + rb"[\t ]*\r))"
    )
    field = rb"(?!" + framing + rb"[\t ]*:)[!#$%&'*+.^_`|~0-9A-Za-z-]++:[\t -~]*+\r\n"
    # Possessive (``++``, ``*+``): a response that does not match is given up at once, without
    # backtracking. Half of the headers may come before the length, half after it.
    fields = rb"(?:" + field + rb"){0,%d}+" % (HEADERS // 2 - 1)
    length = rb"(?i:content-length):[\t ]*+(%s)[\t ]*+\r\n" % LENGTH.pattern.encode()
    return re.compile(
        rb"HTTP/1\.1 (?!204|304)([2-5][0-9]{2}) [\t -~]*+\r\n"
        rb"(" + fields + length + fields + rb")\r\n"
    )


_KEPT: Final = _usual(rb"keep-alive")


_LAST: Final = _usual(rb"(?:keep-alive|close)")


def read_fast(data: bytes, largest: int, *, last: bool = False) -> ProviderAnswer | None:
    """
    Return the response if the segment is a usual one with a body of ``largest`` bytes at most.

    The last response of its connection may also say that the bank closes.
    """
    found = (_LAST if last else _KEPT).match(data)
    if found is None:
        return None
    end, length = found.end(), int(found[3])
    if length != len(data) - end or length > largest or end > LINE_BYTES:
        return None
    return ProviderAnswer(status=int(found[1]), headers=LazyHeaders(found[2]), body=data[end:])


class LazyHeaders(Mapping[str, str]):
    """Headers that are parsed when they are first read; most never are."""

    __slots__ = ("_headers", "_lines")

    def __init__(self, lines: bytes) -> None:
        self._lines = lines
        self._headers: CIMultiDict[str] | None = None

    def __getitem__(self, name: str) -> str:
        """Return the first value of a header, its name in any letter case."""
        return self._parsed()[name]

    def __iter__(self) -> Iterator[str]:
        """Name the headers."""
        return iter(self._parsed())

    def __len__(self) -> int:
        """Count the lines."""
        return len(self._parsed())

    def items(self) -> ItemsView[str, str]:
        """Return every line's name and value."""
        return self._parsed().items()

    def _parsed(self) -> CIMultiDict[str]:
        """Parse the lines, once."""
        if self._headers is None:
            pairs = (line.partition(":") for line in self._lines.decode().split("\r\n") if line)
            self._headers = CIMultiDict((name, value.strip(" \t")) for name, _, value in pairs)
        return self._headers


HEAD_BYTES: Final = 64 * 1024
"""The largest head that is read; banks send about one kilobyte."""


INTERIMS: Final = 32
"""Informational responses before the real one; after more, nothing more is read."""


# The parser passes a body on without ever asking to pause; the reader bounds what is read.
_NEVER_PAUSES: Final = 2**30


# A body in chunks of one byte takes six bytes on the wire.
_LONGEST_CODING: Final = 8


_Message = tuple[RawResponseMessage, StreamReader]


class ResponseReader:
    """
    Reads the responses of one connection.

    Call ``begin`` before each request, then ``feed`` with what arrives until there is a
    response. If the fast path does not apply, the parser gets the head alone first. So
    bytes after a response never spoil it, however everything was cut into segments.
    ``single`` is for a connection that carries one response and no other.

    Attributes:
        reusable: The response was read to its end, nothing came after it, and the
            bank did not say that it closes.
        kept_s: How many seconds the bank says it keeps an idle connection.
        discarding: Too many informational responses came; all input is discarded.
    """

    __slots__ = (
        "_begun",
        "_chunks",
        "_head_bytes",
        "_head_end",
        "_interims",
        "_largest",
        "_length",
        "_message",
        "_on_status",
        "_parser",
        "_parts",
        "_payload",
        "_raw",
        "_single",
        "_size",
        "_surplus",
        "discarding",
        "kept_s",
        "reusable",
    )

    def __init__(
        self, loop: asyncio.AbstractEventLoop, largest: int, *, single: bool = False
    ) -> None:
        self._parser = make_parser(loop)
        self._largest = largest
        self._single = single
        self.begin(lambda _: None)
        self.reusable = not single

    def begin(self, on_status: Callable[[int], None]) -> None:
        """Expect a response; ``on_status`` is called with its status once the head is complete."""
        self._on_status = on_status
        self._message: RawResponseMessage | None = None
        self._begun = self.discarding = self.reusable = False
        self.kept_s: float | None = None

    def feed(self, data: bytes) -> ProviderAnswer | None:
        """
        Read on; return the response once it is complete.

        Raises:
            BadReply: nothing more of this connection can be read.
        """
        if self._begun:
            return self._parse(data)
        usual = read_fast(data, self._largest, last=self._single)
        if usual is None:
            self._begin_parsing()
            return self._parse(data)
        self._on_status(usual.status)
        self.reusable = not self._single
        return usual

    def end(self) -> ProviderAnswer:
        """
        Note that the bank has closed its side properly, which ends some responses.

        Raises:
            ProviderError: the response is not complete; see ``cut``.
        """
        message = self._message
        if message is None or self._length is not None or message.chunked:
            raise self.cut()
        return self._whole(b"".join(self._parts), clean=False)

    def cut(self) -> ProviderError:
        """Name the failure if nothing more comes: had a head arrived?"""
        if self._message is None:
            return Unavailable(Reason.CONNECTION_LOST)
        return BadReply(Reason.ANSWER_CUT_SHORT, http_status=self._message.code)

    def _begin_parsing(self) -> None:
        """Let the parser read this response."""
        self._begun = True
        self._payload: StreamReader = EMPTY_PAYLOAD
        self._parts: list[bytes] = []
        self._length: int | None = None
        self._head_end = HeadEnd()
        self._chunks: Chunks | None = None
        self._head_bytes = self._interims = self._size = self._raw = 0
        self._surplus = False

    def _parse(self, data: bytes) -> ProviderAnswer | None:
        """Read on with the parser."""
        if self._message is None:
            data = self._read_head(data)
        message = self._message
        if message is None:
            return None
        if is_without_body(message.code):
            clean = not data and self._payload.is_eof() and not message.upgrade
            return self._whole(b"", clean=clean)
        return self._read_body(data)

    def _read_head(self, data: bytes) -> bytes:
        """Read up to the end of the head; return what follows it."""
        while data and not self.discarding:
            cut = self._head_end.find(data)
            self._head_bytes += cut
            if self._head_bytes > HEAD_BYTES:
                raise BadReply(Reason.NOT_HTTP)
            messages = self._parsed(data[:cut])
            data = data[cut:]
            if messages and self._take(messages):
                return data
        return b""

    def _parsed(self, data: bytes) -> Sequence[_Message]:
        """Let the parser read; whatever it rejects is not HTTP."""
        try:
            return self._parser.feed_data(data)[0]
        except Exception as problem:
            # The parser raises a dozen kinds of errors; none may escape as anything else.
            raise BadReply(Reason.NOT_HTTP, http_status=self._status) from problem

    def _take(self, messages: Sequence[_Message]) -> bool:
        """Take the first message that is not informational; False if there is none."""
        for message, payload in messages:
            if self._message is not None:
                self._surplus = True  # an unexpected response after ours
            elif is_interim(message.code):
                self._skip(message, payload)
            else:
                self._start_body(message, payload)
        return self._message is not None

    def _skip(self, message: RawResponseMessage, payload: StreamReader) -> None:
        """Skip an informational response; one with a body is an attack."""
        if payload is not EMPTY_PAYLOAD:
            raise BadReply(Reason.NOT_HTTP, http_status=message.code)
        self._head_bytes = 0
        self._interims += 1
        self.discarding = self._interims > INTERIMS

    def _start_body(self, message: RawResponseMessage, payload: StreamReader) -> None:
        """Report the status, and refuse a body that is too large to be read."""
        status = message.code
        self._message, self._payload = message, payload
        self._on_status(status)
        self._length = framing.body_length(message)
        self._chunks = Chunks() if message.chunked else None
        if (self._length or 0) > self._largest and not is_without_body(status):
            raise BadReply(Reason.TOO_LARGE, http_status=status)

    def _read_body(self, data: bytes) -> ProviderAnswer | None:
        """Read on in the body; note bytes that come after it, and do not read them."""
        payload = self._payload
        self._raw += len(data)
        if data:
            self._feed_body(data, payload)
        whole = payload.is_eof()
        part = payload.read_nowait()
        self._size += len(part)
        if self._size > self._largest or self._raw > self._largest * _LONGEST_CODING:
            raise BadReply(Reason.TOO_LARGE, http_status=self._status)
        if part:
            self._parts.append(part)
        if not whole:
            return None
        exact = self._length is None or self._raw <= self._length
        return self._whole(b"".join(self._parts), clean=exact and not self._surplus)

    def _feed_body(self, data: bytes, payload: StreamReader) -> None:
        """Let the parser read; an error after the body's end is not this response's."""
        surplus = payload.is_eof()
        if not surplus:
            try:
                if self._chunks is not None:
                    self._chunks.follow(data)
                surplus = bool(self._parsed(data))
            except BadReply:
                surplus = payload.is_eof()
                if not surplus:
                    raise
        self._surplus = self._surplus or surplus

    @property
    def _status(self) -> int | None:
        return self._message.code if self._message else None

    def _whole(self, body: bytes, *, clean: bool) -> ProviderAnswer:
        """Make the answer, and decide whether the connection may be used again."""
        message = self._message
        assert message is not None  # noqa: S101 - for the type; there is no body without a head
        self.reusable = clean and not message.should_close and not self._single
        self.kept_s = framing.kept_for(message)
        plain = framing.opened(message, body, self._largest)
        return ProviderAnswer(status=message.code, headers=message.headers, body=plain)


def make_parser(loop: asyncio.AbstractEventLoop) -> HttpResponseParser:
    """Make the parser of one connection; it reads all responses on it."""
    return HttpResponseParser(
        _NoPause(loop),
        loop,
        _NEVER_PAUSES,
        max_line_size=LINE_BYTES,
        max_field_size=LINE_BYTES,
        max_headers=HEADERS,
        read_until_eof=True,
        auto_decompress=False,
    )


class _NoPause(BaseProtocol):
    """Stands for the connection that the parser's body buffers would pause."""

    __slots__ = ()

    def pause_reading(self) -> None:
        """Do nothing: the buffer is emptied as soon as it is filled."""

    def resume_reading(self, resume_parser: bool = True) -> None:  # noqa: FBT001, FBT002 - aiohttp's
        """Do nothing."""
