"""Headers of requests and answers, as every operation has them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from gateway.domain.kernel import errors
from gateway.domain.kernel.catalogue import ErrorCode

Schema = dict[str, Any]

_TRACE: Final = "5f0c7b7e-8c0a-4f0e-9a53-6f4f1f1d2c3b"
VERSION_TAG: Final = '"0f1e2d3c4b5a69788796a5b4c3d2e1f0"'
_PARENT: Final = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

REQUEST_HEADERS: Final[Mapping[str, Schema]] = {
    "TraceId": {
        "name": "X-Trace-ID",
        "in": "header",
        "required": False,
        "description": (
            "The caller's own trace id. It is echoed, logged, and sent to the bank. "
            "A malformed value is replaced by a new UUID."
        ),
        "schema": {"type": "string", "pattern": "^[A-Za-z0-9._:-]{1,128}$"},
        "example": _TRACE,
    },
    "TraceParent": {
        "name": "traceparent",
        "in": "header",
        "required": False,
        "description": (
            "W3C Trace Context. A valid one is continued towards the bank, with its `tracestate`; "
            "without one a trace is begun. Without `X-Trace-ID`, its trace id becomes ours, "
            "written as a UUID."
        ),
        "schema": {
            "type": "string",
            "maxLength": 512,
            "pattern": "^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}(-[!-~]*)?$",
        },
        "example": _PARENT,
    },
}
"""Parameters of every operation, by their names as components."""

REQUEST_REFERENCES: Final = tuple(
    {"$ref": f"#/components/parameters/{name}"} for name in REQUEST_HEADERS
)

ANSWER_HEADERS: Final[Mapping[str, Schema]] = {
    "TraceId": {
        "description": "The caller's own trace id, or a new one.",
        "schema": {"type": "string"},
        "example": _TRACE,
    },
    "RateLimit": {
        "description": (
            "What is left of the quota: tokens in `r`, seconds until the next one in `t`. "
            "Absent if the call was refused before the quota was checked."
        ),
        "schema": {"type": "string"},
        "example": '"read";r=98;t=1',
    },
    "RateLimitPolicy": {
        "description": "The quota: the largest burst in `q`, seconds to fill it in `w`.",
        "schema": {"type": "string"},
        "example": '"read";q=100;w=2',
    },
    "WwwAuthenticate": {
        "required": True,
        "description": "How to sign in here.",
        "schema": {"type": "string"},
        "example": 'Basic realm="baas", charset="UTF-8"',
    },
    "Version": {
        "required": True,
        "description": "The version of this record; send it in `If-Match` with a change.",
        "schema": {"type": "string"},
        "example": VERSION_TAG,
    },
    "RetryAfter": {
        "required": True,
        "description": "Seconds to wait before the next attempt.",
        "schema": {"type": "integer", "minimum": 1},
        "example": 2,
    },
}
"""Headers of answers, by their names as components."""


def _reference(name: str) -> Schema:
    return {"$ref": f"#/components/headers/{name}"}


_WAIT: Final = {"Retry-After": _reference("RetryAfter")}
_EVERY: Final = {"X-Trace-ID": _reference("TraceId")}
_QUOTA: Final = {
    "RateLimit": _reference("RateLimit"),
    "RateLimit-Policy": _reference("RateLimitPolicy"),
}
VERSION: Final = {"ETag": _reference("Version")}
"""Of answers that tell the version of what they show."""

_BY_STATUS: Final[Mapping[int, Mapping[str, Schema]]] = {
    401: {"WWW-Authenticate": _reference("WwwAuthenticate")},
    429: _WAIT,
    502: _WAIT,
    503: _WAIT,
}


def answer_headers(status: int, codes: Iterable[ErrorCode]) -> dict[str, Schema]:
    """Return the headers of an answer; the row's ``codes`` tell whether its calls are counted."""
    counted = errors.TOO_MANY_REQUESTS in codes
    return {**_EVERY, **(_QUOTA if counted else {}), **_BY_STATUS.get(status, {})}
