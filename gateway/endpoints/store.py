"""
Endpoints in the store.

Deliveries tell what became of them while people may change the endpoint: what concerns one address
is written only while the endpoint still has it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    Update,
    bindparam,
    case,
    delete,
    func,
    insert,
    or_,
    select,
    update,
)

from gateway.audit import store as audit_log
from gateway.core.approvals import SecretCollection
from gateway.core.audit import AuditEvent
from gateway.core.audit_context import AuditContext
from gateway.core.company_scope import CompanyScope
from gateway.core.windows import Listed
from gateway.endpoints.model import (
    MOST_OF_COMPANY,
    Endpoint,
    EndpointSearch,
    EndpointState,
    PauseCause,
)
from gateway.security.sealing import Sealer
from gateway.store.kernel.database import Database, page
from gateway.store.kernel.structs import from_row, row_of
from gateway.store.orders import collect
from gateway.store.tables.core import companies, endpoints
from gateway.store.tables.scope import Conditions, of_company

_BY: Final = "system"
_MINUTE: Final = timedelta(minutes=1)
_FIND: Final = select(endpoints).where(endpoints.c.id == bindparam("endpoint_id"))
_SECRETS: Final = select(
    endpoints.c.sealed_secret, endpoints.c.sealed_former_secret, endpoints.c.former_secret_ends_at
).where(endpoints.c.id == bindparam("endpoint_id"))
_COMPANY: Final = (
    select(companies.c.id).where(companies.c.id == bindparam("company_id")).with_for_update()
)
_HEALTHY: Final[Mapping[str, Any]] = {"failing_since": None, "mailed_h": 0}


class EndpointRecords:
    """
    The endpoints of partners; ``StoreUnavailable`` when the store does not answer.

    ``activate``, ``pause``, ``note_success``, ``note_failure`` and ``note_mail`` are safe to
    repeat, and do nothing to an endpoint that has another address by now, or is gone.
    """

    def __init__(self, database: Database, sealer: Sealer) -> None:
        """Store secrets sealed."""
        self._database = database
        self._sealer = sealer

    async def find(self, endpoint_id: str) -> Endpoint | None:
        """Return an endpoint of any company."""
        row = await self._database.first(_FIND, {"endpoint_id": endpoint_id})
        return None if row is None else _endpoint(row)

    async def visible(self, endpoint_id: str, scope: CompanyScope) -> Endpoint | None:
        """Return an endpoint of a company in scope."""
        own = (endpoints.c.id == endpoint_id, *of_company(endpoints.c.company_id, scope))
        row = await self._database.first(select(endpoints).where(*own))
        return None if row is None else _endpoint(row)

    async def of_company(self, company_id: str) -> Sequence[Endpoint]:
        """Return the endpoints of a company, oldest first."""
        wanted = select(endpoints).where(endpoints.c.company_id == company_id)
        rows = await self._database.rows(wanted.order_by(endpoints.c.created_at, endpoints.c.id))
        return [_endpoint(row) for row in rows]

    async def search(self, wanted: EndpointSearch, scope: CompanyScope) -> Listed[Endpoint]:
        """Return a page of the endpoints of companies in scope, newest first."""
        found = select(endpoints).where(*of_company(endpoints.c.company_id, scope), *_of(wanted))
        found = found.order_by(endpoints.c.created_at.desc(), endpoints.c.id)
        return await page(self._database, found, wanted.paging, _endpoint)

    async def secrets(self, endpoint_id: str, now: datetime) -> Sequence[str]:
        """
        Return the secrets that sign its deliveries now: the current one, then the former one.

        Empty when the endpoint is gone.

        Raises:
            SealBroken: one is sealed under a key that is not here.
        """
        row = await self._database.first(_SECRETS, {"endpoint_id": endpoint_id})
        if row is None:
            return ()
        sealed = [row.sealed_secret]
        if row.former_secret_ends_at is not None and row.former_secret_ends_at > now:
            sealed.append(row.sealed_former_secret)
        return [self._sealer.open(each, _bound(endpoint_id)) for each in sealed]

    async def add(
        self,
        endpoint: Endpoint,
        secret: str,
        event: AuditEvent,
        collection: SecretCollection | None = None,
    ) -> bool:
        """
        Store a new endpoint; False when its company has as many as it may.

        With ``collection`` as the outcome of an order, once; else NothingToCollect.
        """
        row = {
            **row_of(endpoint),
            "sealed_secret": self._sealer.seal(secret, _bound(endpoint.id)),
            "sealed_former_secret": None,
        }
        own = endpoints.c.company_id == endpoint.company_id
        async with self._database.writing() as connection:
            # Two that are added at once are counted one after the other.
            await connection.execute(_COMPANY, {"company_id": endpoint.company_id})
            counted = select(func.count()).select_from(endpoints).where(own)
            if (await connection.execute(counted)).scalar_one() >= MOST_OF_COMPANY:
                return False
            if collection is not None:
                await collect(connection, collection)
            await connection.execute(insert(endpoints), row)
            await audit_log.append(connection, event)
        return True

    async def change(self, before: Endpoint, after: Endpoint, event: AuditEvent) -> bool:
        """
        Change address, types and accounts; False when they are not as before.

        Another address has to answer a ping, unless an operator paused the endpoint.
        """
        same = (
            endpoints.c.id == before.id,
            endpoints.c.url == before.url,
            endpoints.c.types == before.types,
            endpoints.c.account_ids == before.account_ids,
        )
        row = row_of(after)
        names = ("url", "types", "account_ids", "changed_at", "changed_by")
        values = {name: row[name] for name in names}
        if after.url != before.url:
            is_held = endpoints.c.paused_because == PauseCause.OPERATOR.value
            values |= {
                "state": case((is_held, endpoints.c.state), else_=EndpointState.PENDING.value),
                "paused_because": case((is_held, endpoints.c.paused_because), else_=""),
                "last_ok_at": None,
                **_HEALTHY,
            }
        return await audit_log.change(
            self._database, update(endpoints).where(*same).values(values), event
        )

    async def set_state(self, before: Endpoint, after: Endpoint, event: AuditEvent) -> bool:
        """Pause or resume; False when its state is not as before."""
        same = endpoints.c.id == before.id, endpoints.c.state == before.state.value
        row = row_of(after)
        names = ("state", "paused_because", "changed_at", "changed_by", "failing_since")
        values = {name: row[name] for name in (*names, "mailed_h")}
        return await audit_log.change(
            self._database, update(endpoints).where(*same).values(values), event
        )

    async def rotate(
        self,
        before: Endpoint,
        after: Endpoint,
        secret: str,
        event: AuditEvent,
        collection: SecretCollection | None = None,
    ) -> bool:
        """
        Make a new secret current, and the current one the former; False if that changed meanwhile.

        With ``collection`` as the outcome of an order, once; else NothingToCollect.
        """
        same = endpoints.c.id == before.id, endpoints.c.secret_made_at == before.secret_made_at
        values = {
            "sealed_former_secret": endpoints.c.sealed_secret,
            "sealed_secret": self._sealer.seal(secret, _bound(before.id)),
            "former_secret_ends_at": after.former_secret_ends_at,
            "secret_made_at": after.secret_made_at,
            "changed_at": after.changed_at,
            "changed_by": after.changed_by,
        }
        async with self._database.writing() as connection:
            done = await connection.execute(update(endpoints).where(*same).values(values))
            if not done.rowcount:
                return False
            if collection is not None:
                await collect(connection, collection)
            await audit_log.append(connection, event)
        return True

    async def remove(self, endpoint: Endpoint, event: AuditEvent) -> bool:
        """Delete an endpoint with its secrets; False when it is gone."""
        gone = delete(endpoints).where(endpoints.c.id == endpoint.id)
        told = replace(event, companies=frozenset({endpoint.company_id}))
        return await audit_log.change(self._database, gone, told)

    async def activate(self, pinged: Endpoint, at: datetime) -> bool:
        """Send events to a pending endpoint, whose address answered a ping; False if it is not."""
        values = {"state": EndpointState.ACTIVE.value, "last_ok_at": at, **_HEALTHY}
        pending = endpoints.c.state == EndpointState.PENDING.value
        event = AuditContext(_BY, lambda: at).event("endpoint.activated", pinged.subject)
        return await audit_log.change(
            self._database, _still(pinged).where(pending).values(values), event
        )

    async def pause(self, endpoint: Endpoint, because: PauseCause, at: datetime) -> bool:
        """Send nothing more to an endpoint, as deliveries showed; False if it is paused already."""
        values = {"state": EndpointState.PAUSED.value, "paused_because": because.value}
        running = endpoints.c.state != EndpointState.PAUSED.value
        event = AuditContext(_BY, lambda: at).event(
            "endpoint.paused", endpoint.subject, {"because": because.value}
        )
        return await audit_log.change(
            self._database, _still(endpoint).where(running).values(values), event
        )

    async def note_success(self, endpoint: Endpoint, at: datetime) -> None:
        """Note a delivery that was answered with 2xx, once a minute; its failure is over."""
        column = endpoints.c.last_ok_at
        new = or_(column.is_(None), column <= at - _MINUTE, endpoints.c.failing_since.is_not(None))
        values = {"last_ok_at": at, **_HEALTHY}
        await self._database.write(_still(endpoint).where(new).values(values))

    async def note_failure(self, endpoint: Endpoint, at: datetime) -> None:
        """Note since when deliveries fail; it is noted once."""
        first = endpoints.c.failing_since.is_(None)
        await self._database.write(_still(endpoint).where(first).values(failing_since=at))

    async def note_mail(self, endpoint: Endpoint, hours: int) -> bool:
        """Note a mail about so many hours of failure; False if it was sent already."""
        untold = endpoints.c.mailed_h < hours, endpoints.c.failing_since.is_not(None)
        return bool(
            await self._database.write(_still(endpoint).where(*untold).values(mailed_h=hours))
        )


def _still(endpoint: Endpoint) -> Update:
    """Return a change of an endpoint that has the same address."""
    return update(endpoints).where(endpoints.c.id == endpoint.id, endpoints.c.url == endpoint.url)


def _of(wanted: EndpointSearch) -> Conditions:
    conditions: list[ColumnElement[bool]] = []
    if wanted.company_id is not None:
        conditions.append(endpoints.c.company_id == wanted.company_id)
    if wanted.state is not None:
        conditions.append(endpoints.c.state == wanted.state.value)
    return tuple(conditions)


_endpoint = partial(from_row, kind=Endpoint)


def _bound(endpoint_id: str) -> str:
    """Return the row id to which the encryption of its secrets is bound."""
    return f"endpoint:{endpoint_id}"
