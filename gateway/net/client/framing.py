"""
Where a response's head ends, and its body. What two readers might read differently is refused.

The parser is lenient with line ends. ``HeadEnd`` and ``Chunks`` check them before the
parser reads, so that it cannot see a head or a chunk end where we do not.
"""

from __future__ import annotations

import re
import zlib
from http import HTTPStatus
from typing import Final

from aiohttp import hdrs
from aiohttp.http_parser import RawResponseMessage
from multidict import istr

from gateway.domain.bank.provider_reasons import Reason
from gateway.domain.bank.providers import BadReply
from gateway.net.common.parser import LENGTH, VERSIONS, is_only_chunked

LINE_BYTES: Final = 8190
"""The longest line of a head; as aiohttp has it."""

HEADERS: Final = 128
"""The most headers of one response; banks send about ten."""

_KEEP_ALIVE: Final = istr("Keep-Alive")
# Up to six digits: eleven days, far longer than any bank keeps a connection.
_KEPT: Final = re.compile(r"\btimeout *= *([0-9]{1,6})\b", re.ASCII | re.IGNORECASE)
# RFC 9112, 6.3: these end with the blank line, whatever their headers say.
_WITHOUT_BODY: Final = frozenset(
    {HTTPStatus.SWITCHING_PROTOCOLS, HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED}
)
_BLANK_LINE: Final = b"\r\n\r\n"
# Half of a line's end, or a line that goes on: the parser reads more into both than we do.
_DOUBTFUL_LINE: Final = re.compile(rb"(?<!\r)\n|\r[^\n]|\n[ \t]")
# Visible characters, blanks and what is not ASCII in the reason; the parser judges the rest.
_STATUS_LINE: Final = re.compile(rb"HTTP/[\t -~\x80-\xff]+")
# 15 digits are far above what is read of any body, and below where readers overflow.
_SIZE: Final = re.compile(rb"([0-9A-Fa-f]{1,15})[\t ]*+(?:;[^\r\n]*+)?\r\n")
# A chunk ends with both characters, and the trailer with an empty line (RFC 9112, 7.1).
_CHUNK_END: Final = re.compile(rb"\r\n")
_TRAILER: Final = re.compile(rb"[^\r\n]*+\r\n")
_BLANK_BYTES: Final = 2
_LONGEST_LINE: Final = 64 * 1024
"""As long as a head; nobody sends a longer chunk extension."""
GZIP: Final = "gzip"
"""The one coding that is taken off, though it was not asked for."""
_GZIP_STREAM: Final = 16 + zlib.MAX_WBITS


class HeadEnd:
    """
    Finds the blank line that ends a head, even if it is cut into segments.

    The parser would accept other line ends and read the rest of the head as the body. It
    also accepts other protocols that look like HTTP, and a status line with a NUL in it.
    """

    __slots__ = ("_before", "_first", "_first_seen")

    def __init__(self) -> None:
        self._before = b""
        self._first = bytearray()
        self._first_seen = False

    def find(self, data: bytes) -> int:
        """
        Return how many bytes of the next segment belong to the head: all, while it goes on.

        Raises:
            BadReply: ``not_http`` for a carriage return or a line feed without the other,
                a line that begins with a blank, or a first line that is no status line of HTTP.
        """
        seen = self._before + data
        found = seen.find(_BLANK_LINE)
        end = len(seen) if found < 0 else found + len(_BLANK_LINE)
        # A line feed kept from the last segment was checked with the byte before it.
        if _DOUBTFUL_LINE.search(seen, int(self._before.startswith(b"\n")), end):
            raise BadReply(Reason.NOT_HTTP)
        cut = end - len(self._before)
        self._require_status_line(data[:cut], ended=found >= 0)
        self._before = seen[1 - len(_BLANK_LINE) :] if found < 0 else b""
        return cut

    def _require_status_line(self, data: bytes, *, ended: bool) -> None:
        """Check the first line of each head once it is complete; blank lines may precede it."""
        if not self._first_seen:
            self._first += data
            line, end, _ = self._first.lstrip(b"\r\n").partition(b"\r\n")
            self._first_seen = bool(end)
            if end and _STATUS_LINE.fullmatch(line) is None:
                raise BadReply(Reason.NOT_HTTP)
        if ended:
            self._first.clear()
            self._first_seen = False


class Chunks:
    """
    Checks the chunks of one body, however they are cut into segments.

    aiohttp's parser accepts a line feed alone as a line end: a chunk of size five that holds
    four bytes is read as five, including the carriage return. Here a chunk must end where
    its size says, and every line with both characters.
    """

    __slots__ = ("_data_left", "_is_over", "_line", "_rest")

    def __init__(self) -> None:
        self._rest = b""
        self._data_left = 0
        self._line = _SIZE
        self._is_over = False

    def follow(self, data: bytes) -> None:
        """
        Check the next bytes; those after the end of the body do not matter.

        Raises:
            BadReply: ``not_http`` for anything but well-formed chunks.
        """
        data = self._rest + data
        at, size = 0, len(data)
        while at < size and not self._is_over:
            if self._data_left:
                taken = min(self._data_left, size - at)
                self._data_left -= taken
                at += taken
                continue
            found = self._line.match(data, at)
            if found is None:
                _require_unfinished(data, at)
                break
            at = found.end()
            self._take(found)
        self._rest = data[at:]

    def _take(self, found: re.Match[bytes]) -> None:
        """Read a whole line, and expect what must come next."""
        if self._line is _SIZE:
            self._data_left = int(found[1], 16)
            self._line = _CHUNK_END if self._data_left else _TRAILER
        elif self._line is _CHUNK_END:
            self._line = _SIZE
        else:
            self._is_over = found.end() - found.start() == _BLANK_BYTES


def is_interim(status: int) -> bool:
    """Say whether another response follows; none does after 101, which we never ask for."""
    return status < HTTPStatus.OK and status != HTTPStatus.SWITCHING_PROTOCOLS


def is_without_body(status: int) -> bool:
    """Say whether the response ends with its head, whatever the head says."""
    return status in _WITHOUT_BODY


def body_length(message: RawResponseMessage) -> int | None:
    """
    Return the body's length in bytes; None if chunks or the connection's end bound it.

    The parser refuses two lengths, a length beside chunks, and anything but a number.

    Raises:
        BadReply: ``not_http`` for another version than 1.0 and 1.1, chunks in
            1.0 or announced twice, a length beyond 18 digits, or a name with a
            space behind it; ``content_coding`` for any coding but plain chunks and gzip.
    """
    headers = message.headers
    # The parser obeys "Content-Length : 5", but passes the name on with its space.
    if any(name[-1] in " \t" for name in headers):
        raise BadReply(Reason.NOT_HTTP, http_status=message.code)
    if hdrs.CONTENT_ENCODING in headers:
        _require_coding(message, hdrs.CONTENT_ENCODING, "identity", GZIP)
    if hdrs.TRANSFER_ENCODING in headers:
        _require_coding(message, hdrs.TRANSFER_ENCODING, "chunked")
        if not is_only_chunked(message):
            raise BadReply(Reason.NOT_HTTP, http_status=message.code)
        return None
    if message.version not in VERSIONS:
        raise BadReply(Reason.NOT_HTTP, http_status=message.code)
    given = headers.get(hdrs.CONTENT_LENGTH)
    if given is None:
        return None
    if LENGTH.fullmatch(given) is None:
        raise BadReply(Reason.NOT_HTTP, http_status=message.code)
    return int(given)


def kept_for(message: RawResponseMessage) -> float | None:
    """Return how many seconds the bank keeps an idle connection; None if it does not say."""
    said = message.headers.get(_KEEP_ALIVE)
    found = None if said is None else _KEPT.search(said)
    return float(found[1]) if found else None


def opened(message: RawResponseMessage, body: bytes, largest: int) -> bytes:
    """
    Return a body without its coding: a proxy of the bank may compress though nobody asked.

    Raises:
        BadReply: ``content_coding`` for what is no whole gzip stream; ``too_large``.
    """
    if message.headers.get(hdrs.CONTENT_ENCODING, "").lower() != GZIP or not body:
        return body
    stream = zlib.decompressobj(wbits=_GZIP_STREAM)
    try:
        plain = stream.decompress(body, largest + 1)
    except zlib.error as problem:
        raise BadReply(Reason.CONTENT_CODING, http_status=message.code) from problem
    if len(plain) > largest:
        raise BadReply(Reason.TOO_LARGE, http_status=message.code)
    if not stream.eof or stream.unused_data:
        raise BadReply(Reason.CONTENT_CODING, http_status=message.code)
    return plain


def _require_coding(message: RawResponseMessage, header: str, *known: str) -> None:
    """Refuse every coding but those known, and gzip together with another."""
    values = [value.lower() for value in message.headers.getall(header)]
    if not set(values) <= set(known) or (GZIP in values and len(values) > 1):
        raise BadReply(Reason.CONTENT_CODING, http_status=message.code)


def _require_unfinished(data: bytes, at: int) -> None:
    """Refuse an unexpected line, unless the rest of it may still come."""
    found = data.find(b"\n", at)
    if found >= 0 or len(data) - at > _LONGEST_LINE:
        raise BadReply(Reason.NOT_HTTP)
