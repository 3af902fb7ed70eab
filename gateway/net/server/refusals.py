"""Answers given below the application: our error body instead of aiohttp's text."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError, LineTooLong
from multidict import CIMultiDictProxy

from gateway.domain.kernel.catalogue import ErrorCode
from gateway.domain.kernel.errors import (
    BODY_TOO_LARGE,
    DRAINING,
    HEADERS_TOO_LARGE,
    INTERNAL,
    MALFORMED_REQUEST,
    METHOD_NOT_ALLOWED,
    OVERLOADED,
    REQUEST_TIMEOUT,
    ROUTE_UNKNOWN,
)
from gateway.net.server.body import BodyTooLarge, MalformedBody, RequestTimeout
from gateway.net.server.reply import Reply
from gateway.telemetry import trace

TOO_MANY_HEADERS: Final = "Too many headers received"
"""aiohttp's words for it; it has no exception of its own for this."""

_OURS: Final[Mapping[type[BaseException], ErrorCode]] = {
    RequestTimeout: REQUEST_TIMEOUT,
    BodyTooLarge: BODY_TOO_LARGE,
    MalformedBody: MALFORMED_REQUEST,
    LineTooLong: HEADERS_TOO_LARGE,
}
_BY_STATUS: Final[Mapping[int, ErrorCode]] = {
    404: ROUTE_UNKNOWN,
    405: METHOD_NOT_ALLOWED,
    408: REQUEST_TIMEOUT,
    413: BODY_TOO_LARGE,
    431: HEADERS_TOO_LARGE,
    503: OVERLOADED,
}
_RETRY_AFTER: Final = frozenset({DRAINING, OVERLOADED})
_HEADERS: Final = {
    "Content-Type": "application/json; charset=utf-8",
    "Cache-Control": "no-store",
}
_COME_BACK: Final = {"Retry-After": "1"}


def render(error: ErrorCode, trace_id: str) -> bytes:
    """Write the error body of contract part 7; nothing of the request is in it."""
    body = {"code": error.code, "message": error.message, "trace_id": trace_id}
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


def ignore(error: ErrorCode, trace_id: str) -> None:
    """Let a refusal pass uncounted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusals:
    """
    How refusals below the application look and who hears of them.

    Attributes:
        render: Makes the JSON body from the code and the trace id.
        new_trace_id: Makes the trace id where none was sent that is acceptable.
        on_refusal: Told of every refusal, for the log line and the metrics; must
            not raise.
    """

    render: Callable[[ErrorCode, str], bytes] = render
    new_trace_id: Callable[[], str] = trace.new_trace_id
    on_refusal: Callable[[ErrorCode, str], None] = ignore

    def find_trace_id(self, headers: CIMultiDictProxy[str]) -> str:
        """Return the one the application works under, else the caller's, else a new one."""
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
    """Find the code for what ended a request; a problem we do not know is ours: 500."""
    for kind, error in _OURS.items():
        if isinstance(problem, kind):
            return error
    if isinstance(problem, HttpProcessingError):
        too_many = problem.message == TOO_MANY_HEADERS
        return HEADERS_TOO_LARGE if too_many else MALFORMED_REQUEST
    if status == HTTPStatus.BAD_REQUEST:
        return MALFORMED_REQUEST
    return INTERNAL


def is_foreign(answer: web.StreamResponse) -> bool:
    """Was this error made by aiohttp's router or reader, in plain text and without a trace id?"""
    if answer.status < HTTPStatus.BAD_REQUEST or not isinstance(answer, web.HTTPException):
        return False
    return not answer.prepared and "X-Trace-ID" not in answer.headers


def find_code_of(status: int) -> ErrorCode:
    """Find the code for an error of aiohttp's own."""
    known = _BY_STATUS.get(status)
    if known is not None:
        return known
    return INTERNAL if status >= HTTPStatus.INTERNAL_SERVER_ERROR else MALFORMED_REQUEST
