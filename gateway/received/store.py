"""The accounts whose payments are looked for, and the payments already known."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import (
    Column,
    ColumnElement,
    Text,
    bindparam,
    exists,
    func,
    or_,
    select,
    type_coerce,
    update,
)

from gateway.accounts.store import read_account
from gateway.endpoints.model import EndpointState
from gateway.received.model import Walk
from gateway.store.kernel.database import Database
from gateway.store.tables.core import accounts, endpoints, payment_walks, received, refunded

_WALKS: Final = payment_walks.c
_READ_WITHIN: Final = timedelta(days=1)
_MOST: Final = 1_000
"""Accounts of one turn."""
_IN_A_QUERY: Final = 500
"""A database takes some thousands of parameters."""
_JOINED: Final = accounts.outerjoin(payment_walks, _WALKS.account_id == accounts.c.id)
_OF_ENDPOINT: Final = type_coerce(endpoints.c.account_ids, Text)
_HAS_ENDPOINT: Final = exists().where(
    endpoints.c.company_id == accounts.c.company_id,
    endpoints.c.state != EndpointState.PAUSED.value,
    or_(_OF_ENDPOINT == "", _OF_ENDPOINT.contains(accounts.c.id)),
)
"""Ids are of one length, so none is a part of another."""
_WALKED: Final = (
    update(payment_walks)
    .where(_WALKS.account_id == bindparam("account"))
    .values(until=bindparam("walked_until"), tried_at=bindparam("at"))
)


def _wanted(now: datetime) -> Sequence[ColumnElement[bool]]:
    """Return the SQL conditions of accounts whose payments are wanted."""
    return accounts.c.active, or_(_WALKS.read_at >= now - _READ_WITHIN, _HAS_ENDPOINT)


class WalkRecords:
    """The walks of accounts; each method raises ``StoreUnavailable``."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def due(self, now: datetime) -> Sequence[Walk]:
        """Return the walks of one turn: those first that were tried longest ago."""
        wanted = (
            select(accounts, _WALKS.begun_at, _WALKS.until)
            .select_from(_JOINED)
            .where(*_wanted(now))
            .order_by(_WALKS.tried_at.asc().nulls_first(), accounts.c.id)
            .limit(_MOST)
        )
        return [
            Walk(account=read_account(row), begun_at=row.begun_at or now, until=row.until or now)
            for row in await self._database.rows(wanted)
        ]

    async def note(self, walk: Walk, until: datetime, now: datetime) -> None:
        """Store how far an account was walked, and that it was tried."""
        row = {
            "account_id": walk.account.id,
            "begun_at": walk.begun_at,
            "until": until,
            "tried_at": now,
        }
        given = {"account": walk.account.id, "walked_until": until, "at": now}
        async with self._database.writing() as connection:
            if not (await connection.execute(_WALKED, given)).rowcount:
                await self._database.add(connection, payment_walks, row)

    async def new_payments(self, account_id: str, e2e_ids: Collection[str]) -> Collection[str]:
        """Return those end-to-end ids under which no payment of the account is known."""
        return await self._unknown(received.c.e2e_id, account_id, e2e_ids)

    async def new_refunds(self, account_id: str, return_ids: Collection[str]) -> Collection[str]:
        """Return those ids of refunds of the account that are not known."""
        return await self._unknown(refunded.c.return_id, account_id, return_ids)

    async def _unknown(
        self, column: Column[str], account_id: str, ids: Collection[str]
    ) -> Collection[str]:
        asked = sorted(set(ids))
        known: set[str] = set()
        for begin in range(0, len(asked), _IN_A_QUERY):
            some = asked[begin : begin + _IN_A_QUERY]
            chosen = select(column).where(column.table.c.account_id == account_id, column.in_(some))
            known.update(row[0] for row in await self._database.rows(chosen))
        return set(asked) - known


async def oldest_walks(database: Database, now: datetime) -> Mapping[str, datetime]:
    """Return until when payments were looked for, the oldest account by provider."""
    wanted = (
        select(accounts.c.provider, func.min(_WALKS.until).label("until"))
        .select_from(_JOINED)
        .where(*_wanted(now))
        .group_by(accounts.c.provider)
    )
    return {row.provider: row.until or now for row in await database.rows(wanted)}
