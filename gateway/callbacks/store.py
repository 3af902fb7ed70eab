"""Callbacks in the store."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta

from sqlalchemy import func, or_, select, update

from gateway.banks.port.provider_callbacks import CallbackKind, NamedBy
from gateway.callbacks.model import Callback, CallbackSearch, CallbackState
from gateway.core.company_scope import CompanyScope
from gateway.core.windows import Listed
from gateway.payouts.events import PayoutEvent
from gateway.payouts.model import Payout
from gateway.payouts.rows import restored_payout
from gateway.payouts.schedule import MOST_COUNTED, Backlog
from gateway.payouts.writes import append_event
from gateway.store.kernel.database import Database, page
from gateway.store.kernel.old_rows import delete_old
from gateway.store.tables.backoffice import callbacks
from gateway.store.tables.columns import Record, record_of, row_of
from gateway.store.tables.core import payouts
from gateway.store.tables.scope import of_account, of_company

# One claim; several processes share the rest.
_MOST = 50
# Claims end after a minute, and looks are about as far apart at most.
_DUE_AHEAD = timedelta(minutes=10)
_WORDS = {"kind": CallbackKind, "state": CallbackState, "named_by": NamedBy}
_NEWEST = select(callbacks).order_by(callbacks.c.received_at.desc(), callbacks.c.id)


_WAITING = (
    select(callbacks.c.provider, callbacks.c.received_at)
    .where(callbacks.c.due_at.is_not(None))
    .order_by(callbacks.c.due_at)
    .limit(MOST_COUNTED)
    .subquery("waiting")
)
_BACKLOG = select(
    _WAITING.c.provider,
    func.count().label("waiting"),
    func.min(_WAITING.c.received_at).label("oldest_at"),
).group_by(_WAITING.c.provider)


class CallbackRecords:
    """Stored callbacks."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, callback: Callback) -> bool:
        """Store a new callback; False when its event is stored already."""
        row = row_of(callback) | {name: str(getattr(callback, name)) for name in _WORDS}
        async with self._database.writing() as connection:
            return await self._database.add(connection, callbacks, row)

    async def payouts(self, keys: Collection[str], scope: CompanyScope) -> Mapping[str, Payout]:
        """Return payouts by their provider keys."""
        wanted = select(payouts).where(
            payouts.c.provider_key.in_(keys), *of_account(payouts.c.account_id, scope)
        )
        found = [restored_payout(row) for row in await self._database.rows(wanted)]
        return {each.provider_key: each for each in found}

    async def due(
        self, now: datetime, until: datetime, but_of: Collection[str] = ()
    ) -> Sequence[Callback]:
        """
        Claim at most fifty due callbacks; they are due again at ``until``.

        Callbacks of the providers ``but_of`` are skipped. Implausibly late due times were set
        before a clock was put back, and count as due.
        """
        due = or_(callbacks.c.due_at <= now, callbacks.c.due_at > now + _DUE_AHEAD)
        free = (
            select(callbacks)
            .where(due, callbacks.c.provider.not_in([*but_of]))
            .order_by(callbacks.c.due_at, callbacks.c.id)
            .limit(_MOST)
            .with_for_update(skip_locked=True)
        )
        async with self._database.writing() as connection:
            rows = (await connection.execute(free)).all()
            if not rows:
                return []
            claim = update(callbacks).where(callbacks.c.id.in_([row.id for row in rows]))
            await connection.execute(claim.values(due_at=until))
        return [_read(row) for row in rows]

    async def handled(
        self,
        callback_id: str,
        state: CallbackState,
        at: datetime,
        again_at: datetime | None,
        heard: PayoutEvent | None = None,
    ) -> None:
        """Store the result of a callback and the bank's answer; ``again_at`` schedules a retry."""
        noted = (
            update(callbacks)
            .where(callbacks.c.id == callback_id)
            .values(state=state.value, handled_at=at, due_at=again_at, tries=callbacks.c.tries + 1)
        )
        async with self._database.writing() as connection:
            await connection.execute(noted)
            if heard is not None:
                await append_event(self._database, connection, heard)

    async def belongs(
        self, callback_id: str, company_id: str, noticed: PayoutEvent | None = None
    ) -> None:
        """Store the company of a callback, and the event of the payout that it names."""
        noted = update(callbacks).where(callbacks.c.id == callback_id)
        async with self._database.writing() as connection:
            await connection.execute(noted.values(company_id=company_id))
            if noticed is not None:
                await append_event(self._database, connection, noticed)

    async def waiting(self) -> Sequence[Backlog]:
        """Count the callbacks to process, by provider; providers without any are absent."""
        rows = await self._database.rows(_BACKLOG)
        return [Backlog(**row._asdict()) for row in rows]

    async def search(self, search: CallbackSearch, scope: CompanyScope) -> Listed[Callback]:
        """Return a page, newest first."""
        wanted = _NEWEST
        for column, value in (
            (callbacks.c.provider, search.provider),
            (callbacks.c.kind, search.kind),
            (callbacks.c.state, search.state),
        ):
            if value is not None:
                wanted = wanted.where(column == str(value))
        wanted = wanted.where(*of_company(callbacks.c.company_id, scope))
        return await page(self._database, wanted, search.paging, _read)

    async def forget(self, before: datetime) -> int:
        """Delete callbacks received before an instant; return how many."""
        return await delete_old(self._database, callbacks.c.received_at, before)


def _read(row: Record) -> Callback:
    return record_of(Callback, row, _WORDS)
