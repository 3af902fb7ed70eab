"""
Framing of responses: status, end of the body, connection persistence.

llhttp has checked the syntax of the header lines. Ambiguous framing that llhttp accepts is refused
here.

Source: RFC 9112, parts 2.3, 6.1, 6.3 and 9.3.
"""

from __future__ import annotations

import re
import zlib
from http import HTTPStatus
from typing import Final

import msgspec
from multidict import CIMultiDict, istr

from gateway.banks.port.providers import BadReply, Reason

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
        said = self.headers.get(_KEEP_ALIVE)
        found = _KEPT.search(said) if said else None
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
