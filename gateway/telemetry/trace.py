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
    """
    Random UUIDs, made many at a time: asking the system costs more than the bytes.

    Version 4 and the variant of RFC 9562 stand where the digits are fixed.
    """

    _DIGITS = 32
    _MADE = 128

    def __init__(self) -> None:
        """Begin empty; a forked process must not repeat its parent's."""
        self._made: list[str] = []
        os.register_at_fork(after_in_child=self._made.clear)

    def draw(self) -> str:
        """Take one."""
        if not self._made:
            digits = os.urandom(self._MADE * self._DIGITS // 2).hex()
            ends = range(self._DIGITS, len(digits) + 1, self._DIGITS)
            self._made.extend(_written(digits[end - self._DIGITS : end]) for end in ends)
        return self._made.pop()


def _written(digits: str) -> str:
    """Write 32 hexadecimal digits as a random UUID."""
    variant = "89ab"[int(digits[16], 16) & 3]
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:]}"


_pool = _Pool()


def current_trace_id() -> str:
    """Return the trace id of the request being served; empty outside of one."""
    return _current.get()


def begin(trace_id: str) -> None:
    """Make ``trace_id`` the current one for this task and what it starts."""
    _current.set(trace_id)


def new_trace_id() -> str:
    """Make a fresh one: a random UUID, written from a pool of random bytes."""
    return _pool.draw()


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
