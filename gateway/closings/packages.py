"""Packages of locked days for accountants: a day or a month, of all accounts or of one."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final

from sqlalchemy import ColumnElement, Table, exists, func, or_, select

from gateway.accounts.store import read_account
from gateway.audit import store as audit_log
from gateway.banks.port.charges import Party
from gateway.banks.port.statements import Balance, Entry
from gateway.closings.archive import Contents, PackedAccount, last_lock, packed
from gateway.closings.model import Closing, movements_digest
from gateway.core.access import Staff, requires
from gateway.core.account import Account
from gateway.core.audit_context import RuleViolation
from gateway.core.exports import ExportKind, Exports
from gateway.core.money import Sum
from gateway.core.permissions import Action
from gateway.core.rights import Area
from gateway.core.windows import LocalWindow
from gateway.reports.document import Document
from gateway.reports.formats import offered
from gateway.statements.model import local_day, without_number
from gateway.statements.reports import MOST
from gateway.statements.service import Statements
from gateway.store.kernel.database import Database
from gateway.store.kernel.structs import from_row
from gateway.store.tables.core import accounts, day_closings, day_readings
from gateway.store.tables.scope import of_company

EXPORTED: Final = "closing.exported"
ZIP: Final = "application/zip"
_MOST_ACCOUNTS: Final = 50
"""Each is read from its bank while the caller waits."""
_FIRST_SIGNED: Final = (
    select(func.min(day_closings.c.day))
    .where(day_closings.c.account_id == accounts.c.id)
    .scalar_subquery()
    .label("first_signed")
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PackageRequest:
    """
    The days of a package, and the account; None for all accounts.

    Attributes:
        name: The period as it was asked for: ``2026-11-29`` or ``2026-11``.
    """

    name: str
    first: date
    last: date
    account_id: str | None = None


class OpenDay(RuleViolation):
    """No account has all days of a period locked; ``day`` is the first that is open."""

    def __init__(self, day: date) -> None:
        message = f"no account has all days of this period locked: the first open day is {day}"
        super().__init__(message, "days_open")
        self.day = day


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosingPackage:
    """A file in ZIP."""

    file_name: str
    content: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosingPackages:
    """Makes packages of locked days; nothing is stored but the audit event."""

    database: Database
    statements: Statements
    exports: Exports

    @requires(Area.REPORT, Action.READ, also=Area.TRANSACTION)
    async def make(self, who: Staff, wanted: PackageRequest) -> ClosingPackage:
        """
        Make a package of the accounts whose days of a period are all locked.

        The movements are read from the banks, and must be those that were signed. The same days
        give the same bytes while the banks write their texts alike.

        Raises:
            OpenDay: no account has all its days locked, from its first one on.
            RuleViolation: the period is not over; a bank shows other movements than were signed;
                there are too many accounts or movements.
            ServiceError: ``SVC.GTW.005`` (429) as ``Exports.begin`` and ``Export.take``.
            NotSupported, ProviderError: a bank gave no usable answer.
        """
        if wanted.last >= local_day(who.acting.now()):
            message = "a package is of days that are over"
            raise RuleViolation(message, "closing_day", field="period")
        export = await self.exports.begin(who, ExportKind.STATEMENT)
        complete, open_days = await self._locked(who, wanted)
        found: list[PackedAccount] = []
        movements = 0
        for account, closings in complete:
            entries = await self._entries(who, account, closings)
            movements += len(entries)
            if movements > MOST:
                message = f"more than {MOST} movements: ask for fewer days, or one account"
                raise RuleViolation(message, "too_many_movements")
            await export.take(len(entries))
            files = await self._files(account, closings, entries)
            found.append(PackedAccount(account=account, closings=closings, files=files))
        environment = self.statements.reports.environment
        content = packed(
            Contents(
                environment=environment,
                first=wanted.first,
                last=wanted.last,
                accounts=found,
                open_days=open_days,
            )
        )
        digest = hashlib.sha256(content).hexdigest()
        details = {"period": wanted.name, "sha256": digest}
        events = [
            who.acting.event(EXPORTED, f"account:{account.id}", details) for account, _ in complete
        ]
        async with self.database.writing() as connection:
            await audit_log.append(connection, *events)
        return ClosingPackage(file_name=f"closing_{wanted.name}.zip", content=content)

    async def _locked(
        self, who: Staff, wanted: PackageRequest
    ) -> tuple[Sequence[tuple[Account, Sequence[Closing]]], Mapping[str, Sequence[date]]]:
        """Return the accounts whose days are all locked, and the open days of the others."""
        own = () if wanted.account_id is None else (accounts.c.id == wanted.account_id,)
        known = (_is_in(table, wanted) for table in (day_closings, day_readings))
        listed = (
            select(accounts, _FIRST_SIGNED)
            .where(*of_company(accounts.c.company_id, who.scope), *own, or_(*known))
            .order_by(accounts.c.id)
        )
        kept = day_closings.c
        signed = select(day_closings).where(
            kept.day >= wanted.first, kept.day <= wanted.last, kept.locked_at.is_not(None)
        )
        async with self.database.reading() as connection:
            rows = (await connection.execute(listed)).all()
            theirs: dict[str, dict[date, Closing]] = {row.id: {} for row in rows}
            for row in await connection.execute(signed.order_by(kept.account_id, kept.day)):
                if row.account_id in theirs:
                    theirs[row.account_id][row.day] = from_row(row, Closing)
        complete: list[tuple[Account, Sequence[Closing]]] = []
        open_days: dict[str, Sequence[date]] = {}
        for row in rows:
            account, closings = read_account(row), theirs[row.id]
            days = _days(account, row.first_signed, wanted)
            missing = [day for day in days if day not in closings]
            if missing:
                open_days[account.id] = missing
            elif closings:
                complete.append((account, [closings[day] for day in sorted(closings)]))
        if not complete:
            raise OpenDay(min((each[0] for each in open_days.values()), default=wanted.first))
        if len(complete) > _MOST_ACCOUNTS:
            message = f"more than {_MOST_ACCOUNTS} accounts: choose one"
            raise RuleViolation(message, "too_many_accounts", field="account_id")
        return complete, open_days

    async def _entries(
        self, who: Staff, account: Account, closings: Sequence[Closing]
    ) -> Sequence[Entry]:
        """Read the movements of locked days, oldest first; refuse others than were signed."""
        days = LocalWindow(closings[0].day, closings[-1].day)
        found = await self.statements.movements(who, account, days)
        by_day: dict[date, list[Entry]] = {each.day: [] for each in closings}
        for entry in found:
            by_day[local_day(entry.created_at)].append(entry)
        for each in closings:
            if movements_digest(by_day[each.day]) != each.movements:
                message = f"{account.name}, {each.day}: the bank shows other movements than signed"
                raise RuleViolation(message, "movements_changed")
        return sorted(map(without_number, found), key=_place)

    async def _files(
        self, account: Account, closings: Sequence[Closing], entries: Sequence[Entry]
    ) -> Mapping[str, bytes]:
        window = LocalWindow(closings[0].day, closings[-1].day)
        closing = Sum(closings[-1].closing)
        document = Document(
            account_id=account.id,
            holder=Party(name=account.name, tax_number=account.tax_number),
            coordinates=account.coordinates,
            environment=self.statements.reports.environment,
            window=window,
            entries=tuple(entries),
            balance=Balance(balance=closing, blocked=None, updated_at=None),
            opening=Sum(closings[0].opening),
            closing=closing,
            generated_at=window.end,
            locked_at=last_lock(closings),
        )
        return dict([await self.statements.reports.write(form, document) for form in offered()])


def _is_in(table: Table, wanted: PackageRequest) -> ColumnElement[bool]:
    """Return the SQL condition: a table has a day of an account in a period."""
    days = table.c.day >= wanted.first, table.c.day <= wanted.last
    return exists().where(table.c.account_id == accounts.c.id, *days)


def _days(account: Account, first_signed: date | None, wanted: PackageRequest) -> Sequence[date]:
    """Return the days of a period from the account's first one on; one before it may be signed."""
    begins = local_day(account.created_at)
    first = max(wanted.first, begins if first_signed is None else min(begins, first_signed))
    return [first + timedelta(days=number) for number in range((wanted.last - first).days + 1)]


def _place(entry: Entry) -> tuple[datetime, str, str, str, int]:
    """Return the place of a movement: the same in each answer of the bank."""
    direction, centavos = entry.direction.value, entry.value.centavos
    return entry.created_at, entry.e2e_id, entry.provider_id, direction, centavos
