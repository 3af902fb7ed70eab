"""The trace id: one value per request, carried to logs, banks and error bodies."""

from __future__ import annotations

import os
import re
import uuid
from collections.abc import Sequence
from contextvars import ContextVar

from gateway.domain import strict

_TRACEPARENT = re.compile(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}", re.ASCII)
_current: ContextVar[str] = ContextVar("trace_id", default="")


class _Pool:
    """Random digits, asked of the system many at a time: the call costs more than the bytes."""

    _DIGITS = 32
    _KEPT = 4096

    def __init__(self) -> None:
        """Begin empty; a forked process must not repeat its parent's."""
        self._digits = ""
        self._at = 0
        os.register_at_fork(after_in_child=self._empty)

    def draw(self) -> str:
        """Take 32 hexadecimal digits."""
        if self._at >= len(self._digits):
            self._digits, self._at = os.urandom(self._KEPT // 2).hex(), 0
        begin = self._at
        self._at = begin + self._DIGITS
        return self._digits[begin : self._at]

    def _empty(self) -> None:
        """Forget what is left."""
        self._digits = ""


_pool = _Pool()


def current_trace_id() -> str:
    """Return the trace id of the request being served; empty outside of one."""
    return _current.get()


def begin(trace_id: str) -> None:
    """Make ``trace_id`` the current one for this task and what it starts."""
    _current.set(trace_id)


def new_trace_id() -> str:
    """Make a fresh one: a random UUID, written from a pool of random bytes."""
    drawn = _pool.draw()
    # Version 4 and the variant of RFC 9562 stand where the digits are fixed.
    variant = "89ab"[int(drawn[16], 16) & 3]
    return f"{drawn[:8]}-{drawn[8:12]}-4{drawn[13:16]}-{variant}{drawn[17:20]}-{drawn[20:]}"


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
