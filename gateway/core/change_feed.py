"""
Cached records: which audit events make them stale, and how long they may be trusted.

The audit log records every change in the change's own transaction, so its readers can drop stale
records.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import inf
from typing import Final

STOPPED: Final = "payouts.stopped"
RESUMED: Final = "payouts.resumed"
"""Acts of stops; by these every process learns of one."""


class Kept(StrEnum):
    """Kinds of cached records, by the words of audit subjects."""

    ACCOUNT = "account"
    CREDENTIAL = "credential"
    STOP = "stop"
    SIGNING_KEY = "signing_key"


@dataclass(frozen=True, slots=True)
class Act:
    """The parts of an audit event that identify the changed record."""

    action: str
    subject: str


@dataclass(frozen=True, slots=True)
class Mark:
    """A position in the audit log: an event's number and hash."""

    number: int
    hash: bytes


@dataclass(frozen=True, slots=True)
class News:
    """
    The acts after a mark.

    Attributes:
        mark: The place of the last of these acts, to read on from.
        is_all: False when there is more.
    """

    acts: Sequence[Act]
    mark: Mark
    is_all: bool


class CacheValidity:
    """
    Until when cached records may be used, in seconds of the monotonic clock.

    The reader of the change feed extends it. It is checked at every use of a record, so that a
    stopped or late process uses none.
    """

    __slots__ = ("until",)

    def __init__(self, until: float = -inf) -> None:
        """Trust nothing until the feed has been read."""
        self.until = until


_KINDS: Final = frozenset(map(str, Kept))


_COUNTED: Final = frozenset({"access", "audit", "factor", "outflow", "report", "sign_in"})
"""First words of acts that count tries, refusals and downloads, and change nothing."""
_TAKEN: Final = "exported"
"""The second word of acts that take data away, whatever they are about."""


def outdated(act: Act) -> tuple[Kept, str] | None:
    """
    Return the kind and key of the record that an act changed; None for other acts.

    A stop's subject is not the stop itself, so its action decides; all stops are stale then.
    """
    if act.action in {STOPPED, RESUMED}:
        return Kept.STOP, ""
    kind, colon, key = act.subject.partition(":")
    about, _, done = act.action.partition(".")
    changes = about not in _COUNTED and done != _TAKEN
    return (Kept(kind), key) if changes and colon and kind in _KINDS else None
