"""The heads of requests: one template for each operation, filled in for each call."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from gateway.domain.bank.providers import Unreachable
from gateway.net.client.messages import ProviderRequest
from gateway.net.client.reasons import Reason

# A token of HTTP, but for the sign that templates are made with.
_TOKEN: Final = re.compile(r"[!#$&'*+.^_`|~0-9A-Za-z-]+", re.ASCII)
_OURS: Final = frozenset(
    {"accept-encoding", "connection", "content-length", "expect", "host", "te", "trailer",
     "traceparent", "tracestate", "transfer-encoding", "upgrade", "x-trace-id"}
)  # fmt: skip
_DEFAULTS: Final = (("Accept", "application/json"), ("User-Agent", "pixgate"))
_JSON: Final = ("Content-Type", "application/json")
_BODILESS: Final = frozenset({"GET", "HEAD", "DELETE", "OPTIONS"})
_TEMPLATES: Final = 64

Shape = tuple[str, bool, bool, bool, tuple[str, ...]]
"""
What all requests of an operation have in common.

Method, whether there is a body, whether a ``tracestate``, whether it is the last of its
connection, names of headers.
"""


class Heads:
    """
    Writes requests for one bank.

    Args:
        host: As the Host header says it, with the port where it is not the usual one.
        prefix: What all paths begin with; empty, or a path without its last slash.
        traced: Names the trace a call belongs to, in words that are safe in a head: our id, the
            W3C ``traceparent``, and the ``tracestate``, which may be empty.
    """

    def __init__(self, host: str, prefix: str, traced: Callable[[], tuple[str, str, str]]) -> None:
        self._host = host.replace("%", "%%")
        self._prefix = prefix
        self._traced = traced
        self._templates: dict[Shape, str] = {}

    def write(self, request: ProviderRequest, *, last: bool = False) -> bytes:
        """
        Write a request, head and body in one piece.

        The last one of its connection says so, as RFC 9112 9.6 asks.

        Raises:
            Unreachable: ``unsendable``, for what would be read as something
                else than one request with one body: control characters, a
                space in the path, what is not ASCII, or a header that frames.
        """
        headers, body = request.headers, request.body
        traced = self._traced()
        has_state = traced[2] != ""
        shape = (request.method, bool(body), has_state, last, tuple(headers))
        template = self._templates.get(shape) or self._template(shape)
        variable = (self._prefix + request.path, *headers.values())
        checked = "".join(variable)
        if not (checked.isascii() and checked.isprintable()) or " " in request.path:
            raise Unreachable(Reason.UNSENDABLE)
        if not request.path.startswith("/"):
            raise Unreachable(Reason.UNSENDABLE)
        filled = (variable[0], *(traced if has_state else traced[:2]), *variable[1:])
        return (template % (*filled, len(body)) if body else template % filled).encode() + body

    def _template(self, shape: Shape) -> str:
        """Make the template of an operation and keep it, but not without a bound."""
        if len(self._templates) >= _TEMPLATES:
            self._templates.clear()
        made = self._templates[shape] = "\r\n".join([*self._lines(shape), "", ""])
        return made

    def _lines(self, shape: Shape) -> list[str]:
        """Write the lines; ``%s`` stands for what a call fills in."""
        method, has_body, has_state, is_last, names = shape
        lowered = {name.lower() for name in names}
        tokens = all(map(_TOKEN.fullmatch, (method, *names)))
        if not tokens or lowered & _OURS or len(lowered) != len(names):
            raise Unreachable(Reason.UNSENDABLE)
        defaults = (*_DEFAULTS, _JSON) if has_body else _DEFAULTS
        fixed = [f"{name}: {value}" for name, value in defaults if name.lower() not in lowered]
        lines = [
            f"{method} %s HTTP/1.1",
            f"Host: {self._host}",
            "Accept-Encoding: identity",
            *(["Connection: close"] if is_last else []),
            *fixed,
            "X-Trace-ID: %s",
            "traceparent: %s",
            *(["tracestate: %s"] if has_state else []),
            *(f"{name}: %s" for name in names),
        ]
        if has_body:
            lines.append("Content-Length: %d")
        elif method not in _BODILESS:
            lines.append("Content-Length: 0")
        return lines
