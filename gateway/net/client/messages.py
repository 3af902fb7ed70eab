"""What is asked of a bank over HTTP, and what it answers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Final
from urllib.parse import quote

import msgspec

from gateway.domain.bank.providers import Evidence, Phase, Refused
from gateway.net.client.reasons import Reason

_PLAIN: Final = re.compile(r"[0-9A-Za-z._~-]+", re.ASCII)
_NO_STEPS: Final = frozenset({"", ".", ".."})


class Kind(StrEnum):
    """The class of an operation: each has its own circuit breaker."""

    READ = "read"
    PAYOUT = "payout"


# Looking a member up by its name costs Python 3.11 a call each time.
_PAYOUT: Final = Kind.PAYOUT


class ProviderRequest(msgspec.Struct, frozen=True, kw_only=True):
    """
    One HTTP request to a bank; printed without headers and body.

    Attributes:
        operation: The port's name of the call, such as ``get_balance``.
        template: The path with its variable steps in braces, for logs.
        path: The path and query as they go out, already encoded; ``filled``
            makes one.
        headers: Those of the bank; tracing and content coding are the
            client's.
    """

    operation: str
    method: str
    template: str
    path: str
    headers: Mapping[str, str] = msgspec.field(default_factory=dict)
    body: bytes = b""
    kind: Kind = Kind.READ

    def __post_init__(self) -> None:
        """Refuse a money call that anybody on the way might repeat, or that has no body."""
        if self.kind is _PAYOUT and (self.method != "POST" or not self.body):
            problem = "money is moved by a POST with a body"
            raise ValueError(problem)

    def __repr__(self) -> str:
        """Name it by what no credential and no person is in."""
        return f"ProviderRequest({self.operation}: {self.method} {self.template})"


class ProviderAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """
    What a bank answered, read to its end and not yet understood; printed as its status.

    Attributes:
        headers: Names in any letter case.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes

    def __repr__(self) -> str:
        """Name it by what no person is in."""
        return f"ProviderAnswer({self.status})"

    def evidence(self, reason: str, provider_code: str = "") -> Evidence:
        """Say what this answer proves, for a call that moves money."""
        return Evidence(
            phase=Phase.ANSWERED,
            bytes_left=True,
            reason=str(reason),
            http_status=self.status,
            provider_code=provider_code,
        )


def filled(template: str, **steps: str) -> str:
    """
    Put steps into a path's braces, each encoded whole (``/`` too).

    Raises:
        Refused: for a step that a server would take for a way up or leave
            out: empty, ``.`` or ``..``. Encoding cannot save those.
    """
    if not _NO_STEPS.isdisjoint(steps.values()):
        raise Refused(Reason.UNSENDABLE)
    if all(map(_PLAIN.fullmatch, steps.values())):
        return template.format_map(steps)
    try:
        return template.format_map({name: quote(step, safe="") for name, step in steps.items()})
    except UnicodeEncodeError as problem:
        raise Refused(Reason.UNSENDABLE) from problem
