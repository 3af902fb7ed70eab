"""
Walks of all accounts whose payments are wanted, a turn each minute.

A bank's places are divided by call, first come first served, and accounts come in the order in
which they were tried: so one that has many pages, a slow rate or a bank that hangs delays nobody.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from gateway.banks.connections import bank_of
from gateway.banks.followup_rate import Shares
from gateway.banks.port.providers import Banks, NotSupported, Reason
from gateway.core.clocks import Now
from gateway.core.storage import StoreUnavailable
from gateway.payouts.matching import CallPlace
from gateway.received.model import Walk, next_stretch
from gateway.received.store import WalkRecords
from gateway.received.walk import PaymentWalk
from gateway.telemetry.ports import Count, Event, WalkOutcome

_log = logging.getLogger(__name__)

_TURN_S: Final = 50.0
"""A turn of all accounts; those that it does not reach are the first of the next one."""
_CALL_S: Final = 10.0
"""Of a bank for one page: a bank that hangs holds a place no longer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PaymentWalks:
    """
    Walks the accounts of all banks; one process does.

    Attributes:
        shares: The places and rates of each bank that walks take.
        turn_s: Seconds of a turn.
    """

    banks: Banks
    records: WalkRecords
    walk: PaymentWalk
    shares: Shares
    count: Count
    now: Now
    turn_s: float = _TURN_S

    async def turn(self) -> None:
        """
        Walk each account once, as far as the turn's time goes.

        Raises:
            ExceptionGroup: of ``StoreUnavailable``.
        """
        ends_at = asyncio.get_running_loop().time() + self.turn_s
        async with asyncio.TaskGroup() as walking:
            for each in await self.records.due(self.now()):
                walking.create_task(self._account(each, ends_at))

    async def _account(self, walk: Walk, ends_at: float) -> None:
        """Walk one account; whatever its bank does is its own affair."""
        if asyncio.get_running_loop().time() >= ends_at:
            return
        account, now, calls = walk.account, self.now(), 0
        slots = self.shares.of(account.provider)

        @asynccontextmanager
        async def place() -> AsyncIterator[None]:
            nonlocal calls
            async with slots.place(account.id):
                calls += 1
                async with asyncio.timeout(_CALL_S):
                    yield

        outcome, until = WalkOutcome.FAILED, walk.until
        try:
            async with asyncio.timeout_at(ends_at):
                until = await self._read(walk, place, now)
            outcome = WalkOutcome.WALKED
        except NotSupported:
            outcome, until = WalkOutcome.NOT_OFFERED, now
        except StoreUnavailable:
            raise
        except Exception as problem:  # noqa: BLE001 - an adapter's mistake is its accounts' alone
            if not calls and isinstance(problem, TimeoutError):
                return  # it had no turn
            _log.warning(
                "payments_not_walked account_id=%s: %s", account.id, type(problem).__name__
            )
        await self.records.note(walk, until, now)
        self.count(Event.PAYMENT_WALK, f"{account.provider}.{outcome}")

    async def _read(self, walk: Walk, place: CallPlace, now: datetime) -> datetime:
        """
        Read the next stretch of an account; return how far it is walked then.

        Raises:
            NotSupported: it has no bank, or one that shows no payments.
            ServiceError: its bank is not configured here.
            ProviderError, StoreUnavailable: as ``PaymentWalk.read``.
        """
        if not walk.account.provider:
            raise NotSupported(Reason.NOT_SUPPORTED)
        bank, stretch = bank_of(self.banks, walk.account), next_stretch(walk, now)
        await self.walk.read(walk.account, bank, stretch, place, now)
        return stretch.until
