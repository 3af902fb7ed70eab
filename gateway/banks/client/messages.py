"""
HTTP requests to a bank, the progress of each call, and the answers.

The progress of a call is the only evidence of whether a byte left us.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from typing import Final
from urllib.parse import quote

import msgspec
from yarl import URL

from gateway.banks.port.providers import (
    Evidence,
    Phase,
    ProviderError,
    Reason,
    Refused,
    Unreachable,
)
from gateway.core.clocks import Deadline
from gateway.net.common.certificates import CertificatePair


class SendRefused(Exception):
    """The request must no longer be written; raised before its first byte."""


class SendProgress:
    """
    The progress of one call, noted by the transport as it happens.

    A call may send only before ``end``, and not after ``send_by``. ``sending`` checks
    both; the transport calls it in the same step as the write.

    Attributes:
        bytes_left: Set before the first byte is written, and never reset: if it is
            False, certainly nothing left us.
        refused_here: We stopped the call ourselves; the bank is not to blame.
    """

    __slots__ = ("_ended", "bytes_left", "http_status", "phase", "refused_here", "send_by")

    def __init__(self, send_by: Deadline | None = None) -> None:
        self.send_by = send_by
        self.phase: Phase = Phase.REFUSED_HERE
        self.bytes_left = False
        self.http_status = 0
        self.refused_here = False
        self._ended = False

    def connecting(self) -> None:
        """Note that a connection is being opened or taken from the pool."""
        self.phase = Phase.CONNECTING

    def connected(self) -> None:
        """Note that there is a connection."""
        self.phase = Phase.CONNECTED

    def sending(self) -> None:
        """
        Note that the first byte is written now, or refuse it.

        Raises:
            SendRefused: the deadline has passed, or the call is over.
        """
        if self._ended or (self.send_by is not None and self.send_by.passed()):
            self.refused_here = True
            raise SendRefused
        self.bytes_left = True
        self.phase = Phase.SENT

    def answered(self, http_status: int) -> None:
        """Note that the answer's head has arrived."""
        self.phase = Phase.ANSWERED
        self.http_status = http_status

    def end(self) -> None:
        """Forbid any later write, even if the call's task still runs."""
        self._ended = True

    def evidence(self, failure: ProviderError) -> Evidence:
        """Return the evidence after a failure."""
        return Evidence(
            phase=self.phase,
            bytes_left=self.bytes_left,
            reason=str(failure.reason),
            http_status=self.http_status or None,
        )


_NO_STEPS: Final = frozenset({"", ".", ".."})


class Kind(StrEnum):
    """The class of an operation: each has its own circuit breaker."""

    READ = "read"
    PAYOUT = "payout"


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """
    The account of a call, at a bank where each account has its own credentials.

    Attributes:
        account_id: The account's id; two accounts never share a connection.
        pair: The account's certificate; None if it has none.
    """

    account_id: str
    pair: CertificatePair | None = field(default=None, repr=False)


class ProviderRequest(msgspec.Struct, frozen=True, kw_only=True):
    """
    One HTTP request to a bank; printed without headers and body.

    Attributes:
        operation: The port's name of the call, such as ``get_balance``.
        template: The path with its variable steps in braces, for logs.
        path: The path and query as they are sent, already encoded; ``filled`` makes
            one.
        headers: Those the bank requires; the client adds tracing and framing.
        account: Whose call it is, by the account's id; empty where it concerns none.
        credential: Name, not secret, of the credential whose limits the bank counts; empty
            for a credential that the account has to itself.
        identity: Whose connection carries it (see ``AccountTransports``); None for one
            that all accounts of the provider share.
        key: Our key of the payout, where money moves by a PUT to the path that ends in it.

    Money is moved by a POST, or by such a PUT. A proxy between us and the bank may
    send a PUT again, as HTTP allows; to a path of one payout a second one adds nothing.
    """

    operation: str
    method: str
    template: str
    path: str
    headers: Mapping[str, str] = msgspec.field(default_factory=dict)
    body: bytes = b""
    kind: Kind = Kind.READ
    account: str = ""
    credential: str = ""
    identity: Identity | None = None
    key: str = ""

    def __post_init__(self) -> None:
        """Refuse a payout that an intermediary might send again as another payout."""
        if self.kind is Kind.PAYOUT and self.method != "POST" and not self._puts_its_key():
            problem = "money is moved by a POST, or by a PUT to a path that ends in our key"
            raise ValueError(problem)

    def _puts_its_key(self) -> bool:
        """Return whether it is a PUT whose last path segment is our key, complete and as sent."""
        last = self.path.partition("?")[0].rpartition("/")[2]
        named = self.template.endswith("}") and last == quote(self.key, safe="")
        return self.method == "PUT" and self.key != "" and named

    def __repr__(self) -> str:
        return f"ProviderRequest({self.operation}: {self.method} {self.template})"


class ProviderAnswer(msgspec.Struct, kw_only=True):
    """
    A bank's answer, read to its end and not yet understood; printed as its status.

    Attributes:
        headers: Names in any letter case.
        request: The request that it answers. Its operation decides how strictly the answer is
            read: without one, as strictly as an answer that decides about money.
        rows_unreadable: Rows of a list that were left out since they could not be read.
        unknown_words: Words of the bank in it that the adapter does not list.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes
    request: ProviderRequest | None = None
    rows_unreadable: int = 0
    unknown_words: int = 0

    def __repr__(self) -> str:
        return f"ProviderAnswer({self.status})"

    def unknown_word(self) -> None:
        """Count a word that the adapter does not list; the client reports it."""
        self.unknown_words += 1

    def evidence(self, reason: str, provider_code: str = "") -> Evidence:
        """Return the evidence of this answer, for a call that moves money."""
        return Evidence(
            phase=Phase.ANSWERED,
            bytes_left=True,
            reason=str(reason),
            http_status=self.status,
            provider_code=provider_code,
        )


def filled(template: str, **steps: str) -> str:
    """
    Fill the placeholders of a path, and percent-encode every value (``/`` too).

    Raises:
        Refused: for an empty value, ``.`` or ``..``: a server would drop it or go up a
            folder. Encoding does not help against that.
    """
    if not _NO_STEPS.isdisjoint(steps.values()):
        raise Refused(Reason.UNSENDABLE)
    try:
        return template.format_map({name: quote(step, safe="") for name, step in steps.items()})
    except UnicodeEncodeError as problem:
        raise Refused(Reason.UNSENDABLE) from problem


# A token (RFC 9110, 5.6.2), except for the percent sign, which templates use.
_TOKEN: Final = re.compile(r"[!#$&'*+.^_`|~0-9A-Za-z-]+", re.ASCII)
# Headers that frame the message or name the trace: only the client writes them.
_RESERVED: Final = frozenset(
    {"accept-encoding", "connection", "content-length", "expect", "host", "te", "trailer",
     "traceparent", "tracestate", "transfer-encoding", "upgrade", "x-trace-id"}
)  # fmt: skip
_DEFAULTS: Final = {"accept": "Accept: application/json", "user-agent": "User-Agent: pixgate"}
_WITH_BODY: Final = {**_DEFAULTS, "content-type": "Content-Type: application/json"}
# Servers expect no Content-Length from these without a body; from others a zero (RFC 9110, 8.6).
_BODILESS: Final = frozenset({"GET", "HEAD", "DELETE", "OPTIONS"})


# A bank has some ten kinds of requests; none of their names comes from a caller.
@lru_cache(maxsize=512)
def _fixed_lines(
    host: str,
    method: str,
    names: tuple[str, ...],
    has_body: bool,  # noqa: FBT001 - a cache is looked up faster by place than by name
    is_last: bool,  # noqa: FBT001
) -> str:
    """
    Return the fixed lines of all heads with these header names.

    Raises:
        Unreachable: ``unsendable``, for a name that is no token, reserved or there twice.
    """
    lowered = frozenset(name.lower() for name in names)
    tokens = all(map(_TOKEN.fullmatch, (method, *names)))
    if not tokens or lowered & _RESERVED or len(lowered) != len(names):
        raise Unreachable(Reason.UNSENDABLE)
    lines = [f"Host: {host}", "Accept-Encoding: identity"]
    if is_last:
        lines.append("Connection: close")
    usual = _WITH_BODY if has_body else _DEFAULTS
    lines += [line for name, line in usual.items() if name not in lowered]
    return "\r\n".join((*lines, ""))


class RequestWriter:
    """
    Writes requests for one bank.

    Args:
        base: The bank's address; all paths begin with its own.
        trace_headers: Returns the trace of a call, as values that are safe in a head: our
            id, the W3C ``traceparent``, and the ``tracestate``, which may be empty.
    """

    def __init__(self, base: URL, trace_headers: Callable[[], tuple[str, str, str]]) -> None:
        self._host = base.host_port_subcomponent or ""
        self._prefix = base.raw_path.rstrip("/")
        self._trace_headers = trace_headers

    def write(self, request: ProviderRequest, *, last: bool = False) -> bytes:
        """
        Write a request, head and body in one piece.

        The last request of its connection carries ``Connection: close``, as RFC 9112 9.6 requires.

        Raises:
            Unreachable: ``unsendable``, for anything that could be read as more than one
                request with one body: control characters, a space in the path,
                characters beyond ASCII, or a header that changes the framing.
        """
        method, path, headers, body = request.method, request.path, request.headers, request.body
        checked = "".join((self._prefix, path, *headers.values()))
        if not (checked.isascii() and checked.isprintable()) or " " in path or path[:1] != "/":
            raise Unreachable(Reason.UNSENDABLE)
        fixed = _fixed_lines(self._host, method, tuple(headers), bool(body), last)
        trace_id, parent, state = self._trace_headers()
        traced = f"X-Trace-ID: {trace_id}\r\ntraceparent: {parent}\r\n"
        if state:
            traced += f"tracestate: {state}\r\n"
        own = "".join([f"{name}: {text}\r\n" for name, text in headers.items()])
        if body or method not in _BODILESS:
            own += f"Content-Length: {len(body)}\r\n"
        head = f"{method} {self._prefix}{path} HTTP/1.1\r\n{fixed}{traced}{own}\r\n"
        return head.encode() + body
