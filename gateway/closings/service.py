"""Compare a day of an account with our book; one person signs it, a second locks it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from msgspec.structs import asdict
from sqlalchemy import select, update

from gateway.audit import store as audit_log
from gateway.banks.port.statements import Entry
from gateway.charges.model import ChargeRecord
from gateway.closings.model import Closing, Day, Figures, compared, figures
from gateway.core.access import Staff, requires
from gateway.core.account import Account
from gateway.core.audit_context import RuleViolation
from gateway.core.exports import Exports
from gateway.core.permissions import Action
from gateway.core.rights import Area
from gateway.core.windows import LONGEST_DAYS, LocalWindow, local_end, local_start
from gateway.payouts.model import Payout, PayoutState
from gateway.payouts.rows import restored_payout
from gateway.statements.model import local_day
from gateway.statements.service import Statements
from gateway.store.kernel.database import Database
from gateway.store.kernel.structs import from_row, row_of
from gateway.store.tables.core import charges, day_closings, foreign_debits, payouts

SIGNED: Final = "closing.signed"
LOCKED: Final = "closing.locked"
_READINGS: Final = 3
"""An account whose balance moves during each of them has no quiet moment now."""
_LISTED: Final = 31


@dataclass(frozen=True, slots=True, kw_only=True)
class Closings:
    """
    The closings of accounts.

    Days that have not ended, and those whose movements reach back further than a bank is asked
    for (90 days), are refused.
    """

    database: Database
    statements: Statements
    exports: Exports

    @requires(Area.TRANSACTION, Action.READ)
    async def read(self, who: Staff, account: Account, day: date) -> Day:
        """
        Read a day from bank and book, live.

        Raises:
            RuleViolation: the day has not ended, or is too long ago.
            ServiceError: ``SVC.ACC.005`` (422) when no provider is configured; ``SVC.GTW.005``
                (429) as ``Exports.show``.
            NotSupported: the bank reports no movements, or no balance.
            ProviderError: the bank gave no usable answer.
        """
        found = await self._read(who, account, day)
        await self.exports.show(who, len(found.lines))
        return found

    async def _read(self, who: Staff, account: Account, day: date) -> Day:
        today = local_day(who.acting.now())
        if not today - timedelta(days=LONGEST_DAYS - 1) < day < today:
            message = "a day is closed when it is over, and within 90 days"
            raise RuleViolation(message, "closing_day", field="day")
        settled, paid = await self._book(account.id, day)
        first = min([day - timedelta(days=1), *(local_day(each.created_at) for each in settled)])
        oldest = today - timedelta(days=LONGEST_DAYS - 1)
        entries, balance = await self._bank(who, account, LocalWindow(max(first, oldest), today))
        of_day = [each for each in entries if local_day(each.created_at) == day]
        shown = {name for each in entries for name in (each.e2e_id, each.provider_key) if name}
        begins = local_start(day)
        shown_figures = (
            None
            if balance is None
            else figures(
                day, [each for each in entries if each.created_at >= begins], balance, settled
            )
        )
        tied = await self.statements.tied(who, account, of_day)
        lines = compared(day, tied, shown, settled, paid)
        explained = await self._explained(account.id, day)
        return Day(day=day, figures=shown_figures, lines=lines, explained=explained)

    @requires(Area.TRANSACTION, Action.READ)
    async def latest(self, _who: Staff, account: Account) -> Sequence[Closing]:
        """Return the last 31 signed days of an account, newest first."""
        wanted = (
            select(day_closings)
            .where(day_closings.c.account_id == account.id)
            .order_by(day_closings.c.day.desc())
            .limit(_LISTED)
        )
        return [from_row(row, Closing) for row in await self.database.rows(wanted)]

    @requires(Area.REVIEW, Action.WRITE)
    async def sign(self, who: Staff, account: Account, day: date, digest: str) -> Closing:
        """
        Sign a day as shown; a day that changed before it was locked is signed anew.

        Raises:
            RuleViolation: it is not as it was shown any more, or it is signed or locked already.
            ServiceError, ProviderError: as ``read``.
        """
        seen, current = await self._as_shown(who, account, day, digest)
        made = Closing(
            account_id=account.id,
            day=day,
            differences=seen.differences,
            digest=seen.digest,
            signed_by=who.acting.actor,
            signed_at=who.acting.now(),
            **asdict(current),
        )
        event = who.acting.event(SIGNED, f"account:{account.id}", _details(made))
        async with self.database.writing() as connection:
            signed_anew = (
                update(day_closings)
                .where(
                    day_closings.c.account_id == account.id,
                    day_closings.c.day == day,
                    day_closings.c.digest != made.digest,
                    day_closings.c.locked_at.is_(None),
                )
                .values(**row_of(made))
            )
            if (
                not await self.database.add(connection, day_closings, row_of(made))
                and not (await connection.execute(signed_anew)).rowcount
            ):
                message = f"the day {day} is signed already"
                raise RuleViolation(message, "closing_signed", field="day")
            await audit_log.append(connection, event)
        return made

    @requires(Area.REVIEW, Action.WRITE)
    async def lock(self, who: Staff, account: Account, day: date, digest: str) -> None:
        """
        Lock a day that another user has signed, as signed and shown.

        Raises:
            RuleViolation: it is unsigned, or signed by the caller alone; it differs from what was
                signed; or it is locked already.
            ServiceError, ProviderError: as ``read``.
        """
        seen, _ = await self._as_shown(who, account, day, digest)
        actor, now = who.acting.actor, who.acting.now()
        open_to_them = (
            day_closings.c.account_id == account.id,
            day_closings.c.day == day,
            day_closings.c.digest == seen.digest,
            day_closings.c.signed_by != actor,
            day_closings.c.locked_at.is_(None),
        )
        locked = update(day_closings).where(*open_to_them).values(locked_by=actor, locked_at=now)
        event = who.acting.event(LOCKED, f"account:{account.id}", {"day": day.isoformat()})
        if not await audit_log.change(self.database, locked, event):
            message = "a day is locked once, as it was signed, by another person"
            raise RuleViolation(message, "closing_not_yours", field="day")

    async def _as_shown(
        self, who: Staff, account: Account, day: date, digest: str
    ) -> tuple[Day, Figures]:
        """Read a day anew, and refuse one that has changed since it was shown."""
        seen = await self._read(who, account, day)
        if seen.figures is None or seen.digest != digest:
            message = "the day is not as it was shown: read it again"
            raise RuleViolation(message, "closing_changed", field="day")
        return seen, seen.figures

    async def _explained(self, account_id: str, day: date) -> Collection[str]:
        wanted = select(foreign_debits.c.line_id).where(
            foreign_debits.c.account_id == account_id,
            foreign_debits.c.day == day,
            foreign_debits.c.settled_at.is_not(None),
        )
        return {row.line_id for row in await self.database.rows(wanted)}

    async def _bank(
        self, who: Staff, account: Account, days: LocalWindow
    ) -> tuple[Sequence[Entry], int | None]:
        """Read movements between two equal balances; None if the balance keeps changing."""
        entries: Sequence[Entry] = ()
        before = await self.statements.balance_beside(who, account)
        for _ in range(_READINGS):
            entries = await self.statements.movements(who, account, days)
            after = await self.statements.balance_beside(who, account)
            if after.balance == before.balance:
                return entries, after.balance.centavos
            before = after
        return entries, None

    async def _book(
        self, account_id: str, day: date
    ) -> tuple[Sequence[Payout], Sequence[ChargeRecord]]:
        begins, ends = local_start(day), local_end(day)
        settled = select(payouts).where(
            payouts.c.account_id == account_id,
            payouts.c.state == PayoutState.PAID,
            payouts.c.settled_at >= begins,
            payouts.c.settled_at < ends,
            payouts.c.created_at < ends,
            payouts.c.created_at >= ends - timedelta(days=LONGEST_DAYS),  # by an index
        )
        paid = select(charges).where(
            charges.c.account_id == account_id,
            charges.c.paid_at >= begins,
            charges.c.paid_at < ends,
        )
        async with self.database.reading() as connection:
            made = [restored_payout(row) for row in await connection.execute(settled)]
            return made, [from_row(row, ChargeRecord) for row in await connection.execute(paid)]


def _details(made: Closing) -> dict[str, str]:
    return {"day": made.day.isoformat(), "differences": str(made.differences)}
