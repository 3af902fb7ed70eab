"""HTTP requests to a bank, and its answers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Final
from urllib.parse import quote

import msgspec

from gateway.domain.bank.provider_reasons import Reason
from gateway.domain.bank.providers import Evidence, Phase, Refused

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
        path: The path and query as they are sent, already encoded; ``filled`` makes
            one.
        headers: Those the bank asks for; the client adds tracing and framing.
    """

    operation: str
    method: str
    template: str
    path: str
    headers: Mapping[str, str] = msgspec.field(default_factory=dict)
    body: bytes = b""
    kind: Kind = Kind.READ

    def __post_init__(self) -> None:
        """Refuse a payout that a proxy might repeat (anything but POST), or that has no body."""
        if self.kind is _PAYOUT and (self.method != "POST" or not self.body):
            problem = "money is moved by a POST with a body"
            raise ValueError(problem)

    def __repr__(self) -> str:
        """Show nothing that could hold a credential or personal data."""
        return f"ProviderRequest({self.operation}: {self.method} {self.template})"


class ProviderAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """
    A bank's answer, read to its end and not yet understood; printed as its status.

    Attributes:
        headers: Names in any letter case.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes

    def __repr__(self) -> str:
        """Show nothing that could hold personal data."""
        return f"ProviderAnswer({self.status})"

    def evidence(self, reason: str, provider_code: str = "") -> Evidence:
        """Return what this answer proves, for a call that moves money."""
        return Evidence(
            phase=Phase.ANSWERED,
            bytes_left=True,
            reason=str(reason),
            http_status=self.status,
            provider_code=provider_code,
        )


def filled(template: str, **steps: str) -> str:
    """
    Replace the braces of a path, and encode every value completely (``/`` too).

    Raises:
        Refused: for an empty value, ``.`` or ``..``: a server would drop it or go up a
            folder. Encoding does not help against that.
    """
    if not _NO_STEPS.isdisjoint(steps.values()):
        raise Refused(Reason.UNSENDABLE)
    if all(map(_PLAIN.fullmatch, steps.values())):
        return template.format_map(steps)
    try:
        return template.format_map({name: quote(step, safe="") for name, step in steps.items()})
    except UnicodeEncodeError as problem:
        raise Refused(Reason.UNSENDABLE) from problem
