"""Where does an answer's head end, and its body? What two readers might read apart is refused."""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import Final

from aiohttp import hdrs
from aiohttp.http import HttpVersion10, HttpVersion11
from aiohttp.http_parser import RawResponseMessage
from multidict import istr

from gateway.domain.bank.providers import BadReply
from gateway.net.client.reasons import Reason

_KEEP_ALIVE: Final = istr("Keep-Alive")
_KEPT: Final = re.compile(r"\btimeout *= *([0-9]{1,6})\b", re.ASCII | re.IGNORECASE)
_WITHOUT_BODY: Final = frozenset(
    {HTTPStatus.SWITCHING_PROTOCOLS, HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED}
)
_BLANK_LINE: Final = b"\r\n\r\n"
# Half of a line's end, or a line that goes on: the parser reads more into both than we do.
_DOUBTFUL_LINE: Final = re.compile(rb"(?<!\r)\n|\r[^\n]|\n[ \t]")
# Visible characters, blanks and what is not ASCII in the reason; the parser judges the rest.
_STATUS_LINE: Final = re.compile(rb"HTTP/[\t -~\x80-\xff]+")
# 18 digits: the parser takes 2**64 - 1 for "no length".
_LENGTH: Final = re.compile(r"[0-9]{1,18}", re.ASCII)


class HeadEnd:
    """
    Finds the blank line that ends a head, also one that is cut into segments.

    The parser is lenient with the ends of lines: it could see the head end before this
    does, and read the rest of it as the body. It also takes other protocols that look like
    HTTP, and a status line with a NUL in it.
    """

    __slots__ = ("_before", "_first", "_first_seen")

    def __init__(self) -> None:
        self._before = b""
        self._first = bytearray()
        self._first_seen = False

    def find(self, data: bytes) -> int:
        """
        Return how many bytes of a next segment belong to the head: all while it goes on.

        Raises:
            BadReply: ``not_http`` for a carriage return or a line feed without the other,
                a line that begins with a blank, or a first line that is no status line of HTTP.
        """
        seen = self._before + data
        found = seen.find(_BLANK_LINE)
        end = len(seen) if found < 0 else found + len(_BLANK_LINE)
        # A line feed kept from before has been looked at, together with the byte before it.
        if _DOUBTFUL_LINE.search(seen, int(self._before.startswith(b"\n")), end):
            raise BadReply(Reason.NOT_HTTP)
        cut = end - len(self._before)
        self._require_status_line(data[:cut], ended=found >= 0)
        self._before = seen[1 - len(_BLANK_LINE) :] if found < 0 else b""
        return cut

    def _require_status_line(self, data: bytes, *, ended: bool) -> None:
        """Look at the first line of each head, once it is whole; blank ones before it may be."""
        if not self._first_seen:
            self._first += data
            line, end, _ = self._first.lstrip(b"\r\n").partition(b"\r\n")
            self._first_seen = bool(end)
            if end and _STATUS_LINE.fullmatch(line) is None:
                raise BadReply(Reason.NOT_HTTP)
        if ended:
            self._first.clear()
            self._first_seen = False


def is_interim(status: int) -> bool:
    """Say whether another answer follows; 101 is the last one, though we never ask for it."""
    return status < HTTPStatus.OK and status != HTTPStatus.SWITCHING_PROTOCOLS


def is_without_body(status: int) -> bool:
    """Say whether an answer ends with its head, whatever the head says."""
    return status in _WITHOUT_BODY


def body_length(message: RawResponseMessage) -> int | None:
    """
    Return the bytes of the body; None where chunks or the connection's end bound it.

    The parser refuses two lengths, a length beside chunks, and what is no number.

    Raises:
        BadReply: ``not_http`` for another version than 1.0 and 1.1, chunks in
            1.0 or announced twice, a length beyond 18 digits, or a name with a
            space behind it; ``content_coding`` for any coding but plain chunks.
    """
    headers = message.headers
    # The parser frames by "Content-Length : 5", but hands the name on with its space.
    if any(name[-1] in " \t" for name in headers):
        raise BadReply(Reason.NOT_HTTP, http_status=message.code)
    if hdrs.CONTENT_ENCODING in headers:
        _require_coding(message, hdrs.CONTENT_ENCODING, "identity")
    if hdrs.TRANSFER_ENCODING in headers:
        _require_coding(message, hdrs.TRANSFER_ENCODING, "chunked")
        if message.version != HttpVersion11 or len(headers.getall(hdrs.TRANSFER_ENCODING)) > 1:
            raise BadReply(Reason.NOT_HTTP, http_status=message.code)
        return None
    if message.version not in (HttpVersion11, HttpVersion10):
        raise BadReply(Reason.NOT_HTTP, http_status=message.code)
    given = headers.get(hdrs.CONTENT_LENGTH)
    if given is None:
        return None
    if _LENGTH.fullmatch(given) is None:
        raise BadReply(Reason.NOT_HTTP, http_status=message.code)
    return int(given)


def kept_for(message: RawResponseMessage) -> float | None:
    """Return how many seconds the bank says that it keeps the connection; None if it does not."""
    said = message.headers.get(_KEEP_ALIVE)
    found = None if said is None else _KEPT.search(said)
    return float(found[1]) if found else None


def _require_coding(message: RawResponseMessage, header: str, only: str) -> None:
    """Refuse every coding but one; we have said that we understand no other."""
    if any(value.lower() != only for value in message.headers.getall(header)):
        raise BadReply(Reason.CONTENT_CODING, http_status=message.code)
