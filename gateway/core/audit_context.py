"""The context of audited acts: actor, time, and refusals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gateway.core import strict
from gateway.core.audit import AuditEvent
from gateway.core.clocks import Now
from gateway.core.trace import current_trace_id

# Enough for any name; the audit log keeps every one for years.
_LONGEST_NAME = 200
_LONGEST_REASON = 500


class RuleViolation(Exception):
    """
    A request that breaks a rule; nothing was changed.

    The text is one line for the command line, and may repeat the input; over HTTP a wrong ``field``
    is described by its reason.
    """

    def __init__(self, text: str = "", reason: str = "not_possible", *, field: str = "") -> None:
        """Raise for ``reason``, a word of ``gateway.core.reasons``."""
        super().__init__(text)
        self.reason = reason
        self.field = field


@dataclass(frozen=True, slots=True)
class AuditContext:
    """
    The actor of changes, and the time; for the audit log.

    Attributes:
        actor: As the audit log names them: ``cli:maria``, ``system``.
    """

    actor: str
    now: Now

    def event(
        self, action: str, subject: str, details: Mapping[str, str] | None = None
    ) -> AuditEvent:
        """Build an event of now, in the current request; details never hold a secret."""
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
        RuleViolation: when it is empty, over 200 characters, or holds a character that
            is not seen: a control character, or one that turns or ends a line.
    """
    stripped = text.strip()
    try:
        plain = strict.name(stripped, _LONGEST_NAME)
    except ValueError as problem:
        message = "a name has at most 200 characters, and none that is unseen or turns the line"
        raise RuleViolation(message, "name_form", field="name") from problem
    if not plain:
        message = "a name is not empty"
        raise RuleViolation(message, "missing", field="name")
    return plain


def reason(text: str) -> str:
    """
    Check the reason of an act: one line for the auditors.

    Raises:
        RuleViolation: when it is empty, over 500 characters or holds a control character.
    """
    try:
        plain = strict.plain_text(text.strip(), _LONGEST_REASON)
    except ValueError as problem:
        message = "a reason has at most 500 characters and no control character"
        raise RuleViolation(message, "text_form", field="reason") from problem
    if not plain:
        message = "a reason is not empty"
        raise RuleViolation(message, "missing", field="reason")
    return plain


def identifier(text: str, of: str, field: str = "") -> str:
    """
    Parse the UUID of a company or an account, in lower case; ``of`` names the kind.

    Without ``field`` a body has it under that name and ``_id``.

    Raises:
        RuleViolation: when it is no hyphenated UUID.
    """
    try:
        return strict.uuid_text(text)
    except ValueError as problem:
        message = f"{of}: not a hyphenated UUID: {text!r}"
        raise RuleViolation(message, "uuid_form", field=field or f"{of}_id") from problem
