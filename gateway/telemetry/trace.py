"""The trace id: one value per request, carried to logs, banks and error bodies."""

from __future__ import annotations

import re
import uuid
from collections.abc import Sequence
from contextvars import ContextVar

from gateway.domain import strict

_TRACEPARENT = re.compile(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}", re.ASCII)
_current: ContextVar[str] = ContextVar("trace_id", default="")


def current_trace_id() -> str:
    """Return the trace id of the request being served; empty outside of one."""
    return _current.get()


def begin(trace_id: str) -> None:
    """Make ``trace_id`` the current one for this task and what it starts."""
    _current.set(trace_id)


def new_trace_id() -> str:
    """Make a fresh one."""
    return str(uuid.uuid4())


def accepted(values: Sequence[str]) -> str | None:
    """Return the caller's own trace id if exactly one acceptable value was sent."""
    if len(values) != 1:
        return None
    try:
        return strict.trace_id(values[0])
    except ValueError:
        return None


def continued(traceparents: Sequence[str]) -> str | None:
    """Return the trace of one valid W3C ``traceparent``, its 32 digits written as a UUID."""
    found = _TRACEPARENT.fullmatch(traceparents[0]) if len(traceparents) == 1 else None
    if found is None or found[1] == "ff" or not int(found[2], 16) or not int(found[3], 16):
        return None
    return str(uuid.UUID(found[2]))


def is_uuid(trace_id: str) -> bool:
    """Say whether a trace id is a hyphenated UUID."""
    try:
        strict.uuid_text(trace_id)
    except ValueError:
        return False
    return True
