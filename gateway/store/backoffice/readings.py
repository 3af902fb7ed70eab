"""The latest reading of each account's balance."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import or_, select, update

from gateway.domain.backoffice.readings import AccountReading
from gateway.domain.bank.statements import Balance
from gateway.domain.kernel.company_scope import CompanyScope
from gateway.domain.kernel.money import Money
from gateway.store.kernel.database import Database
from gateway.store.tables.columns import Record
from gateway.store.tables.core import accounts
from gateway.store.tables.figures import account_readings
from gateway.store.tables.scope import of_company

_KEPT: Final = account_readings.c
_VISIBLE: Final = (
    select(
        accounts.c.id,
        accounts.c.name,
        accounts.c.provider,
        *(_KEPT[name] for name in ("balance", "blocked", "read_at", "asked_at")),
    )
    .outerjoin(account_readings, _KEPT.account_id == accounts.c.id)
    .where(accounts.c.active, accounts.c.verified, accounts.c.provider != "")
    .order_by(accounts.c.created_at, accounts.c.id)
)


class StoredAccountReadings:
    """``AccountReadings`` over a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def visible(self, scope: CompanyScope, most: int) -> Sequence[AccountReading]:
        """Return the accounts in scope that can be asked, oldest first."""
        wanted = _VISIBLE.where(*of_company(accounts.c.company_id, scope)).limit(most)
        async with self._database.reading() as connection:
            return [_reading(row) for row in await connection.execute(wanted)]

    async def of(self, account_id: str, scope: CompanyScope) -> AccountReading | None:
        """Return that of one account in scope that can be asked."""
        wanted = _VISIBLE.where(
            accounts.c.id == account_id, *of_company(accounts.c.company_id, scope)
        )
        async with self._database.reading() as connection:
            row = (await connection.execute(wanted)).one_or_none()
        return None if row is None else _reading(row)

    async def claim(self, account_id: str, now: datetime, before: datetime) -> bool:
        """Set out to ask; of several processes one does."""
        free = or_(_KEPT.asked_at.is_(None), _KEPT.asked_at <= before)
        again = update(account_readings).where(_KEPT.account_id == account_id, free)
        first = {"account_id": account_id, "asked_at": now}
        async with self._database.writing() as connection:
            if await self._database.add(connection, account_readings, first):
                return True
            return (await connection.execute(again.values(asked_at=now))).rowcount == 1

    async def keep(self, account_id: str, held: Balance, at: datetime) -> None:
        """Keep what an account held at an instant, unless a later answer is there."""
        blocked = None if held.blocked is None else held.blocked.centavos
        older = or_(_KEPT.read_at.is_(None), _KEPT.read_at <= at)
        kept = update(account_readings).where(_KEPT.account_id == account_id, older)
        async with self._database.writing() as connection:
            await connection.execute(
                kept.values(balance=held.balance.centavos, blocked=blocked, read_at=at)
            )


def _reading(row: Record) -> AccountReading:
    return AccountReading(
        account_id=row.id,
        account_name=row.name,
        provider=row.provider,
        balance=None if row.balance is None else Money(row.balance),
        blocked=None if row.blocked is None else Money(row.blocked),
        read_at=row.read_at,
        asked_at=row.asked_at,
    )
