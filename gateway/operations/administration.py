"""What every administrative act shares: who does it, when, and how one is refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gateway.domain import strict
from gateway.domain.clocks import Now
from gateway.domain.stores import AuditEvent
from gateway.telemetry.trace import current_trace_id

_LONGEST_NAME = 200
_LONGEST_REASON = 500


class NotPossible(Exception):
    """An act against a rule; nothing was changed. The text is one line for the operator."""


@dataclass(frozen=True, slots=True)
class Acting:
    """
    Somebody changing records.

    Attributes:
        actor: As the audit log names them: ``cli:maria``, ``system``.
    """

    actor: str
    now: Now

    def event(
        self, action: str, subject: str, details: Mapping[str, str] | None = None
    ) -> AuditEvent:
        """Describe an act of now, in the request being served; details never hold a secret."""
        return AuditEvent(
            at=self.now(),
            actor=self.actor,
            action=action,
            subject=subject,
            details=details or {},
            trace_id=current_trace_id(),
        )


def name(text: str) -> str:
    """
    Read the name of a company, an account or a credential.

    Raises:
        NotPossible: when it is empty, over 200 characters or holds a control character.
    """
    stripped = text.strip()
    try:
        plain = strict.plain_text(stripped, _LONGEST_NAME)
    except ValueError as problem:
        message = "a name has at most 200 characters and no control character"
        raise NotPossible(message) from problem
    if not plain:
        message = "a name is not empty"
        raise NotPossible(message)
    return plain


def reason(text: str) -> str:
    """
    Read why somebody acts: one line for those who come after.

    Raises:
        NotPossible: when it is empty, over 500 characters or holds a control character.
    """
    try:
        plain = strict.plain_text(text.strip(), _LONGEST_REASON)
    except ValueError as problem:
        message = "a reason has at most 500 characters and no control character"
        raise NotPossible(message) from problem
    if not plain:
        message = "a reason is not empty"
        raise NotPossible(message)
    return plain


def identifier(text: str, of: str) -> str:
    """
    Read the UUID of a company or an account, in lower case; ``of`` says whose it is.

    Raises:
        NotPossible: when it is no hyphenated UUID.
    """
    try:
        return strict.uuid_text(text)
    except ValueError as problem:
        message = f"{of}: not a hyphenated UUID: {text!r}"
        raise NotPossible(message) from problem
