"""Requests as bytes: one template of the head for each operation, filled in for each call."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from gateway.domain.bank.provider_reasons import Reason
from gateway.domain.bank.providers import Unreachable
from gateway.net.client.messages import ProviderRequest

# A token (RFC 9110, 5.6.2), except for the percent sign, which templates use.
_TOKEN: Final = re.compile(r"[!#$&'*+.^_`|~0-9A-Za-z-]+", re.ASCII)
# Headers that frame the message or name the trace: only the client writes them.
_RESERVED: Final = frozenset(
    {"accept-encoding", "connection", "content-length", "expect", "host", "te", "trailer",
     "traceparent", "tracestate", "transfer-encoding", "upgrade", "x-trace-id"}
)  # fmt: skip
_DEFAULTS: Final = (("Accept", "application/json"), ("User-Agent", "pixgate"))
_JSON: Final = ("Content-Type", "application/json")
# Servers expect no Content-Length from these without a body; from others a zero (RFC 9110, 8.6).
_BODILESS: Final = frozenset({"GET", "HEAD", "DELETE", "OPTIONS"})
# An adapter has about thirty operations; the bound is for one that invents methods.
_TEMPLATES: Final = 64

Shape = tuple[str, bool, bool, bool, tuple[str, ...]]
"""
What all requests of an operation have in common.

The method, whether there is a body, a ``tracestate``, whether it is the last request of its
connection, and the names of the headers.
"""


class RequestWriter:
    """
    Writes requests for one bank.

    Args:
        host: The value of the Host header, with the port if it is not the usual one.
        prefix: What all paths begin with; empty, or a path without its last slash.
        trace_headers: Returns the trace of a call, as values that are safe in a head: our
            id, the W3C ``traceparent``, and the ``tracestate``, which may be empty.
    """

    def __init__(
        self, host: str, prefix: str, trace_headers: Callable[[], tuple[str, str, str]]
    ) -> None:
        self._host = host.replace("%", "%%")
        self._prefix = prefix
        self._trace_headers = trace_headers
        self._templates: dict[Shape, str] = {}

    def write(self, request: ProviderRequest, *, last: bool = False) -> bytes:
        """
        Write a request, head and body in one piece.

        The last request of its connection says so, as RFC 9112 9.6 asks.

        Raises:
            Unreachable: ``unsendable``, for anything that could be read as more than one
                request with one body: control characters, a space in the path,
                characters beyond ASCII, or a header that changes the framing.
        """
        headers, body = request.headers, request.body
        trace_headers = self._trace_headers()
        has_state = trace_headers[2] != ""
        shape = (request.method, bool(body), has_state, last, tuple(headers))
        template = self._templates.get(shape) or self._template(shape)
        variable = (self._prefix + request.path, *headers.values())
        checked = "".join(variable)
        if not (checked.isascii() and checked.isprintable()) or " " in request.path:
            raise Unreachable(Reason.UNSENDABLE)
        if not request.path.startswith("/"):
            raise Unreachable(Reason.UNSENDABLE)
        filled = (variable[0], *(trace_headers if has_state else trace_headers[:2]), *variable[1:])
        return (template % (*filled, len(body)) if body else template % filled).encode() + body

    def _template(self, shape: Shape) -> str:
        """Make the template of an operation, and keep a bounded number of them."""
        if len(self._templates) >= _TEMPLATES:
            self._templates.clear()
        made = self._templates[shape] = "\r\n".join([*self._lines(shape), "", ""])
        return made

    def _lines(self, shape: Shape) -> list[str]:
        """Write the lines, with ``%s`` for the values of a call."""
        method, has_body, has_state, is_last, names = shape
        lowered = {name.lower() for name in names}
        tokens = all(map(_TOKEN.fullmatch, (method, *names)))
        if not tokens or lowered & _RESERVED or len(lowered) != len(names):
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
