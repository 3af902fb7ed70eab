"""The trace id: one value per request, carried to logs, banks and error bodies."""

from __future__ import annotations

import os
import re
import uuid
from collections.abc import Sequence
from contextvars import ContextVar
from typing import Final

from gateway.domain.kernel import strict

_TRACEPARENT = re.compile(
    r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-[!-~]*)?", re.ASCII
)
_LONGEST_PARENT: Final = 512
_current: ContextVar[str] = ContextVar("trace_id", default="")

# One call of the system's randomness for many ids: it costs more than the bytes.
_MADE: Final = 128
_BYTES: Final = 16
_LINE: Final = b"........-....-....-....-............\n"
_COLUMNS: Final = tuple(column for column, mark in enumerate(_LINE) if mark == ord("."))
_VERSION: Final = slice(14, None, len(_LINE))
_VARIANT: Final = slice(19, None, len(_LINE))
_VARIANTS: Final = bytes.maketrans(b"0123456789abcdef", b"89ab" * 4)


def _written(chance: bytes) -> list[str]:
    """
    Write random bytes, 16 for each, as random UUIDs: version 4, variant of RFC 9562.

    All at once: the first digit of every one, then the second of every one.
    """
    many = len(chance) // _BYTES
    digits, lines = chance.hex().encode(), bytearray(_LINE * many)
    for digit, column in enumerate(_COLUMNS):
        lines[column :: len(_LINE)] = digits[digit :: len(_COLUMNS)]
    lines[_VERSION] = b"4" * many
    lines[_VARIANT] = lines[_VARIANT].translate(_VARIANTS)
    return lines.decode().split()


_drawn: list[str] = []
os.register_at_fork(after_in_child=_drawn.clear)  # a child must not repeat its parent's


def current_trace_id() -> str:
    """Return the trace id of the request being served; empty outside of one."""
    return _current.get()


def begin(trace_id: str) -> None:
    """Make ``trace_id`` the current one for this task and what it starts."""
    _current.set(trace_id)


def new_trace_id() -> str:
    """
    Make a fresh one: a random UUID.

    Many are made at a time: asking the system costs more than the bytes.
    """
    try:
        return _drawn.pop()
    except IndexError:
        fresh = _written(os.urandom(_MADE * _BYTES))
        drawn = fresh.pop()
        _drawn.extend(fresh)
        return drawn


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
    found = parsed(traceparents)
    return str(uuid.UUID(found[0])) if found else None


def parsed(traceparents: Sequence[str]) -> tuple[str, str] | None:
    """
    Return trace id and flags of one valid W3C ``traceparent``.

    One of a later version is read by its first four parts, whatever follows
    them (W3C Trace Context 3.2.4); version 00 has nothing behind.
    """
    if len(traceparents) != 1 or len(traceparents[0]) > _LONGEST_PARENT:
        return None
    found = _TRACEPARENT.fullmatch(traceparents[0])
    if found is None or found[1] == "ff" or not int(found[2], 16) or not int(found[3], 16):
        return None
    return None if found[1] == "00" and found[5] else (found[2], found[4])


def is_uuid(trace_id: str) -> bool:
    """Say whether a trace id is a hyphenated UUID."""
    try:
        strict.uuid_text(trace_id)
    except ValueError:
        return False
    return True
