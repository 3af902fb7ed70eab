"""
W3C Trace Context: what banks get as ``traceparent`` and ``tracestate``.

A caller's trace goes on under a parent of ours. Without one a trace is begun,
whose id is our trace id where that is a UUID, so that one id is enough to
follow a request.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from typing import Final, NamedTuple

from gateway.telemetry import trace

_UUID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII | re.IGNORECASE)
_MEMBER: Final = re.compile(
    r"([a-z0-9][_0-9a-z*/-]{0,240}(?:@[a-z][_0-9a-z*/-]{0,13})?)"
    r"=[ -+\--<>-~]{0,255}[!-+\--<>-~]",
    re.ASCII,
)
"""``key=value`` of W3C Trace Context 3.3.1."""
# W3C Trace Context, 3.3.1.1: a longer list may be cut.
_MOST_MEMBERS: Final = 32
_LONGEST: Final = 512
"""What W3C Trace Context 3.3.1.5 asks everybody to pass on; more is left out."""
_NOBODY: Final = "0" * 32
_SAMPLED: Final = 1
_MADE: Final = 128
_BYTES: Final = 8
_FIRST_BIT_SET: Final = bytes(each | 0x80 for each in range(256))


class _Kept(NamedTuple):
    """What goes before and behind the parent, and the caller's state."""

    before: str
    behind: str
    state: str


_current: ContextVar[_Kept | None] = ContextVar("traceparent", default=None)
_parents: list[str] = []
os.register_at_fork(after_in_child=_parents.clear)  # a child must not repeat its parent's


def begin(trace_id: str, parents: Sequence[str], states: Sequence[str]) -> str:
    """
    Continue the caller's trace, or begin one, for this task and what it starts.

    Returns:
        The 32 digits of the W3C trace id for the log; empty where they are
        those of ``trace_id``, which is logged anyway.
    """
    found = trace.parsed(parents)
    digits, flags = found or (_begun(trace_id), "00")
    state = ",".join(_passed_on(states)) if found and states else ""
    _current.set(_Kept(f"00-{digits}-", f"-0{int(flags, 16) & _SAMPLED}", state))
    return "" if digits == trace_id.replace("-", "").lower() else digits


def forget() -> None:
    """Begin anew for a request that sent nothing: one before it may have been served here."""
    if _current.get() is not None:
        _current.set(None)


def outgoing() -> tuple[str, str, str]:
    """
    Return what one call of a bank says: our trace id, ``traceparent``, ``tracestate``.

    The last one is often empty. Outside of a request a call is a trace by itself.
    """
    trace_id, kept = trace.current_trace_id() or trace.new_trace_id(), _current.get()
    parent = _parents.pop() if _parents else _drawn()
    if kept is None:  # then the id is one that we made: a UUID in lower case
        return trace_id, f"00-{trace_id.replace('-', '')}-{parent}-00", ""
    return trace_id, f"{kept.before}{parent}{kept.behind}", kept.state


def _begun(trace_id: str) -> str:
    """Name a trace that begins with us: the digits of a UUID, or of what any other id makes."""
    if _UUID.fullmatch(trace_id):
        digits = trace_id.replace("-", "").lower()
        if digits != _NOBODY:
            return digits
    return hashlib.sha256(trace_id.encode()).hexdigest()[:32]


def _drawn() -> str:
    """
    Draw a parent: 8 bytes with the first bit set, for all zeros would be none.

    Many are made at a time: asking the system costs more than the bytes.
    """
    chance = bytearray(os.urandom(_MADE * _BYTES))
    chance[::_BYTES] = chance[::_BYTES].translate(_FIRST_BIT_SET)
    _parents.extend(chance.hex(" ", _BYTES).split())
    return _parents.pop()


def _passed_on(states: Sequence[str]) -> Iterator[str]:
    """Take the members of a caller's ``tracestate`` that fit; none when one is not valid."""
    members = [each.strip(" \t") for line in states for each in line.split(",")]
    members = [each for each in members if each]
    keys = {found[1] for found in map(_MEMBER.fullmatch, members) if found}
    if len(keys) < len(members) or len(members) > _MOST_MEMBERS:
        return
    length = -1
    for member in members:
        length += 1 + len(member)
        if length > _LONGEST:
            return
        yield member
