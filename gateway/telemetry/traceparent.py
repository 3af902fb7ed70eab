"""The caller's W3C ``traceparent``, which banks get with a parent of our own in it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextvars import ContextVar
from typing import Final

from gateway.telemetry import trace

_TRACE: Final = slice(3, 35)
_FLAGS: Final = slice(53, 55)
_SAMPLED: Final = 1
_current: ContextVar[tuple[str, str] | None] = ContextVar("traceparent", default=None)


def begin(values: Sequence[str]) -> None:
    """
    Keep what the caller sent, for this task and what it starts; what is no one valid value is none.

    To be called for every request, also for one that sent nothing: another one
    may have been served by the same task.
    """
    if not values or trace.continued(values) is None:
        _current.set(None)
        return
    sampled = int(values[0][_FLAGS], 16) & _SAMPLED
    _current.set((f"00-{values[0][_TRACE]}-", f"-0{sampled}"))


def outgoing() -> str:
    """Write the header of one call: the caller's trace, a new parent; empty without a caller's."""
    kept = _current.get()
    if kept is None:
        return ""
    # All zeros would be no parent: eight bytes with the first bit set never are.
    parent = int.from_bytes(os.urandom(8), "big") | 1 << 63
    return f"{kept[0]}{parent:016x}{kept[1]}"
