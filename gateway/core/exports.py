"""Limits of exports: files, rows of files and lists, and files at once."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final
from weakref import WeakSet

from gateway.core import errors
from gateway.core.access import Staff
from gateway.core.allowances import Allowance, refuse_for
from gateway.core.errors import ServiceError
from gateway.core.limits import keep

MOST_OF_A_PERSON: Final = 2
"""Files that one person reads at once: one is looked at while another is fetched."""
MOST: Final = 8
"""Files that are read at once in a process; each asks the store all the time."""
ROWS_TAKEN: Final = "exported_rows"
"""The reason of a refusal: the person has taken many rows away lately."""
_ALARM_EVERY: Final = timedelta(minutes=10)
_COME_BACK: Final = {"Retry-After": "5"}


class ExportKind(StrEnum):
    """The rows of a file, or of lists of any kind."""

    AUDIT = "audit"
    LISTS = "lists"
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
    What people take away, by person: files, and lists, which copy as much page by page.

    Attributes:
        turns: Files that are read at once.
        files: Files that a person may begin.
        rows: Rows that a person may take, of all files and lists together.
        alarming: Rows of files above which an alarm is raised; the file goes on.
        listed: Rows of lists above which an alarm is raised. They have room for pages that look
            again by themselves.
        on_alarm: Records that a person took more than ``alarming`` or ``listed``; at most once for
            each file, and once in ten minutes for lists.
    """

    turns: Turns
    files: Allowance
    rows: Allowance
    alarming: Allowance
    listed: Allowance
    on_alarm: Callable[[Staff, ExportKind], Awaitable[None]]
    _alarmed: OrderedDict[str, datetime] = field(default_factory=OrderedDict)

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

    async def show(self, who: Staff, rows: int) -> None:
        """
        Take rows of a list before they are shown; commands have no limit.

        Raises:
            ServiceError: ``SVC.GTW.005`` (429) with ``Retry-After``: the person has taken too many
                rows lately.
            StoreUnavailable: an alarm could not be recorded.
        """
        person = who.person
        if person is None or not rows:
            return
        await self.draw(person.user_id, rows)
        if not await self.listed.take(person.user_id, rows):
            return
        now, last = who.acting.now(), self._alarmed.get(person.user_id)
        if last is None or now - last >= _ALARM_EVERY:
            keep(self._alarmed, person.user_id, now)
            await self.on_alarm(who, ExportKind.LISTS)

    async def draw(self, user_id: str, rows: int) -> None:
        """Take rows from what a user has left; raises as ``show``."""
        # what is read whole may hold more than a full bucket: it takes all of that
        refuse_for(await self.rows.take(user_id, min(rows, self.rows.burst)), ROWS_TAKEN)


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
        await exports.draw(person.user_id, rows)
        if await exports.alarming.take(person.user_id, rows) and not self.has_alarmed:
            self.has_alarmed = True
            await exports.on_alarm(self.who, self.kind)
