"""What people take away as files: how many files and rows, and how many files at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final
from weakref import WeakSet

from gateway.core import errors
from gateway.core.access import Staff
from gateway.core.allowances import Allowance, refuse_for
from gateway.core.errors import ServiceError

MOST_OF_A_PERSON: Final = 2
"""Files that one person reads at once: one is looked at while another is fetched."""
MOST: Final = 8
"""Files that are read at once in a process; each asks the store all the time."""
_COME_BACK: Final = {"Retry-After": "5"}


class ExportKind(StrEnum):
    """The rows of a file."""

    AUDIT = "audit"
    PAYOUTS = "payouts"
    RECEIVED = "received"
    REQUESTS = "requests"
    STATEMENT = "statement"


class Turn:
    """One file being read; the turn ends when it is no longer referenced."""

    __slots__ = ("__weakref__",)


@dataclass(frozen=True, slots=True)
class Turns:
    """
    The files that this process reads now.

    A turn belongs to its reader, and ends with it.
    """

    _held: defaultdict[str, WeakSet[Turn]] = field(default_factory=lambda: defaultdict(WeakSet))

    def take(self, user_id: str) -> Turn:
        """
        Begin one more file for a user.

        Raises:
            ServiceError: ``SVC.GTW.005`` (429) with ``Retry-After``: too many of theirs are
                being read, or of everybody's.
        """
        for each in [each for each, turns in self._held.items() if not turns]:
            del self._held[each]
        if len(self._held.get(user_id, ())) >= MOST_OF_A_PERSON:
            raise ServiceError(errors.TOO_MANY_REQUESTS, "downloads_of_person", _COME_BACK)
        if sum(len(each) for each in self._held.values()) >= MOST:
            raise ServiceError(errors.TOO_MANY_REQUESTS, "downloads", _COME_BACK)
        turn = Turn()
        self._held[user_id].add(turn)
        return turn


@dataclass(frozen=True, slots=True, kw_only=True)
class Exports:
    """
    What people take away as files, by person.

    Attributes:
        turns: Files that are read at once.
        files: Files that a person may begin.
        rows: Rows that a person may take, of all files together.
        alarming: Rows above which an alarm is raised; the file goes on.
        on_alarm: Records that a person took more than ``alarming``; at most once for each file.
    """

    turns: Turns
    files: Allowance
    rows: Allowance
    alarming: Allowance
    on_alarm: Callable[[Staff, ExportKind], Awaitable[None]]

    async def begin(self, who: Staff, kind: ExportKind) -> Export:
        """
        Begin one more file; commands have no limit.

        Raises:
            ServiceError: ``SVC.GTW.005`` (429) with ``Retry-After``: the person has begun too many
                files lately, or too many are being read.
        """
        person = who.person
        turn = self.turns.take(person.user_id if person else who.acting.actor)
        if person is not None:
            refuse_for(await self.files.take(person.user_id), "exports")
        return Export(self, who, kind, turn)


@dataclass(slots=True)
class Export:
    """
    One file of a person.

    Attributes:
        turn: Held until nothing holds the export any more.
    """

    exports: Exports
    who: Staff
    kind: ExportKind
    turn: Turn
    has_alarmed: bool = False

    async def take(self, rows: int) -> None:
        """
        Take rows before they are handed out.

        Raises:
            ServiceError: ``SVC.GTW.005`` (429) with ``Retry-After``: the person has taken too many
                rows lately.
            StoreUnavailable: an alarm could not be recorded.
        """
        person, exports = self.who.person, self.exports
        if person is None or not rows:
            return
        # a file that is read whole may hold more than a full bucket: it takes all of that
        wait_s = await exports.rows.take(person.user_id, min(rows, exports.rows.burst))
        refuse_for(wait_s, "exported_rows")
        if await exports.alarming.take(person.user_id, rows) and not self.has_alarmed:
            self.has_alarmed = True
            await exports.on_alarm(self.who, self.kind)
