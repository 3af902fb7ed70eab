"""Answers given below the application: our error body, and what is logged of a fault."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import PurePath
from traceback import extract_tb
from typing import Final

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
from gateway.net.server.reply import Reply
from gateway.net.server.request import BodyTooLarge, MalformedBody, RequestTimeout
from gateway.telemetry import trace

TOO_MANY_HEADERS: Final = "Too many headers received"
"""aiohttp's message for it; it has no exception of its own for this."""

_OURS: Final[Mapping[type[BaseException], ErrorCode]] = {
    RequestTimeout: REQUEST_TIMEOUT,
    BodyTooLarge: BODY_TOO_LARGE,
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
