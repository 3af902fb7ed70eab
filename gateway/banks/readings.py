"""
Cached balances: refreshed while a user looks, at most once a minute each.

Users get the cached balance at once; a balance older than a minute is refreshed meanwhile. A
balance that a page reads live is cached too.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from msgspec import UNSET
from sqlalchemy import Row, Select, or_, select

from gateway.banks.connections import bank_of, offered
from gateway.banks.model import READ_AT_MOST, Reading
from gateway.banks.port.capabilities import PortCall
from gateway.banks.port.providers import Banks, ProviderError
from gateway.banks.port.statements import Balance
from gateway.core.access import Staff, requires
from gateway.core.account import Account
from gateway.core.clocks import Now
from gateway.core.company_scope import CompanyScope
from gateway.core.errors import ServiceError
from gateway.core.money import Sum
from gateway.core.permissions import Action
from gateway.core.rights import Area
from gateway.core.storage import StoreUnavailable
from gateway.store.kernel.database import Database
from gateway.store.tables.core import accounts
from gateway.store.tables.figures import account_readings
from gateway.store.tables.scope import of_company

_log = logging.getLogger(__name__)

_FRESH: Final = timedelta(minutes=1)
_AT_ONCE: Final = 4
"""Calls at once: partners' calls come first in the bank's bulkhead."""
_PATIENCE_S: Final = 8.0
_RECENT: Final = timedelta(seconds=5)
"""A page opened twice, or just after a read, costs the bank one call."""
_DEADLINE_S: Final = 4.0
"""Somebody waits: after that, the last balance that is known helps more than the next one."""
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
    Reads balances for users who look at many accounts.

    Attributes:
        find_account: Finds an account by its id, in any state.
        wanted: Ids of accounts to refresh; a set of this process.
        wake: Set when an account was added.
        deadline_s: Seconds a page waits for a bank before it shows the cached balance.
    """

    database: Database
    find_account: Callable[[str], Awaitable[Account | None]]
    banks: Banks
    now: Now
    wanted: set[str] = field(default_factory=set)
    wake: asyncio.Event = field(default_factory=asyncio.Event)
    deadline_s: float = _DEADLINE_S

    @requires(Area.BALANCE, Action.READ)
    async def look(self, who: Staff) -> list[Reading]:
        """Read the last known balances of up to 50 accounts."""
        return await self._found(who.scope, _VISIBLE.limit(READ_AT_MOST))

    @requires(Area.BALANCE, Action.READ)
    async def last(self, who: Staff, account: Account) -> Reading | None:
        """Read the last known balance of one account; None if it was never read."""
        found = await self.of(who.scope, account.id)
        return found if found and found.read_at else None

    async def of(self, scope: CompanyScope, account_id: str) -> Reading | None:
        """Return the cached balance of one account; refresh it in the background if it is old."""
        found = await self._found(scope, _VISIBLE.where(accounts.c.id == account_id))
        return found[0] if found else None

    async def now_of(self, scope: CompanyScope, account_id: str) -> Reading | None:
        """
        Query the bank for one account, unless the balance is some seconds old at most.

        Returns the cached balance if the bank does not answer in time; None for an account that is
        not queried, or is outside of the scope.
        """
        wanted = _VISIBLE.where(accounts.c.id == account_id)
        found = await self._kept(scope, wanted)
        if not found or (found[0].read_at and self.now() - found[0].read_at < _RECENT):
            return _reading(found[0]) if found else None
        account = await self.find_account(account_id)
        if account is not None and await self._answers(account, self.deadline_s):
            found = await self._kept(scope, wanted)
        return _reading(found[0]) if found else None

    async def live(self, account: Account) -> Balance:
        """Read the balance of an account from its bank, and cache it; raises as the bank does."""
        bank = bank_of(self.banks, account)
        held = await offered(bank, PortCall.GET_BALANCE).get_balance(bank.account)
        try:
            await self.keep(account.id, held, self.now())
        except StoreUnavailable:  # the balance is valid all the same
            _log.info("balance_not_kept account_id=%s", account.id)
        return held

    async def _found(self, scope: CompanyScope, wanted: Select[*tuple[Any, ...]]) -> list[Reading]:
        """Return cached balances; queue those older than a minute for refresh."""
        before = self.now() - _FRESH
        rows = await self._kept(scope, wanted)
        old = {row.id for row in rows if row.asked_at is None or row.asked_at <= before}
        if old:
            self.wanted.update(old)
            self.wake.set()
        return [_reading(row) for row in rows]

    async def _kept(
        self, scope: CompanyScope, wanted: Select[*tuple[Any, ...]]
    ) -> Sequence[Row[Any]]:
        return await self.database.rows(wanted.where(*of_company(accounts.c.company_id, scope)))

    async def turn(self) -> int:
        """Query every queued account; return how many answered."""
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
        """Query one account, unless another process did; without an answer the cache stays."""
        account = await self.find_account(account_id)
        if account is None or not await self.claim(account_id):
            return False
        return await self._answers(account, _PATIENCE_S)

    async def _answers(self, account: Account, within_s: float) -> bool:
        """Query one account, and cache the answer; False without an answer in time."""
        try:
            async with asyncio.timeout(within_s):
                await self.live(account)
        except (ServiceError, ProviderError, TimeoutError) as problem:
            _log.info("balance_not_read account_id=%s: %s", account.id, type(problem).__name__)
            return False
        return True

    async def claim(self, account_id: str) -> bool:
        """Claim the query; False if any process has claimed it within the last minute."""
        now = self.now()
        free = or_(_KEPT.asked_at.is_(None), _KEPT.asked_at <= now - _FRESH)
        claimed = {"asked_at": now}
        first = {"account_id": account_id, **claimed}
        async with self.database.writing() as connection:
            return await self.database.put(connection, account_readings, first, claimed, free)

    async def keep(self, account_id: str, held: Balance, at: datetime) -> None:
        """Cache the balance of an account at an instant, unless a later one is stored."""
        blocked = None if held.blocked is None else held.blocked.centavos
        values = {"balance": held.balance.centavos, "blocked": blocked, "read_at": at}
        older = or_(_KEPT.read_at.is_(None), _KEPT.read_at <= at)
        first = {"account_id": account_id, "asked_at": at, **values}
        async with self.database.writing() as connection:
            await self.database.put(connection, account_readings, first, values, older)


def _reading(row: Row[Any]) -> Reading:
    return Reading(
        account_id=row.id,
        account_name=row.name,
        provider=row.provider,
        balance=UNSET if row.balance is None else Sum(row.balance),
        blocked=UNSET if row.blocked is None else Sum(row.blocked),
        read_at=row.read_at,
    )
