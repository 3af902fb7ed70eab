"""
Cached records: which audit events make them stale, and how long a process may trust them.

The audit log tells of every change in the change's own transaction. Who follows
it knows what to forget.
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
    """Kinds of records that a process keeps; the words are those of audit subjects."""

    ACCOUNT = "account"
    CREDENTIAL = "credential"
    STOP = "stop"
    SIGNING_KEY = "signing_key"


@dataclass(frozen=True, slots=True)
class Act:
    """What is needed of an audit event to tell what it changed."""

    action: str
    subject: str


@dataclass(frozen=True, slots=True)
class Mark:
    """A place in the audit log: the number and the hash of the event there."""

    number: int
    hash: bytes


@dataclass(frozen=True, slots=True)
class News:
    """
    What followed a mark.

    Attributes:
        mark: The place of the last of these acts; where to go on.
        is_all: False when there is more.
    """

    acts: Sequence[Act]
    mark: Mark
    is_all: bool


class Belief:
    """
    Until when kept records may be believed, by the monotonic clock, in seconds.

    Who follows the change feed moves the instant on. It is looked at with every
    use of a record, so that a process that was stopped or is late believes nothing.
    """

    __slots__ = ("until",)

    def __init__(self, until: float = -inf) -> None:
        """Trust nothing until the feed has been read."""
        self.until = until


_KINDS: Final = frozenset(map(str, Kept))


_COUNTED: Final = frozenset({"access", "audit", "factor", "report", "sign_in"})
"""First words of acts that count tries, refusals and downloads, and change nothing."""
_TAKEN: Final = "exported"
"""The second word of acts that take data away, whatever they are about."""


def outdated(act: Act) -> tuple[Kept, str] | None:
    """
    Return the kind and the key of the record that an act has changed; None for any other act.

    A stop names what it holds for, so its action tells; of stops all are old then.
    """
    if act.action in {STOPPED, RESUMED}:
        return Kept.STOP, ""
    kind, colon, key = act.subject.partition(":")
    about, _, done = act.action.partition(".")
    changes = about not in _COUNTED and done != _TAKEN
    return (Kept(kind), key) if changes and colon and kind in _KINDS else None
