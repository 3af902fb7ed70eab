"""
Writes payouts that ended long ago to files, and deletes their rows.

A file is written, read back and compared row by row; then the database notes it, it gets its name,
and its payouts leave in small transactions, each of which compares the rows once more. The process
may be killed anywhere. A repetition writes an unfinished draft anew, and goes on with a file that
was noted: no payout is in the database's list before the file is on disk, and none is deleted that
is not in a file of the list.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import islice
from typing import Final

from gateway.archive.folder import ArchiveFolder
from gateway.archive.model import (
    ArchiveFile,
    Planned,
    begin_of,
    first_kept,
    month_of,
    next_month,
)
from gateway.archive.store import ArchiveRecords, Conditions
from gateway.core.access import Staff, requires
from gateway.core.audit_context import RuleViolation
from gateway.core.company_scope import StopScope
from gateway.core.money import Money
from gateway.core.permissions import Action
from gateway.core.rights import Area
from gateway.net.common.runtime import Failpoint
from gateway.stops.service import stops_in_force
from gateway.store.kernel.database import Database

_AT_ONCE: Final = 200
"""Payouts that one transaction deletes: no other one waits for long."""
WRITE: Final = "write"
GO_ON: Final = "go on"


@dataclass(frozen=True, slots=True, kw_only=True)
class Archive:
    """
    The archive of payouts.

    Attributes:
        keep_months: Payouts created in this month or in so many before it stay; None archives
            nothing.
        passed: Called between the steps; tests end the process in it.
    """

    database: Database
    records: ArchiveRecords
    keep_months: int | None
    passed: Failpoint

    @requires(Area.PAYOUT, Action.READ)
    async def plan(self, who: Staff) -> Sequence[Planned]:
        """
        Return what a run would do now.

        Raises:
            RuleViolation: no number of months is configured.
        """
        planned = [
            Planned(GO_ON, file.account_id, file.month, file.payouts, Money(file.centavos))
            for file in await self.records.begun()
        ]
        async for account_id, month, may_leave in self._months(who):
            payouts, centavos = await self.records.total(may_leave, month)
            if payouts:
                planned.append(Planned(WRITE, account_id, month, payouts, Money(centavos)))
        return planned

    @requires(Area.PAYOUT, Action.MANAGE)
    async def write(
        self, who: Staff, folder: ArchiveFolder, say: Callable[[ArchiveFile, int], None]
    ) -> Sequence[ArchiveFile]:
        """
        Archive everything that may leave; return the files. Safe to repeat.

        ``folder`` is the same at each run. ``say`` is called after each file, with the number of
        its payouts that stay.

        Raises:
            RuleViolation: no number of months is configured, another process archives, or a file
                is damaged or missing. What is not in an intact file was not deleted.
            StoreUnavailable: the store does not answer; repeat.
        """
        done = []
        with folder.locked():
            for file in await self.records.begun():
                say(file, await self._empty(who, folder, file))
                done.append(file)
            async for account_id, month, may_leave in self._months(who):
                new = await self._written(who, folder, account_id, month, may_leave)
                if new is not None:
                    say(new, await self._empty(who, folder, new))
                    done.append(new)
        return done

    async def _months(self, who: Staff) -> AsyncIterator[tuple[str, date, Conditions]]:
        """Return each account's months that have payouts that may leave, oldest first."""
        kept_from = self._kept_from(who)
        before = begin_of(kept_from)
        stops = await stops_in_force(self.database, who.acting.now())
        stopped = [each.subject for each in stops if each.scope is StopScope.CREDENTIAL]
        for account in await self.records.accounts():
            concerned = (account.company_id, account.id, account.provider)
            if any(each.concerns(*concerned) for each in stops):
                continue
            may_leave = await self.records.may_leave(account.id, before, stopped)
            oldest = await self.records.oldest(may_leave, before)
            month = kept_from if oldest is None else month_of(oldest)
            while month < kept_from:
                yield account.id, month, may_leave
                month = next_month(month)

    def _kept_from(self, who: Staff) -> date:
        if self.keep_months is None:
            message = "payouts.keep_months is not set: payouts stay for ever"
            raise RuleViolation(message)
        return first_kept(who.acting.now(), self.keep_months)

    async def _written(
        self, who: Staff, folder: ArchiveFolder, account_id: str, month: date, may_leave: Conditions
    ) -> ArchiveFile | None:
        """Write and prove the next file of a month; None where no payout may leave."""
        known = await self.records.of_month(account_id, month)
        file = ArchiveFile(
            account_id=account_id,
            month=month,
            number=1 + max((each.number for each in known), default=0),
            sha256="",
            payouts=0,
            centavos=0,
            proven_at=who.acting.now(),
        )
        payouts = centavos = 0
        with folder.draft(file) as draft:
            async for page in self.records.pages(may_leave, month):
                draft.writelines(written for written, _ in page)
                payouts += len(page)
                centavos += sum(each for _, each in page)
        if not payouts:
            folder.drop(file)
            return None
        self.passed("after_draft")
        read_back = 0
        for batch in _batches(folder.draft_lines(file)):
            if not await self.records.are_stored(account_id, batch):
                message = f"the draft of {file.name} is not what the database has: repeat"
                raise RuleViolation(message)
            read_back += len(batch)
        if read_back != payouts:
            message = f"the draft of {file.name} has {read_back} payouts of {payouts}: repeat"
            raise RuleViolation(message)
        proven = ArchiveFile(
            account_id=account_id,
            month=month,
            number=file.number,
            sha256=folder.draft_sha256(file),
            payouts=payouts,
            centavos=centavos,
            proven_at=file.proven_at,
        )
        details = {
            "file": proven.name,
            "count": str(payouts),
            "value": str(Money(centavos)),
            "sha256": proven.sha256,
        }
        event = who.acting.event("payouts.archived", f"account:{account_id}", details)
        await self.records.note(proven, event)
        self.passed("after_noted")
        return proven

    async def _empty(self, who: Staff, folder: ArchiveFolder, file: ArchiveFile) -> int:
        """Delete the payouts of a noted file; return how many stay."""
        folder.publish(file)
        self.passed("after_named")
        before, stay = begin_of(self._kept_from(who)), 0
        for batch in _batches(folder.lines(file.name)):
            stay += (await self.records.leave(file.account_id, batch, before)).stay
            self.passed("after_batch")
        await self.records.end(file, who.acting.now())
        self.passed("after_emptied")
        return stay


def _batches(found: Iterable[bytes]) -> Iterator[Sequence[bytes]]:
    left = iter(found)
    while batch := list(islice(left, _AT_ONCE)):
        yield batch
