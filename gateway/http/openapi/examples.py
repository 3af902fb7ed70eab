"""
One example for each request and answer, and the headers that every operation has.

A field's example is the ``example`` or the first of ``examples`` in its ``Meta``, else its constant
or its first word, else what its form stands for. A text that has none becomes ``UNKNOWN``, and a
test names the field.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final

from gateway.core import errors
from gateway.core.catalogue import ErrorCode
from gateway.core.fields import ID, TRACE_ID

Schema = dict[str, Any]
VERSION_TAG: Final = '"0f1e2d3c4b5a69788796a5b4c3d2e1f0"'
REQUEST_HEADERS: Final[Mapping[str, Schema]] = {
    "TraceId": {
        "name": "X-Trace-ID",
        "in": "header",
        "required": False,
        "description": (
            "The caller's own trace id. It is echoed, logged, and sent to the bank. "
            "It is 1 to 128 of `A-Za-z0-9._:-`; any other value is replaced by a new UUID, not "
            "refused."
        ),
        "schema": {"type": "string"},
    },
    "TraceParent": {
        "name": "traceparent",
        "in": "header",
        "required": False,
        "description": (
            "W3C Trace Context. A valid one is continued towards the bank, with its `tracestate`; "
            "without one a trace is begun. Without `X-Trace-ID`, its trace id becomes ours, "
            "written as a UUID. Anything else is ignored, not refused."
        ),
        "schema": {"type": "string"},
    },
}
"""
Parameters of every operation, by their names as components.

They have no example: programs fill it in, and every caller's requests would be one trace.
"""
REQUEST_REFERENCES: Final = tuple(
    {"$ref": f"#/components/parameters/{name}"} for name in REQUEST_HEADERS
)
ANSWER_HEADERS: Final[Mapping[str, Schema]] = {
    "TraceId": {
        "description": "The caller's own trace id, or a new one.",
        "schema": {"type": "string"},
        "example": TRACE_ID,
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
    "CredentialExpires": {
        "description": (
            "When the credential, or the secret of this call, ends; absent if neither does."
        ),
        "schema": {"type": "string", "format": "date-time"},
        "example": "2026-11-20T13:40:11Z",
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
        "schema": {"type": "integer", "format": "int64", "minimum": 1},
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
_EXPIRES: Final = {"X-Credential-Expires": _reference("CredentialExpires")}
VERSION: Final = {"ETag": _reference("Version")}
"""Of answers that tell the version of what they show."""
_UNAUTHORIZED: Final = 401
_BY_STATUS: Final[Mapping[int, Mapping[str, Schema]]] = {
    _UNAUTHORIZED: {"WWW-Authenticate": _reference("WwwAuthenticate")},
    429: _WAIT,
    502: _WAIT,
    503: _WAIT,
}


def answer_headers(status: int, codes: Iterable[ErrorCode]) -> dict[str, Schema]:
    """Return the headers of an answer; by its ``codes`` a route counts calls, or takes secrets."""
    counted = errors.TOO_MANY_REQUESTS in codes
    ends = errors.BASIC_REQUIRED in codes and status != _UNAUTHORIZED
    return {
        **_EVERY,
        **(_QUOTA if counted else {}),
        **(_EXPIRES if ends else {}),
        **_BY_STATUS.get(status, {}),
    }


UNKNOWN: Final = "an example is missing"
DAY: Final = "2026-11-20"
"""The day of every example; documents that are served show today instead."""
ORIGIN: Final = "https://gateway.invalid"
"""
The server of a document; one that is served names the gateway's own address, where it is known.

A client that is generated from a path alone goes to a port of its own machine with its secret; this
name leads nowhere (RFC 2606).
"""
INSTANT: Final = f"{DAY}T13:40:11Z"
COMPANY: Final = "Loja Exemplo Ltda"
CNPJ: Final = "11222333000181"
"""The company of the examples, which owns the accounts; Maria pays and is paid."""
_BY_FORM: Final[Mapping[str, Any]] = MappingProxyType(
    {
        "uuid": ID,
        "date": DAY,
        "date-time": INSTANT,
        "boolean": True,
        "object": {},
    }
)
"""By format, or by type where there is none."""
_NUMBERS: Final = frozenset({"integer", "number"})


def example_of(schema: Mapping[str, Any], components: Mapping[str, Mapping[str, Any]]) -> Any:  # noqa: ANN401 - as free as JSON
    """Make an example of a schema."""
    for own in ("example", "const"):
        if own in schema:
            return schema[own]
    if "examples" in schema:
        return schema["examples"][0]
    if "$ref" in schema:
        return example_of(components[schema["$ref"].rpartition("/")[2]], components)
    if "enum" in schema:
        return schema["enum"][0]
    for forms in ("oneOf", "anyOf"):
        if forms in schema:
            return example_of(schema[forms][0], components)
    return _plain(schema, components)


def _plain(schema: Mapping[str, Any], components: Mapping[str, Mapping[str, Any]]) -> Any:  # noqa: ANN401 - as free as JSON
    """Make an example of a type that is no choice."""
    if "properties" in schema:  # what is always there, and what is worth showing
        needed = schema.get("required", ())
        return {
            field: example_of(part, components)
            for field, part in schema["properties"].items()
            if field in needed or "examples" in part
        }
    if schema.get("type") == "array":
        return [example_of(schema["items"], components)] if "items" in schema else []
    if schema.get("type") in _NUMBERS:
        return max(1, schema.get("minimum", 1))
    return _BY_FORM.get(schema.get("format", schema.get("type", "")), UNKNOWN)


def without_example(component: Schema) -> Schema:
    """Leave out the ``example`` of each field, which is only used in operations."""
    if "properties" not in component:
        return component
    shown = {
        field: {name: each for name, each in part.items() if name != "example"}
        for field, part in component["properties"].items()
    }
    return {**component, "properties": shown}
