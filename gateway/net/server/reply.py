"""An answer and its bytes, and the answers given below the application."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from email.utils import formatdate
from http import HTTPStatus
from pathlib import PurePath
from traceback import extract_tb
from typing import Final

import msgspec
from aiohttp.http_exceptions import HttpProcessingError, LineTooLong
from multidict import CIMultiDictProxy

from gateway.domain.kernel.catalogue import ErrorCode
from gateway.domain.kernel.errors import (
    BODY_TOO_LARGE,
    DRAINING,
    HEADERS_TOO_LARGE,
    INTERNAL,
    MALFORMED_REQUEST,
    OVERLOADED,
    REQUEST_TIMEOUT,
)
from gateway.net.server.request import (
    BodyTooLarge,
    HeadTooLarge,
    MalformedBody,
    RequestTimeout,
)
from gateway.telemetry import trace

# Made once: looking a phrase up in the enum costs more than writing the line.
_REASONS: Final = {status.value: f"{status.value} {status.phrase}" for status in HTTPStatus}
# Neither has a body, and 204 must not name a length (RFC 9110, 8.6).
_WITHOUT_LENGTH: Final = frozenset({HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED})
_OLD: Final = "1.0"
"""It knows no chunks: a body without a length ends with its connection."""
_OWN_LINES: Final = 2
"""The status line and the empty one."""


class UnwritableReply(ValueError):
    """A header would break out of its line, or cannot be encoded."""


class Reply(msgspec.Struct, kw_only=True):
    """
    The answer to a request.

    The listener adds what belongs to the connection: length, date and whether it
    stays open.

    Attributes:
        headers: In the order they are sent.
        cookies: Values of ``Set-Cookie``, each sent in a line of its own.
        trace_id: The request's; the listener finds one if this is empty.
        closes: The connection ends with this answer; nothing more is read.
    """

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = msgspec.field(default_factory=dict)
    cookies: Sequence[str] = ()
    trace_id: str = ""
    closes: bool = False


@dataclass(frozen=True, slots=True)
class Written:
    """The handler has written the answer itself; the connection stays open if it ``keeps``."""

    keeps: bool


@dataclass(frozen=True, slots=True)
class ReplyFormat:
    """
    How one answer is written.

    Attributes:
        version: The request's, which is the answer's too.
        connection: The ``Connection`` line with its line end, or nothing.
        bodiless: The length is sent and the body is not: an answer to HEAD.
    """

    version: str
    connection: str
    bodiless: bool


def reply_format(version: tuple[int, int], *, keeps: bool, bodiless: bool) -> ReplyFormat:
    """Choose how an answer to a request of this version is written."""
    return _FORMATS[version, keeps, bodiless]


def to_bytes(answer: Reply, how: ReplyFormat) -> bytes:
    """
    Write an answer.

    Raises:
        UnwritableReply: one of its headers must not be written.
    """
    has_length = answer.status not in _WITHOUT_LENGTH
    head = _head(answer, how, f"Content-Length: {len(answer.body)}" if has_length else "")
    return head if how.bodiless else head + answer.body


def streamed_head(answer: Reply, how: ReplyFormat) -> bytes:
    """
    Write the head of an answer whose length is not known: in chunks, or up to the end.

    Raises:
        UnwritableReply: one of its headers must not be written.
    """
    return _head(answer, how, "" if how.version == _OLD else "Transfer-Encoding: chunked")


def _head(answer: Reply, how: ReplyFormat, framing: str) -> bytes:
    """Write status and headers, checked."""
    # A status without a phrase keeps the space.
    reason = _REASONS.get(answer.status) or f"{answer.status} "
    lines = [f"HTTP/{how.version} {reason}", f"X-Trace-ID: {answer.trace_id}"]
    lines += map(": ".join, answer.headers.items())
    if answer.cookies:
        lines += [f"Set-Cookie: {value}" for value in answer.cookies]
    if framing:
        lines.append(framing)
    head = "\r\n".join(lines) + f"\r\n{how.connection}Date: {_clock.date()}\r\n\r\n"
    return _checked(head, len(lines) + _OWN_LINES + bool(how.connection))


def _checked(head: str, lines: int) -> bytes:
    """Encode a head, if it has as many lines as were put into it."""
    if head.count("\n") != lines or head.count("\r") != lines or "\0" in head:
        raise UnwritableReply
    try:
        return head.encode()
    except UnicodeEncodeError as problem:
        raise UnwritableReply from problem


class _Clock:
    """The Date header's value, made once a second."""

    __slots__ = ("_second", "_text")

    def __init__(self) -> None:
        self._second = 0
        self._text = ""

    def date(self) -> str:
        """Return the current time."""
        second = int(time.time())
        if second != self._second:
            self._second, self._text = second, formatdate(second, usegmt=True)
        return self._text


# One for all connections: the value is the same for everybody.
_clock: Final = _Clock()
# HTTP/1.1 keeps a connection unless told otherwise, HTTP/1.0 closes it (RFC 9112, 9.3).
_CONNECTION: Final = {
    ((1, 1), True): "",
    ((1, 1), False): "Connection: close\r\n",
    ((1, 0), True): "Connection: keep-alive\r\n",
    ((1, 0), False): "Connection: close\r\n",
}
_FORMATS: Final = {
    (version, keeps, bodiless): ReplyFormat(f"{version[0]}.{version[1]}", line, bodiless)
    for (version, keeps), line in _CONNECTION.items()
    for bodiless in (True, False)
}
TOO_MANY_HEADERS: Final = "Too many headers received"
"""aiohttp's message for it; it has no exception of its own for this."""
_OURS: Final[Mapping[type[BaseException], ErrorCode]] = {
    RequestTimeout: REQUEST_TIMEOUT,
    BodyTooLarge: BODY_TOO_LARGE,
    HeadTooLarge: HEADERS_TOO_LARGE,
    MalformedBody: MALFORMED_REQUEST,
    LineTooLong: HEADERS_TOO_LARGE,
}
# Both pass: another process serves, or the load goes down.
_RETRY_AFTER: Final = frozenset({DRAINING, OVERLOADED})
_HEADERS: Final = {
    "Content-Type": "application/json; charset=utf-8",
    "Cache-Control": "no-store",
}
# Another process takes over within a second; a longer pause would only be felt.
_COME_BACK: Final = {"Retry-After": "1"}
# Enough to find the line that failed; the frames above are the same for every request.
_FRAMES: Final = 5


def render(error: ErrorCode, trace_id: str) -> bytes:
    """Write the error body of contract part 7; it repeats nothing of the request."""
    body = {"code": error.code, "message": error.message, "trace_id": trace_id}
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


def ignore(error: ErrorCode, trace_id: str) -> None:
    """Count nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusals:
    """
    How refusals below the application look, and who is notified of them.

    Attributes:
        render: Makes the JSON body from the code and the trace id.
        new_trace_id: Makes the trace id if none was sent that is acceptable.
        on_refusal: Called for every refusal, for the log line and the metrics; must
            not raise.
    """

    render: Callable[[ErrorCode, str], bytes] = render
    new_trace_id: Callable[[], str] = trace.new_trace_id
    on_refusal: Callable[[ErrorCode, str], None] = ignore

    def find_trace_id(self, headers: CIMultiDictProxy[str]) -> str:
        """Return the application's trace id, else the caller's, else a new one."""
        sent = headers.getall("X-Trace-ID", [])
        return trace.current_trace_id() or trace.accepted(sent) or self.new_trace_id()

    def answer(self, error: ErrorCode, trace_id: str) -> Reply:
        """Make the answer, which is the last one of its connection."""
        self.on_refusal(error, trace_id)
        return Reply(
            status=error.status,
            body=self.render(error, trace_id),
            headers={**_HEADERS, **_COME_BACK} if error in _RETRY_AFTER else {**_HEADERS},
            trace_id=trace_id,
            closes=True,
        )


def find_code(problem: BaseException | None, status: int) -> ErrorCode:
    """Find the code for what ended a request; an unknown problem is our own fault: 500."""
    for kind, error in _OURS.items():
        if isinstance(problem, kind):
            return error
    if isinstance(problem, HttpProcessingError):
        too_many = problem.message == TOO_MANY_HEADERS
        return HEADERS_TOO_LARGE if too_many else MALFORMED_REQUEST
    if status == HTTPStatus.BAD_REQUEST:
        return MALFORMED_REQUEST
    return INTERNAL


def describe(problem: BaseException | None) -> str:
    """Name an error's kind and where it arose, never its message: that may quote the caller."""
    if problem is None:
        return "an unknown error"
    frames = extract_tb(problem.__traceback__)[-_FRAMES:]
    places = (f"{PurePath(each.filename).name}:{each.lineno} {each.name}" for each in frames)
    return f"{type(problem).__name__} at {' > '.join(places) or 'no place'}"
