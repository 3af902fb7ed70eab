"""What is asked of a bank over HTTP, and what it answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from urllib.parse import quote

from gateway.domain.providers import Evidence, Phase, Refused
from provider_adapters._shared.reasons import Reason


class Kind(StrEnum):
    """The class of an operation: each has its own circuit breaker."""

    READ = "read"
    PAYOUT = "payout"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderRequest:
    """
    One HTTP request to a bank.

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
    headers: Mapping[str, str] = field(repr=False, default_factory=dict)
    body: bytes = field(repr=False, default=b"")
    kind: Kind = Kind.READ

    def __post_init__(self) -> None:
        """Refuse a money call that anybody on the way might repeat, or that has no body."""
        if self.kind is Kind.PAYOUT and (self.method != "POST" or not self.body):
            problem = "money is moved by a POST with a body"
            raise ValueError(problem)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderAnswer:
    """
    What a bank answered, read to its end and not yet understood.

    Attributes:
        headers: Names in any letter case.
    """

    status: int
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)

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
    for step in steps.values():
        if step in {"", ".", ".."}:
            raise Refused(Reason.UNSENDABLE)
    try:
        return template.format_map({name: quote(step, safe="") for name, step in steps.items()})
    except UnicodeEncodeError as problem:
        raise Refused(Reason.UNSENDABLE) from problem
