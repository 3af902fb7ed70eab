"""
Carries files of payouts out: one payout after another, each under its row's own reference.

A row is taken before its payout is ordered, and ordered again after a process was killed in
between. The reference was fixed when the file was read, so the repetition finds the payout that is
stored, and money is sent once (ADR 0003).
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from gateway.banks.port.providers import ProviderError
from gateway.batches.model import Batch, BatchRow, BatchState, Ordered, RowState
from gateway.batches.store import BatchRecords
from gateway.core import errors, trace
from gateway.core.audit_context import AuditContext
from gateway.core.calls import Caller
from gateway.core.clocks import Now
from gateway.core.errors import ServiceError
from gateway.payouts.create import CERTAINLY_NOT_SENT, Payouts
from gateway.payouts.holds import Payers
from gateway.payouts.model import PayoutRequest

_log = logging.getLogger(__name__)

_ROWS_A_TURN: Final = 25
"""Of one file, before the next file has its turn."""
_TRIES: Final = 10
"""Of a row whose payout is proven unsent each time; the rows behind it wait meanwhile."""
_LATER: Final = frozenset({*CERTAINLY_NOT_SENT, errors.OVERLOADED, errors.PAYOUT_DATE_NOT_TODAY})
"""Refusals that concern the bank, the store or the day: the row waits for another turn."""
_HOLDS: Final = frozenset(
    {
        errors.PAYOUTS_STOPPED,
        errors.TOO_MANY_REQUESTS,
        errors.PROVIDER_NOT_CONFIGURED,
        errors.PROVIDER_READ_ONLY,
    }
)
"""Refusals that concern every row: the rest waits for a person."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchWorker:
    """
    Carries out the running files; one worker does it for all.

    Attributes:
        payers: Looks up whoever uploaded a file, with the account, as they are now.
        payout: Returns the payout of a row.
        now: The clock of payouts.
    """

    records: BatchRecords
    payouts: Payouts
    payers: Payers
    payout: Callable[[BatchRow], PayoutRequest]
    now: Now

    async def turn(self) -> None:
        """Go on with every running file until none of them can be gone on with now."""
        await self._settle_abandoned()
        moved = True
        while moved:
            moved = False
            for batch in await self.records.under_way(self.now().date()):
                moved |= await self._go_on(batch)

    async def end_decided(self) -> None:
        """End the files whose payouts were all ordered, and have all ended since."""
        for batch_id in await self.records.decided():
            await self._end(batch_id, BatchState.DONE)

    async def _go_on(self, batch: Batch) -> bool:
        """Order some payouts of a file; return whether it can be gone on with at once."""
        if batch.day != self.now().date():
            await self._end(batch.id, BatchState.CANCELLED, "day_over")
            return False
        try:
            caller = await self.payers.find(Ordered.of(batch))
        except ServiceError as refusal:
            await self._hold(batch, refusal.reason)
            return False
        rows = await self.records.due(batch.id, _ROWS_A_TURN)
        if not rows:
            if not await self.records.order_all(batch.id):
                await self._end(batch.id, BatchState.DONE)
            return False
        for row in rows:
            if not await self.records.begin(row, self.now()):
                return False  # it was stopped meanwhile
            if not await self._order(batch, caller, row):
                return False
        return True

    async def _order(self, batch: Batch, caller: Caller, row: BatchRow) -> bool:
        """Order the payout of a row that was taken; return whether the next row can follow."""
        order = replace(self.payout(row), date=batch.day or self.now().date())
        trace.begin_background()
        try:
            await self.payouts.create(caller, order)
        except ServiceError as refusal:
            return await self._refused(batch, row, order, refusal)
        except ProviderError:
            # The bank behind the account changed under way: what is stored says what is so.
            await self._refused(batch, row, order, ServiceError(errors.PAYOUT_UNKNOWN, "unknown"))
            return False
        await self.records.finish(row, RowState.ORDERED)
        return True

    async def _refused(
        self, batch: Batch, row: BatchRow, order: PayoutRequest, refusal: ServiceError
    ) -> bool:
        """Store what a refusal means for its row; return whether the next row can follow."""
        error, tries = refusal.error, row.tries + 1
        if error in _HOLDS:
            await self.records.finish(row, RowState.WAITING, tries=row.tries)
            await self._hold(batch, refusal.reason)
            return False
        if error in _LATER and tries < _TRIES:
            await self.records.finish(row, RowState.WAITING, tries=tries)
            return False
        stored = await self.payouts.store.find(batch.account_id, order.reference)
        is_ours = stored is not None and stored.fingerprint == order.fingerprint()
        state = RowState.ORDERED if is_ours else RowState.REFUSED
        await self.records.finish(row, state, error.code, tries)
        return True

    async def _settle_abandoned(self) -> None:
        """Settle rows that a killed worker was at, of files that were held or ended since."""
        for row, batch_state in await self.records.abandoned(self.now()):
            order = self.payout(row)
            stored = await self.payouts.store.find(row.account_id, row.reference)
            if stored is not None and stored.fingerprint == order.fingerprint():
                state = RowState.ORDERED
            else:
                is_held = batch_state is BatchState.HELD
                state = RowState.WAITING if is_held else RowState.CANCELLED
            await self.records.finish(row, state, row.code, row.tries)

    async def _hold(self, batch: Batch, why: str) -> None:
        event = self._system.event("batch.held", f"batch:{batch.id}", {"reason": why})
        if await self.records.hold(batch.id, why, event):
            _log.warning("batch_held batch=%s reason=%s", batch.id, why)

    async def _end(self, batch_id: str, state: BatchState, why: str = "") -> None:
        details = {"reason": why} if why else {}
        event = self._system.event("batch.ended", f"batch:{batch_id}", details)
        code = errors.PAYOUT_DATE_NOT_TODAY.code if why else ""
        await self.records.end(batch_id, state, self.now(), event, code)

    @property
    def _system(self) -> AuditContext:
        return AuditContext("system", self.now)
