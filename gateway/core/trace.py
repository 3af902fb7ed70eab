"""
The trace id: one value per request, for logs, error bodies and banks (W3C Trace Context).

A caller's trace continues under a parent of ours. Without one a trace is begun,
whose id is our trace id where that is a UUID, so that one id is enough to
follow a request.
"""

from __future__ import annotations

import hashlib
import os
import re
import uuid
from collections.abc import Iterator, Sequence
from contextvars import ContextVar, Token
from typing import Final, NamedTuple, Protocol

from gateway.core import strict

_TRACEPARENT = re.compile(
    r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-[!-~]*)?", re.ASCII
)
_LONGEST_PARENT: Final = 512
_current: ContextVar[tuple[str, str]] = ContextVar("trace_id", default=("", ""))
"""The trace id, and its W3C digits where calls of banks begin a trace; else no digits."""
_provider_key: ContextVar[str] = ContextVar("provider_key", default="")


def current_trace_id() -> str:
    """Return the trace id of the request being served; empty outside of one."""
    return _current.get()[0]


def begin(trace_id: str, parents: Sequence[str] = (), states: Sequence[str] = ()) -> str:
    """
    Make ``trace_id`` the current one for this task and the tasks that it starts.

    A caller's valid ``traceparent`` is continued, with its ``tracestate``; without one,
    calls of banks begin a trace.

    Returns:
        The 32 digits of the W3C trace id for the log; empty where they are
        the digits of ``trace_id``, which is logged anyway.
    """
    found = parsed(parents) if parents else None
    if found is None:
        digits = begun(trace_id)
        _current.set((trace_id, digits))
        if _parent.get() is not None:
            _parent.set(None)
    else:
        digits, flags = found
        _current.set((trace_id, ""))
        state = ",".join(_passed_on(states)) if states else ""
        _parent.set(Continued(f"00-{digits}-", f"-0{int(flags, 16) & _SAMPLED}", state))
    return "" if digits == trace_id.replace("-", "").lower() else digits


def begin_background(trace_id: str = "", provider_key: str = "") -> None:
    """
    Begin the trace of background work, for this task and the tasks it starts.

    Args:
        trace_id: Of the request that ordered a payout; empty makes a fresh one.
        provider_key: The payout's key at the bank; empty without a payout.
    """
    begin(trace_id or new_trace_id())
    _provider_key.set(provider_key)


def followed_payout() -> str:
    """Return the key of the payout being followed up; empty outside of a follow-up."""
    return _provider_key.get()


def new_trace_id() -> str:
    """Make a fresh one: a random UUID."""
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
    found = parsed(traceparents)
    return str(uuid.UUID(found[0])) if found else None


def parsed(traceparents: Sequence[str]) -> tuple[str, str] | None:
    """
    Return trace id and flags of one valid W3C ``traceparent``.

    A later version is read by its first four parts, with any rest
    them (W3C Trace Context 3.2.4); version 00 has nothing behind.
    """
    if len(traceparents) != 1 or len(traceparents[0]) > _LONGEST_PARENT:
        return None
    found = _TRACEPARENT.fullmatch(traceparents[0])
    if found is None or found[1] == "ff" or not int(found[2], 16) or not int(found[3], 16):
        return None
    return None if found[1] == "00" and found[5] else (found[2], found[4])


def is_uuid(trace_id: str) -> bool:
    """Return whether a trace id is a hyphenated UUID."""
    try:
        strict.uuid_text(trace_id)
    except ValueError:
        return False
    return True


# Letters of both cases are listed: IGNORECASE takes twice the time.
_UUID: Final = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}", re.ASCII)
_MEMBER: Final = re.compile(
    r"([a-z0-9][_0-9a-z*/-]{0,240}(?:@[a-z][_0-9a-z*/-]{0,13})?)"
    r"=[ -+\--<>-~]{0,255}[!-+\--<>-~]",
    re.ASCII,
)
"""``key=value`` of W3C Trace Context 3.3.1."""
# W3C Trace Context, 3.3.1.1: a longer list may be cut.
_MOST_MEMBERS: Final = 32
_LONGEST_STATE: Final = 512
"""Characters that W3C Trace Context 3.3.1.5 wants passed on; more is left out."""
_NOBODY: Final = "00000000-0000-0000-0000-000000000000"
_SAMPLED: Final = 1
_FIRST_BIT: Final = 1 << 63
_DRAWN_AT_ONCE: Final = 128
_drawn: Final[list[str]] = []
"""Ids of parents to come: reading the system's random numbers costs as much for one as for all."""
if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_drawn.clear)  # two processes never use the same ids


class Parent(Protocol):
    """The parent of bank calls: a caller's trace, or a span of ours."""

    def headers(self) -> tuple[str, str]:
        """Return ``traceparent`` and ``tracestate`` of one call; the second may be empty."""
        ...


class Continued(NamedTuple):
    """A caller's trace: the parts before and after the parent's id, and the caller's state."""

    before: str
    behind: str
    state: str

    def headers(self) -> tuple[str, str]:
        """Name a parent of ours; see ``Parent``."""
        return f"{self.before}{_parent_id()}{self.behind}", self.state


_parent: ContextVar[Parent | None] = ContextVar("traceparent", default=None)


def outgoing() -> tuple[str, str, str]:
    """
    Return the trace headers of one bank call: our trace id, ``traceparent``, ``tracestate``.

    The last one is often empty. Outside of a request a call is a trace by itself.
    """
    (trace_id, digits), parent = _current.get(), _parent.get()
    if not trace_id:
        trace_id, digits = new_trace_id(), ""
    if parent is None:
        return trace_id, f"00-{digits or begun(trace_id)}-{_parent_id()}-00", ""
    return trace_id, *parent.headers()


def parent() -> Parent | None:
    """Return the current parent of bank calls; None where they begin a trace."""
    return _parent.get()


def belong_to(parent: Parent | None) -> Token[Parent | None]:
    """Set the parent of bank calls, until ``leave`` gets the token."""
    return _parent.set(parent)


def leave(token: Token[Parent | None]) -> None:
    """Restore the former parent of bank calls."""
    _parent.reset(token)


def _is_w3c(trace_id: str) -> bool:
    """Return whether a trace id is a UUID that is not all zeros, as W3C requires."""
    return _UUID.fullmatch(trace_id) is not None and trace_id != _NOBODY


def begun(trace_id: str) -> str:
    """Return the id of a new trace: the digits of a UUID, or digits derived from another id."""
    if _is_w3c(trace_id):
        return trace_id.replace("-", "").lower()
    return hashlib.sha256(trace_id.encode()).hexdigest()[:32]


def _parent_id() -> str:
    """Return a random parent id, never all zeros, for a parent without a recorded span."""
    try:
        return _drawn.pop()
    except IndexError:
        numbers = memoryview(os.urandom(_DRAWN_AT_ONCE * 8)).cast("Q")
        _drawn.extend([f"{number | _FIRST_BIT:016x}" for number in numbers])
        return _parent_id()


def _passed_on(states: Sequence[str]) -> Iterator[str]:
    """Return the members of a caller's ``tracestate`` that fit; none if one is invalid."""
    members = [each.strip(" \t") for line in states for each in line.split(",")]
    members = [each for each in members if each]
    keys = {found[1] for found in map(_MEMBER.fullmatch, members) if found}
    if len(keys) < len(members) or len(members) > _MOST_MEMBERS:
        return
    length = -1
    for member in members:
        length += 1 + len(member)
        if length > _LONGEST_STATE:
            return
        yield member
