"""
Compares every account's day with its bank, unasked; in one process.

A bank's accounts are read a few at a time, each call in its turn, so that partners keep most of the
bank. A bank that fails is asked again minutes later, and days that were missed are read oldest
first.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Final

from gateway.banks.connections import bank_of
from gateway.banks.port.providers import Banks, NotSupported, Reason
from gateway.closings.foreign_debits import names_payouts
from gateway.closings.readings import DayReadings, Problem
from gateway.closings.service import Closings
from gateway.core.access import Staff
from gateway.core.account import Account
from gateway.core.audit_context import AuditContext
from gateway.core.clocks import Now
from gateway.core.storage import StoreUnavailable
from gateway.telemetry.ports import Count, DayOutcome, Event

_log = logging.getLogger(__name__)

_TURN_S: Final = 600.0
"""Of a turn; days that it does not reach stay due."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconciliation:
    """
    Reads the days that are due.

    Attributes:
        providers: Names of the configured providers.
        banks: Those that ``closings`` reads, each call in its turn.
        at_once: Returns how many accounts of a provider are read at once.
    """

    providers: Collection[str]
    banks: Banks
    closings: Closings
    readings: DayReadings
    at_once: Callable[[str], int]
    count: Count
    now: Now
    turn_s: float = _TURN_S
    _places: dict[str, asyncio.Semaphore] = field(default_factory=dict)

    async def turn(self) -> None:
        """
        Read each account with days that are due, as far as the turn's time goes.

        Raises:
            ExceptionGroup: of ``StoreUnavailable``.
        """
        ends_at = asyncio.get_running_loop().time() + self.turn_s
        async with asyncio.TaskGroup() as reading:
            for name in self.providers:
                for account, days in await self.readings.due(self.now(), name):
                    reading.create_task(self._account(account, days, ends_at))

    async def _account(self, account: Account, days: Sequence[date], ends_at: float) -> None:
        """Read an account's days; whatever its bank does is its own affair."""
        async with self._place(account.provider):
            if asyncio.get_running_loop().time() >= ends_at:
                return
            try:
                async with asyncio.timeout_at(ends_at):
                    outcomes = await self._read(account, days)
            except NotSupported:
                outcomes = await self._failed(account, days, Problem.NOT_OFFERED)
            except StoreUnavailable:
                raise
            except Exception as problem:  # noqa: BLE001 - an adapter's mistake is its accounts' alone
                _log.warning("days_not_read account_id=%s: %s", account.id, type(problem).__name__)
                outcomes = await self._failed(account, days, Problem.BANK)
        for outcome in outcomes:
            self.count(Event.DAY_READING, f"{account.provider}.{outcome}")

    async def _read(self, account: Account, days: Sequence[date]) -> Sequence[DayOutcome]:
        """
        Read days of an account, and keep what was found.

        Raises:
            NotSupported: its bank does not show what is needed.
            ServiceError: its bank is not configured here.
            ProviderError, TimeoutError: the bank gave no usable answer.
        """
        if not names_payouts(bank_of(self.banks, account).adapter.capabilities):
            raise NotSupported(Reason.NOT_SUPPORTED)
        who = Staff(AuditContext("system", self.now))
        outcomes = []
        for found in await self.closings.days(who, account, days):
            await self.readings.note(account.id, found, self.now())
            kept = await self.readings.of(account.id, found.day)
            if found.figures is None or kept is None:
                outcomes.append(DayOutcome.FAILED)
            else:
                differs = bool(kept.differences or kept.gap)
                outcomes.append(DayOutcome.DIFFERS if differs else DayOutcome.RECONCILED)
        return outcomes

    async def _failed(
        self, account: Account, days: Sequence[date], problem: Problem
    ) -> Sequence[DayOutcome]:
        for day in days:
            await self.readings.fail(account.id, day, problem, self.now())
        is_offered = problem is not Problem.NOT_OFFERED
        return [DayOutcome.FAILED if is_offered else DayOutcome.NOT_OFFERED] * len(days)

    def _place(self, provider: str) -> asyncio.Semaphore:
        """Return the places of a provider's accounts, whose movements are in memory meanwhile."""
        places = self._places.get(provider)
        if places is None:
            places = self._places[provider] = asyncio.Semaphore(self.at_once(provider))
        return places
