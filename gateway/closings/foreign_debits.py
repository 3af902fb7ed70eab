"""Debits at the bank without an order of ours: found in the background, explained by users."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final

from sqlalchemy import Update, delete, func, or_, select, update

from gateway.accounts.store import StoredAccounts
from gateway.audit import store as audit_log
from gateway.banks.port.capabilities import Capabilities, EntryField
from gateway.banks.port.statements import Direction
from gateway.closings.model import ForeignDebit, line_ids
from gateway.core.access import Staff, requires
from gateway.core.account import Account
from gateway.core.audit_context import AuditContext, RuleViolation, reason
from gateway.core.clocks import Now
from gateway.core.errors import ServiceError
from gateway.core.permissions import Action
from gateway.core.rights import Area
from gateway.core.storage import StoreUnavailable
from gateway.core.windows import LONGEST_DAYS, LocalWindow
from gateway.payouts.matching import NamedPayouts
from gateway.statements.model import LinkedEntry, local_day
from gateway.statements.service import Statements
from gateway.store.kernel.database import Database
from gateway.store.kernel.structs import from_row, row_of
from gateway.store.tables.core import accounts, debit_readings, foreign_debits

_log = logging.getLogger(__name__)

EXPLAINED: Final = "foreign_debit.explained"
_TIED_BY: Final = frozenset({EntryField.E2E_ID, EntryField.OUR_KEY})
_SETTLES: Final = timedelta(minutes=15)
"""A younger debit may be of a payout whose answer is not on record yet."""
_LATE: Final = timedelta(hours=6)
"""A bank may show a debit this much later than the instant it carries."""
_ACCOUNTS: Final = 100
"""Read from the store at once."""
_PATIENCE_S: Final = 120.0
"""For one account, so that a bank that hangs does not hold up the others."""
_LISTED: Final = 200
_KEPT: Final = foreign_debits.c
_OPEN: Final = _KEPT.settled_at.is_(None)


@dataclass(frozen=True, slots=True)
class ForeignDebits:
    """The foreign debits of accounts."""

    database: Database

    @requires(Area.TRANSACTION, Action.READ)
    async def of(self, _who: Staff, account: Account, day: date) -> Sequence[ForeignDebit]:
        """Return an account's open debits and all of a day, at most 200, oldest first."""
        wanted = (
            select(foreign_debits)
            .where(_KEPT.account_id == account.id, or_(_OPEN, _KEPT.day == day))
            .order_by(_KEPT.at, _KEPT.line_id)
            .limit(_LISTED)
        )
        return [from_row(row, ForeignDebit) for row in await self.database.rows(wanted)]

    @requires(Area.REVIEW, Action.WRITE)
    async def explain(self, who: Staff, account: Account, line_id: str, text: str) -> None:
        """
        Explain an open foreign debit of an account; the reason is kept in the audit log too.

        Raises:
            RuleViolation: no reason, or no such debit is open.
        """
        explanation = reason(text)
        details = {"line": line_id, "reason": explanation}
        event = who.acting.event(EXPLAINED, f"account:{account.id}", details)
        how = {"settled_by": who.acting.actor, "settled_at": event.at, "reason": explanation}
        settling = _settling(account.id, line_id).values(how)
        if not await audit_log.change(self.database, settling, event):
            message = "no such debit is open"
            raise RuleViolation(message, "debit_not_open", field="line_id")


@dataclass(frozen=True, slots=True, kw_only=True)
class DebitWatch:
    """
    Reads the debits of active accounts from their banks, one call at a time for each provider.

    Banks whose statements identify payouts neither by our key nor by end-to-end id are skipped:
    each payout would be a foreign debit.

    Attributes:
        providers: Names of the configured providers.
    """

    providers: Collection[str]
    accounts: StoredAccounts
    statements: Statements
    database: Database
    now: Now

    async def turn(self) -> None:
        """
        Read every active account once; no provider waits for another.

        An account that cannot be read is logged, and read from the same instant next time.

        Raises:
            ExceptionGroup: of ``StoreUnavailable``.
        """
        async with asyncio.TaskGroup() as reading:
            for name in self.providers:
                reading.create_task(self._provider(name))

    async def _provider(self, name: str) -> None:
        skip = 0
        while some := await self.accounts.some_at(name, skip, _ACCOUNTS):
            for account in some:
                if account.active:
                    await self._account(account)
            skip += len(some)

    async def _account(self, account: Account) -> None:
        now = self.now()
        until = await self._settled(account.id, now)
        bank = self.statements.reads.banks.of(account)
        if bank is not None and not names_payouts(bank.adapter.capabilities):
            await self._forget(account.id)
            return
        try:
            async with asyncio.timeout(_PATIENCE_S):
                debits = await self._debits(account, until, now)
        except ServiceError:
            return  # no bank is configured
        except StoreUnavailable:
            raise
        except Exception as problem:  # noqa: BLE001 - an adapter's mistake is its accounts' alone
            _log.warning("debits_not_read account_id=%s: %s", account.id, type(problem).__name__)
            await self._read_until(account.id, until)
            return
        async with self.database.writing() as connection:
            for each in debits:
                await self.database.add(connection, foreign_debits, row_of(each))
        await self._read_until(account.id, now - _SETTLES)

    async def _debits(
        self, account: Account, until: datetime, now: datetime
    ) -> Sequence[ForeignDebit]:
        """Return the foreign debits of the days since ``until``."""
        who, today = Staff(AuditContext("system", self.now)), local_day(now)
        first = max(local_day(until - _LATE), today - timedelta(days=LONGEST_DAYS - 1))
        moved = await self.statements.movements(who, account, LocalWindow(first, today))
        settled = now - _SETTLES
        out = [
            each
            for each in moved
            if each.direction is Direction.DEBIT and each.created_at <= settled
        ]
        tied = await self.statements.tied(who, account, out)
        named = zip(line_ids(out), tied, strict=True)
        return [_found(account, line, each, now) for line, each in named if each.is_unexplained]

    async def _settled(self, account_id: str, now: datetime) -> datetime:
        """Settle open debits whose payout is known by now; return the end of the read period."""
        unsettled = select(foreign_debits).where(_KEPT.account_id == account_id, _OPEN)
        until = select(debit_readings.c.until).where(debit_readings.c.account_id == account_id)
        async with self.database.reading() as connection:
            rows = (await connection.execute(unsettled)).all()
            known: datetime | None = (await connection.execute(until)).scalar()
        found = await self.statements.payouts.behind(
            account_id, {row.e2e_id for row in rows}, {row.provider_key for row in rows}
        )
        payouts = NamedPayouts(found)
        for row in rows:
            named = payouts.named(row.provider_key, row.e2e_id)
            if named:
                how = {"settled_by": f"payout:{named[0].reference}", "settled_at": now}
                await self.database.write(_settling(account_id, row.line_id).values(how))
        return known or now - timedelta(days=1)

    async def _forget(self, account_id: str) -> None:
        """Reset the read position: the bank does not list movements any more."""
        known = delete(debit_readings).where(debit_readings.c.account_id == account_id)
        await self.database.write(known)

    async def _read_until(self, account_id: str, until: datetime) -> None:
        kept = debit_readings.c
        later = update(debit_readings).where(kept.account_id == account_id).values(until=until)
        async with self.database.writing() as connection:
            row = {"account_id": account_id, "until": until}
            if not await self.database.add(connection, debit_readings, row):
                await connection.execute(later)


def names_payouts(capabilities: Capabilities) -> bool:
    """Return whether a bank's statement names payouts, so that debits can be told apart."""
    return bool(_TIED_BY & capabilities.entry_fields)


def _settling(account_id: str, line_id: str) -> Update:
    return update(foreign_debits).where(
        _KEPT.account_id == account_id, _KEPT.line_id == line_id, _OPEN
    )


async def open_debits(database: Database) -> Mapping[str, int]:
    """Count the open foreign debits by provider."""
    wanted = (
        select(accounts.c.provider, func.count().label("number"))
        .join(foreign_debits, _KEPT.account_id == accounts.c.id)
        .where(_OPEN)
        .group_by(accounts.c.provider)
    )
    return {row.provider: row.number for row in await database.rows(wanted)}


async def oldest_readings(database: Database) -> Mapping[str, datetime]:
    """Return until when debits of active accounts were read, the oldest by provider."""
    wanted = (
        select(accounts.c.provider, func.min(debit_readings.c.until).label("until"))
        .join(debit_readings, debit_readings.c.account_id == accounts.c.id)
        .where(accounts.c.active)
        .group_by(accounts.c.provider)
    )
    return {row.provider: row.until for row in await database.rows(wanted)}


def _found(account: Account, line_id: str, linked: LinkedEntry, now: datetime) -> ForeignDebit:
    entry = linked.entry
    return ForeignDebit(
        account_id=account.id,
        line_id=line_id,
        day=linked.day,
        at=entry.created_at,
        centavos=entry.value.centavos,
        name=entry.counterparty.name,
        description=entry.description,
        e2e_id=entry.e2e_id,
        provider_key=entry.provider_key,
        found_at=now,
    )
