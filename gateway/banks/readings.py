"""
Balances as they were last read: asked for while somebody looks, at most once a minute each.

Whoever looks is told what is kept at once; what is older than a minute is asked anew meanwhile.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from msgspec import UNSET
from sqlalchemy import Select, or_, select, update

from gateway.banks.model import READ_AT_MOST, Reading
from gateway.core.access import Staff, requires
from gateway.domain.accounts.accounts import Account
from gateway.domain.accounts.credentials import Action
from gateway.domain.bank.capabilities import PortCall
from gateway.domain.bank.providers import Banks, ProviderError
from gateway.domain.bank.statements import Balance
from gateway.domain.identity.rights import Area
from gateway.domain.kernel.clocks import Now
from gateway.domain.kernel.company_scope import CompanyScope
from gateway.domain.kernel.errors import ServiceError
from gateway.domain.kernel.money import Sum
from gateway.operations.bank.connections import bank_of, offered
from gateway.store.accounts.accounts import StoredAccounts
from gateway.store.kernel.database import Database
from gateway.store.tables.core import accounts
from gateway.store.tables.figures import account_readings
from gateway.store.tables.scope import of_company

_log = logging.getLogger(__name__)

_FRESH: Final = timedelta(minutes=1)
_AT_ONCE: Final = 4
"""Calls at once: partners' calls come first in the bank's bulkhead."""
_PATIENCE_S: Final = 8.0
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Readings:
    """
    Reads balances for people who look at many accounts.

    Attributes:
        wanted: Ids of accounts to be asked about; a set of this process.
        wake: Set when one was added.
    """

    database: Database
    accounts: StoredAccounts
    banks: Banks
    now: Now
    wanted: set[str] = field(default_factory=set)
    wake: asyncio.Event = field(default_factory=asyncio.Event)

    @requires(Area.BALANCE, Action.READ)
    async def look(self, who: Staff) -> list[Reading]:
        """Read what up to 50 accounts held when their banks answered last."""
        return await self._found(who.scope, _VISIBLE.limit(READ_AT_MOST))

    @requires(Area.BALANCE, Action.READ)
    async def last(self, who: Staff, account: Account) -> Reading | None:
        """Read what one account held when its bank answered last; None for one never read."""
        found = await self.of(who.scope, account.id)
        return found if found and found.read_at else None

    async def of(self, scope: CompanyScope, account_id: str) -> Reading | None:
        """Return what is kept of one account; ask if it is not fresh meanwhile."""
        found = await self._found(scope, _VISIBLE.where(accounts.c.id == account_id))
        return found[0] if found else None

    async def _found(self, scope: CompanyScope, wanted: Select[*tuple[Any, ...]]) -> list[Reading]:
        """Return what is kept; have those asked that nobody has asked within the last minute."""
        before = self.now() - _FRESH
        wanted = wanted.where(*of_company(accounts.c.company_id, scope))
        rows = await self.database.rows(wanted)
        old = {row.id for row in rows if row.asked_at is None or row.asked_at <= before}
        if old:
            self.wanted.update(old)
            self.wake.set()
        return [
            Reading(
                account_id=row.id,
                account_name=row.name,
                provider=row.provider,
                balance=UNSET if row.balance is None else Sum(row.balance),
                blocked=UNSET if row.blocked is None else Sum(row.blocked),
                read_at=row.read_at,
            )
            for row in rows
        ]

    async def turn(self) -> int:
        """Ask about every account that is wanted; return how many answered."""
        places = asyncio.Semaphore(_AT_ONCE)
        asked = sorted(self.wanted)
        self.wanted.clear()

        async def one(account_id: str) -> bool:
            async with places:
                return await self._asked(account_id)

        async with asyncio.TaskGroup() as asking:
            tasks = [asking.create_task(one(each)) for each in asked]
        return sum(each.result() for each in tasks)

    async def _asked(self, account_id: str) -> bool:
        """Ask about one, unless somebody did; a bank that does not answer leaves what is kept."""
        account = await self.accounts.find(account_id)
        if account is None or not await self.claim(account_id):
            return False
        try:
            async with asyncio.timeout(_PATIENCE_S):
                await self._read(account)
        except (ServiceError, ProviderError, TimeoutError) as problem:
            _log.info("balance_not_read account_id=%s: %s", account_id, type(problem).__name__)
            return False
        return True

    async def _read(self, account: Account) -> None:
        bank = bank_of(self.banks, account)
        balance = await offered(bank, PortCall.GET_BALANCE).get_balance(bank.account)
        await self.keep(account.id, balance, self.now())

    async def claim(self, account_id: str) -> bool:
        """Set out to ask; False where somebody has within the last minute, in any process."""
        now = self.now()
        free = or_(_KEPT.asked_at.is_(None), _KEPT.asked_at <= now - _FRESH)
        again = update(account_readings).where(_KEPT.account_id == account_id, free)
        first = {"account_id": account_id, "asked_at": now}
        async with self.database.writing() as connection:
            if await self.database.add(connection, account_readings, first):
                return True
            return (await connection.execute(again.values(asked_at=now))).rowcount == 1

    async def keep(self, account_id: str, held: Balance, at: datetime) -> None:
        """Keep what an account held at an instant, unless a later answer is there."""
        blocked = None if held.blocked is None else held.blocked.centavos
        older = or_(_KEPT.read_at.is_(None), _KEPT.read_at <= at)
        kept = update(account_readings).where(_KEPT.account_id == account_id, older)
        await self.database.write(
            kept.values(balance=held.balance.centavos, blocked=blocked, read_at=at)
        )
