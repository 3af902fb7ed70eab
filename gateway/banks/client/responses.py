"""
Reads a bank's responses from the bytes of one connection, however they are cut into segments.

A new parser, llhttp in ``httptools``, is fed one head alone, and then its chunks if it has any. So
nothing that it makes of other bytes can change a response. Where a response ends, whether it is
complete, and whether the connection persists is decided here; ambiguous framing that llhttp
accepts is refused.

Source: RFC 9112, parts 2.3, 6.1, 6.3 and 9.3.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable
from http import HTTPStatus
from typing import Final

import msgspec
from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser
from multidict import CIMultiDict, istr

from gateway.banks.client.messages import ProviderAnswer
from gateway.banks.port.providers import BadReply, ProviderError, Reason, Unavailable

HEAD_BYTES: Final = 64 * 1024
"""
The largest head that is read; banks send about one kilobyte.

As many bytes are read of a body's chunks beyond what chunks of one byte would take.
"""

INTERIMS: Final = 32
"""Informational responses before the real one; after more, nothing more is read."""

_OK: Final = HTTPStatus.OK.value
_BLANK_LINE: Final = b"\r\n\r\n"
# What a byte takes on the wire in a chunk of its own: one digit and two line ends beside it.
_BYTE_IN_CHUNK: Final = 6

LINE_BYTES: Final = 8190
"""The longest line of a head; as web servers have it."""

HEADERS: Final = 128
"""The most headers of one response; banks send about ten."""

INTERIM: Final = frozenset({HTTPStatus.CONTINUE, HTTPStatus.PROCESSING, HTTPStatus.EARLY_HINTS})
"""Another response follows these. The other statuses below 200 are refused: we ask for none."""

WITHOUT_BODY: Final = frozenset({HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED})
"""These end with the blank line, whatever their headers say."""

# llhttp also accepts versions 0.9 and 2.0, RTSP, and control characters in the reason.
_STATUS_LINE: Final = re.compile(rb"HTTP/1\.([01]) ([0-9]{3})(?: [\t -~\x80-\xff]*)?\r\n")
_USUAL_STATUS_LINE: Final = b"HTTP/1.1 200 OK\r\n"
# 18 digits are far above what is read of any body, and below where other readers overflow.
_LENGTH: Final = re.compile(r"[0-9]{1,18}", re.ASCII)
_CONNECTION: Final = istr("Connection")
_CONTENT_ENCODING: Final = istr("Content-Encoding")
_CONTENT_LENGTH: Final = istr("Content-Length")
_KEEP_ALIVE: Final = istr("Keep-Alive")
_TRANSFER_ENCODING: Final = istr("Transfer-Encoding")
# Up to six digits: eleven days, far longer than any bank keeps a connection.
_KEPT: Final = re.compile(r"\btimeout *= *([0-9]{1,6})\b", re.ASCII | re.IGNORECASE)
_GZIP_STREAM: Final = 16 + zlib.MAX_WBITS


class Head(msgspec.Struct, frozen=True, kw_only=True):
    """
    The head of one response.

    Attributes:
        length: Bytes of the body; None if chunks or the connection's end bound it.
        is_last: Whether the bank closes the connection after this response.
    """

    status: int
    headers: CIMultiDict[str]
    length: int | None
    is_chunked: bool = False
    is_gzip: bool = False
    is_last: bool = False

    @property
    def kept_s(self) -> float | None:
        """Seconds the bank keeps an idle connection; None if unstated."""
        value = self.headers.get(_KEEP_ALIVE)
        found = _KEPT.search(value) if value else None
        return float(found[1]) if found else None


def read_status_line(raw: bytes | bytearray) -> tuple[int, bool]:
    """
    Return the status of a head, and whether it is one of HTTP/1.0; ``raw`` is the whole head.

    Raises:
        BadReply: ``not_http`` if it does not begin with a status line of HTTP/1.0 or 1.1, or
            a line is too long.
    """
    if raw.startswith(_USUAL_STATUS_LINE) and len(raw) <= LINE_BYTES:
        return 200, False
    line = _STATUS_LINE.match(raw)
    may_be_long = len(raw) > LINE_BYTES
    if line is None or (may_be_long and max(map(len, raw.split(b"\r\n"))) > LINE_BYTES):
        raise BadReply(Reason.NOT_HTTP)
    return int(line[2]), line[1] == b"0"


def read_head(status: int, headers: CIMultiDict[str], *, is_old: bool) -> Head:
    """
    Determine the end of the body from the headers.

    Raises:
        BadReply: ``not_http`` for too many headers, two lengths or codings, a length beside
            chunks, one beyond 18 digits, or chunks in HTTP/1.0; ``content_coding`` for any
            coding but plain chunks and gzip.
    """
    lengths = headers.getall(_CONTENT_LENGTH, [])
    is_last = is_old or (
        _CONNECTION in headers and "close" in ",".join(headers.getall(_CONNECTION)).lower()
    )
    is_coded = _TRANSFER_ENCODING in headers or _CONTENT_ENCODING in headers
    is_usual = len(lengths) == 1 and not is_coded and len(headers) <= HEADERS
    if is_usual and _LENGTH.fullmatch(lengths[0]):
        return Head(status=status, headers=headers, length=int(lengths[0]), is_last=is_last)
    transfer = [value.lower() for value in headers.getall(_TRANSFER_ENCODING, ())]
    content = [value.lower() for value in headers.getall(_CONTENT_ENCODING, ())]
    if content not in ([], ["identity"], ["gzip"]) or not set(transfer) <= {"chunked"}:
        raise BadReply(Reason.CONTENT_CODING, http_status=status)
    if (
        len(headers) > HEADERS
        or len(lengths) + len(transfer) > 1
        or not all(map(_LENGTH.fullmatch, lengths))
        or (is_old and transfer)
    ):
        raise BadReply(Reason.NOT_HTTP, http_status=status)
    return Head(
        status=status,
        headers=headers,
        length=int(lengths[0]) if lengths else None,
        is_chunked=bool(transfer),
        is_gzip=content == ["gzip"],
        is_last=is_last,
    )


def unpack(head: Head, body: bytes, largest: int) -> bytes:
    """
    Decompress a body: a bank's proxy may compress without being asked.

    Raises:
        BadReply: ``content_coding`` for an incomplete gzip stream; ``too_large``.
    """
    if not head.is_gzip or not body:
        return body
    stream = zlib.decompressobj(wbits=_GZIP_STREAM)
    try:
        plain = stream.decompress(body, largest + 1)
    except zlib.error as problem:
        raise BadReply(Reason.CONTENT_CODING, http_status=head.status) from problem
    if len(plain) > largest:
        raise BadReply(Reason.TOO_LARGE, http_status=head.status)
    if not stream.eof or stream.unused_data:
        raise BadReply(Reason.CONTENT_CODING, http_status=head.status)
    return plain


class _Events:
    """
    The parser's events for one head, and for the chunks after it.

    A trailer is dropped, and so is all that follows the last chunk.
    """

    __slots__ = ("body", "has_ended", "has_head", "headers")

    def __init__(self) -> None:
        self.headers: CIMultiDict[str] = CIMultiDict()
        self.body = bytearray()
        self.has_head = self.has_ended = False

    def on_header(self, name: bytes, value: bytes) -> None:
        if not self.has_head:
            text = value.decode("utf-8", "surrogateescape")
            self.headers.add(name.decode("ascii"), text.strip(" \t"))

    def on_headers_complete(self) -> None:
        self.has_head = True

    def on_body(self, data: bytes) -> None:
        if not self.has_ended:
            self.body += data

    def on_message_complete(self) -> None:
        """Note the end of the last chunk and its trailer."""
        self.has_ended = True


class ResponseReader:
    """
    Reads the responses of one connection.

    Call ``begin`` before each request, then ``feed`` with received bytes until there is a
    response. ``single`` is for a connection that carries one response and no other.

    Attributes:
        reusable: The response was read to its end, nothing came after it, and the
            bank did not announce that it closes.
        kept_s: Seconds that the bank keeps an idle connection, as it states.
        discarding: Too many informational responses came; all input is discarded.
    """

    def __init__(self, largest: int, *, single: bool = False) -> None:
        self._largest = largest
        self._single = single
        self.begin(lambda _: None)
        self.reusable = not single

    def begin(self, on_status: Callable[[int], None]) -> None:
        """Expect a response; ``on_status`` is called with its status once the head is complete."""
        self._on_status = on_status
        self._head: Head | None = None
        self._interims = self._chunk_bytes = 0
        self.kept_s: float | None = None
        self.reusable = self.discarding = False
        self._raw: bytes | bytearray = b""

    def feed(self, data: bytes) -> ProviderAnswer | None:
        """
        Read on; return the response once it is complete.

        Raises:
            BadReply: nothing more of this connection can be read.
        """
        while self._head is None:
            if not data or self.discarding:
                return None
            data = self._feed_head(data)
        return self._feed_body(data, self._head)

    def end(self) -> ProviderAnswer:
        """
        Note that the bank has closed its side properly, which ends some responses.

        Raises:
            ProviderError: the response is not complete; see ``cut``.
        """
        head = self._head
        if head is None or head.length is not None or head.is_chunked:
            raise self.cut()
        return self._answer(head, bytes(self._events.body), clean=False)

    def cut(self) -> ProviderError:
        """Return the failure if the connection ends now; it depends on an arrived head."""
        if self._head is None:
            return Unavailable(Reason.CONNECTION_LOST)
        return BadReply(Reason.ANSWER_CUT_SHORT, http_status=self._head.status)

    def _feed_head(self, data: bytes) -> bytes:
        """Read up to the end of one head; return the bytes after it."""
        before = len(self._raw)
        if before:
            self._raw += data
            found = self._raw.find(_BLANK_LINE, max(before - len(_BLANK_LINE) + 1, 0))
        else:
            self._raw = data
            found = data.find(_BLANK_LINE)
            self._events = _Events()
            self._parser = HttpResponseParser(self._events)
        end = len(self._raw) if found < 0 else found + len(_BLANK_LINE)
        if end > HEAD_BYTES:
            raise BadReply(Reason.NOT_HTTP)
        try:
            self._parser.feed_data(data[: end - before])
        except (HttpParserError, HttpParserUpgrade) as problem:
            raise BadReply(Reason.NOT_HTTP) from problem
        if self._events.has_head != (found >= 0):  # two readers, two ends
            raise BadReply(Reason.NOT_HTTP)
        if found >= 0:
            raw, self._raw = self._raw[:end], b""
            self._take_head(raw)
        elif not before:  # only a head that is cut is copied into a buffer
            self._raw = bytearray(data)
        return data[end - before :]

    def _take_head(self, raw: bytes | bytearray) -> None:
        """Report the status, or skip an informational response; one with a body is an attack."""
        status, is_old = read_status_line(raw)
        if status >= _OK:
            self._on_status(status)
        head = read_head(status, self._events.headers, is_old=is_old)
        if status < _OK:
            framed = head.length or head.is_chunked or head.is_last
            if status not in INTERIM or framed:
                raise BadReply(Reason.NOT_HTTP, http_status=status)
            self._interims += 1
            self.discarding = self._interims > INTERIMS
            return
        if (head.length or 0) > self._largest and status not in WITHOUT_BODY:
            raise BadReply(Reason.TOO_LARGE, http_status=status)
        if head.is_chunked:
            self._parser.set_dangerous_leniencies(lenient_spaces_after_chunk_size=True)
        self._head = head

    def _feed_body(self, data: bytes, head: Head) -> ProviderAnswer | None:
        """Read on in the body; bytes after the body are noted but not read."""
        body = self._events.body
        if head.status in WITHOUT_BODY:
            return self._answer(head, b"", clean=not data)
        if head.length is not None:
            if len(data) == head.length and not body:  # it came whole
                return self._answer(head, data, clean=True)
            body += data
            if len(body) < head.length:
                return None
            clean = len(body) == head.length
            del body[head.length :]
            return self._answer(head, bytes(body), clean=clean)
        ended = clean = False
        if head.is_chunked:
            # The end of a clean body is the last byte of its segment.
            clean = not self._feed_chunks(data[:-1], head)
            ended = self._feed_chunks(data[-1:], head)
            self._chunk_bytes += len(data)
        else:
            body += data
        extra_bytes = self._chunk_bytes - len(body) * _BYTE_IN_CHUNK
        if len(body) > self._largest or extra_bytes > HEAD_BYTES:
            raise BadReply(Reason.TOO_LARGE, http_status=head.status)
        return self._answer(head, bytes(body), clean=clean) if ended else None

    def _feed_chunks(self, data: bytes, head: Head) -> bool:
        """Pass chunks to the parser; return whether the last one was among them."""
        try:
            self._parser.feed_data(data)
        except HttpParserError as problem:
            if not self._events.has_ended:
                raise BadReply(Reason.NOT_HTTP, http_status=head.status) from problem
        return self._events.has_ended

    def _answer(self, head: Head, raw: bytes, *, clean: bool) -> ProviderAnswer:
        """Build the answer, and decide whether the connection may be reused."""
        body = unpack(head, raw, self._largest)
        self._events.body.clear()  # the connection may be kept for long
        self.reusable = clean and not head.is_last and not self._single
        self.kept_s = head.kept_s
        return ProviderAnswer(status=head.status, headers=head.headers, body=body)
