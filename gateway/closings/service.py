"""Compare a day of an account with our book; one person signs it, a second locks it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from msgspec.structs import asdict
from sqlalchemy import or_, select

from gateway.audit import store as audit_log
from gateway.banks.port.statements import Entry
from gateway.charges.model import ChargeRecord
from gateway.closings.model import Closing, Day, Figures, compared, figures, movements_digest
from gateway.closings.readings import DayReadings
from gateway.closings.signatures import events_of, locked, locked_event, locking, people, sign
from gateway.core.access import Staff, requires
from gateway.core.account import Account
from gateway.core.audit_context import RuleViolation
from gateway.core.exports import Exports
from gateway.core.permissions import Action
from gateway.core.rights import Area
from gateway.core.storage import StoreUnavailable
from gateway.core.windows import LONGEST_DAYS, LocalWindow, local_end, local_start
from gateway.payouts.documents import Orderer
from gateway.payouts.model import Payout, PayoutState
from gateway.payouts.rows import restored_payout
from gateway.statements.model import local_day
from gateway.statements.service import Statements
from gateway.store.kernel.database import Database
from gateway.store.kernel.structs import from_row
from gateway.store.tables.core import charges, day_closings, foreign_debits, payouts

_READINGS: Final = 3
"""An account whose balance moves during each of them has no quiet moment now."""
_LISTED: Final = 31


_Book = tuple[Sequence[Payout], Sequence[ChargeRecord]]
"""Payouts that settled on a day, and charges that were paid on it."""


@dataclass(frozen=True, slots=True)
class _Bank:
    """Movements, newest first; ``balance`` in centavos, None where it kept changing."""

    entries: Sequence[Entry]
    balance: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Closings:
    """
    The closings of accounts.

    Days that have not ended, and those whose movements reach back further than a bank is asked
    for (90 days), are refused.

    Attributes:
        readings: Keep what was read.
        one_signature: The first signature locks a day without a difference.
    """

    database: Database
    statements: Statements
    exports: Exports
    readings: DayReadings
    one_signature: bool = False

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
        """Read a day, and keep what was found; it is shown too where it cannot be kept."""
        (found,) = await self.days(who, account, [day])
        with suppress(StoreUnavailable):
            await self.readings.note(account.id, found, who.acting.now())
        return found

    @requires(Area.TRANSACTION, Action.READ)
    async def days(self, who: Staff, account: Account, days: Sequence[date]) -> Sequence[Day]:
        """
        Read days of an account from bank and book by one walk of its movements; keep nothing.

        Raises:
            RuleViolation: a day has not ended, or is too long ago.
            ServiceError, NotSupported, ProviderError: as ``read``.
        """
        today = local_day(who.acting.now())
        oldest = today - timedelta(days=LONGEST_DAYS - 1)
        if not all(oldest < day < today for day in days):
            message = "a day is closed when it is over, and within 90 days"
            raise RuleViolation(message, "closing_day", field="day")
        books = {day: await self._book(account.id, day) for day in days}
        settled = [
            local_day(each.created_at) for paid_out, _ in books.values() for each in paid_out
        ]
        first = max(oldest, min([min(days) - timedelta(days=1), *settled]))
        bank = await self._bank(who, account, LocalWindow(first, today))
        return [await self._compared(who, account, day, books[day], bank) for day in days]

    async def _compared(
        self, who: Staff, account: Account, day: date, book: _Book, bank: _Bank
    ) -> Day:
        (settled, paid), begins, ends = book, local_start(day), local_end(day)
        since = [each for each in bank.entries if each.created_at >= begins]
        of_day = [each for each in since if each.created_at < ends]
        shown = {name for each in bank.entries for name in (each.e2e_id, each.provider_key) if name}
        known = bank.balance
        shown_figures = None if known is None else figures(day, since, known, settled)
        tied = await self.statements.tied(who, account, of_day)
        return Day(
            day=day,
            figures=shown_figures,
            lines=compared(day, tied, shown, settled, paid),
            movements=movements_digest(of_day),
            explained=await self._explained(account.id, day),
        )

    @requires(Area.TRANSACTION, Action.READ)
    async def signed(self, _who: Staff, account: Account, day: date) -> Sequence[Closing]:
        """Return an account's last 31 signed days and, if signed, the day; newest first."""
        of_account, kept = day_closings.c.account_id == account.id, day_closings.c.day
        last = select(kept).where(of_account).order_by(kept.desc()).limit(_LISTED)
        wanted = select(day_closings).where(of_account, or_(kept == day, kept.in_(last)))
        rows = await self.database.rows(wanted.order_by(kept.desc()))
        return [from_row(row, Closing) for row in rows]

    @requires(Area.TRANSACTION, Action.READ)
    async def people(self, _who: Staff, actors: Collection[str]) -> Sequence[Orderer]:
        """Return the names of the users among those who signed or explained what was read here."""
        return await people(self.database, actors)

    @requires(Area.REVIEW, Action.WRITE)
    async def sign(self, who: Staff, account: Account, day: date, digest: str) -> Closing:
        """
        Sign a day as shown; a day that changed before it was locked is signed anew.

        It is locked at once where one signature is enough and nothing differs, explained or not.

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
            movements=seen.movements,
            signed_by=who.acting.actor,
            signed_at=who.acting.now(),
            **asdict(current),
        )
        if self.one_signature:
            reading = await self.readings.of(account.id, day)
            if reading is not None and reading.digest == made.digest and not reading.has_difference:
                made = locked(made)
        async with self.database.writing() as connection:
            if not await sign(self.database, connection, made):
                message = f"the day {day} is signed already"
                raise RuleViolation(message, "closing_signed", field="day")
            await audit_log.append(connection, *events_of(who, made))
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
        event = locked_event(who, account.id, day)
        if not await audit_log.change(
            self.database, locking(who, account.id, day, seen.digest), event
        ):
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

    async def _bank(self, who: Staff, account: Account, days: LocalWindow) -> _Bank:
        """Read movements between two equal balances."""
        entries: Sequence[Entry] = ()
        before = await self.statements.balance_beside(who, account)
        for _ in range(_READINGS):
            entries = await self.statements.movements(who, account, days)
            after = await self.statements.balance_beside(who, account)
            if after.balance == before.balance:
                return _Bank(entries, after.balance.centavos)
            before = after
        return _Bank(entries, None)

    async def _book(self, account_id: str, day: date) -> _Book:
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
