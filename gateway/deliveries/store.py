"""
Deliveries in the store, and which process sends them.

A claim is a lease on the row: when a process dies with one, another sends the delivery again after
the claim has ended. At most four deliveries of an endpoint are claimed at once by all processes
together, since whoever claims locks the endpoint's row meanwhile.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final

from msgspec import UNSET
from msgspec.structs import replace
from sqlalchemy import (
    ColumnElement,
    and_,
    bindparam,
    case,
    false,
    func,
    insert,
    literal,
    literal_column,
    or_,
    select,
    true,
    update,
)
from sqlalchemy.ext.asyncio.engine import AsyncConnection

from gateway.audit import store as audit_log
from gateway.core.audit import AuditEvent
from gateway.core.company_scope import CompanyScope
from gateway.core.storage import StoreUnavailable
from gateway.core.windows import Listed
from gateway.deliveries.bodies import body_of
from gateway.deliveries.model import (
    COUNTED_AT_MOST,
    MOST_AGAIN,
    Claimed,
    DeliveriesAgain,
    Delivery,
    DeliverySearch,
    DeliveryState,
    DeliveryTry,
    Outcome,
    SentAgain,
    TryFailure,
)
from gateway.deliveries.places import MOST_OF_ENDPOINT
from gateway.endpoints.model import Endpoint, EndpointState, PauseCause
from gateway.store.kernel.batching import BatchLimits, BatchQueue
from gateway.store.kernel.database import Database, page
from gateway.store.kernel.old_rows import Owned, delete_old
from gateway.store.kernel.structs import from_row, row_of
from gateway.store.tables.columns import Instant, Record
from gateway.store.tables.core import deliveries, delivery_tries, endpoints
from gateway.store.tables.scope import Conditions, of_company

CLAIM: Final = timedelta(seconds=30)
"""Thrice as long as a try may take."""
_AHEAD: Final = timedelta(minutes=5)
"""Claims that end later were made before a clock was put back, and hold nothing."""

_D = deliveries.c
_AT: Final = bindparam("at_now", type_=Instant)
_CLAIM_AHEAD: Final = bindparam("ahead", type_=Instant)
# Literally: with a parameter in its place no database uses the index of those that wait.
_WAITING: Final = _D.state == literal_column(f"'{DeliveryState.WAITING}'")
_SHORT: Final = func.length(_D.reference) <= literal_column("200")
"""Longer references are in no index; see the table."""
_PING: Final = _D.is_ping == true()
_EVENT: Final = _D.is_ping == false()
_ACTIVE: Final = endpoints.c.state == EndpointState.ACTIVE.value
_FREE: Final = or_(
    _D.claimed_until.is_(None), _D.claimed_until <= _AT, _D.claimed_until > _CLAIM_AHEAD
)
_DUE: Final = (_WAITING, _D.next_at <= _AT, _FREE)
_GIVEN_UP: Final = [DeliveryState.FAILED.value]
_ENDED: Final = [*_GIVEN_UP, DeliveryState.DELIVERED.value]
_NEWEST: Final = select(deliveries).order_by(_D.at.desc(), _D.id)


def _first_due(*conditions: ColumnElement[bool]) -> ColumnElement[datetime]:
    """Return the instant at which an endpoint's first delivery of a kind was due."""
    found = select(_D.next_at).where(_D.endpoint_id == endpoints.c.id, *conditions, *_DUE)
    return found.order_by(_D.next_at).limit(1).correlate(endpoints).scalar_subquery()


_ENDPOINTS_DUE: Final = select(
    endpoints.c.id,
    _first_due(_PING).label("ping_due_at"),
    case((_ACTIVE, _first_due(_EVENT))).label("event_due_at"),
).where(endpoints.c.state != EndpointState.PAUSED.value)
_LOCKED: Final = (
    select(endpoints)
    .where(endpoints.c.id.in_(bindparam("ids", expanding=True)))
    .where(endpoints.c.state != EndpointState.PAUSED.value)
    # of the rows that reference it none is held up
    .with_for_update(skip_locked=True, key_share=True)
)
_HELD: Final = (
    select(func.count())
    .select_from(deliveries)
    .where(_D.endpoint_id == bindparam("endpoint"), _D.claimed_until > _AT)
    .where(_D.claimed_until <= _CLAIM_AHEAD)
)
_CHOSEN: Final = (
    select(_D.id)
    .where(_D.endpoint_id == bindparam("endpoint"), _D.is_ping == bindparam("pings"), *_DUE)
    .order_by(_D.next_at)
    .limit(bindparam("most"))
    .correlate(None)
)
_CLAIM: Final = (
    update(deliveries)
    .where(_D.id.in_(_CHOSEN))
    .values(claimed_by=bindparam("owner"), claimed_until=bindparam("until", type_=Instant))
    .returning(deliveries)
)
_COMPOSE: Final = (
    update(deliveries).where(_D.id == bindparam("of_id")).values(body=bindparam("new_body"))
)
_OURS: Final = (
    _D.id == bindparam("of_id"),
    _D.claimed_by == bindparam("of_owner"),
    _D.claimed_until == bindparam("of_until", type_=Instant),
)
_NOTE: Final = insert(delivery_tries).from_select(
    ["delivery_id", "number", "at", "status", "failure", "ms"],
    select(
        _D.id,
        _D.tries + 1,
        bindparam("try_at", type_=Instant),
        bindparam("try_status", type_=delivery_tries.c.status.type),
        bindparam("try_failure", type_=delivery_tries.c.failure.type),
        bindparam("try_ms", type_=delivery_tries.c.ms.type),
    ).where(*_OURS),
)
_END_TRY: Final = (
    update(deliveries)
    .where(*_OURS)
    .values(
        tries=_D.tries + 1,
        state=bindparam("new_state"),
        next_at=bindparam("new_next_at", type_=Instant),
        ended_at=bindparam("new_ended_at", type_=Instant),
        claimed_by=None,
        claimed_until=None,
    )
)
_DROPPED: Final[Mapping[str, Any]] = {
    "state": DeliveryState.DROPPED.value,
    "next_at": None,
    "ended_at": bindparam("ended", type_=Instant),
    "claimed_by": None,
    "claimed_until": None,
}
_RELEASE: Final = (
    update(deliveries)
    .where(_D.claimed_by == bindparam("of_owner"), _D.claimed_until.is_not(None))
    .values(claimed_by=None, claimed_until=None)
)
_DROP: Final = (
    update(deliveries)
    .where(_WAITING, _D.endpoint_id.not_in(select(endpoints.c.id)))
    .values(_DROPPED)
)
_DROP_PINGS: Final = (
    update(deliveries)
    .where(_WAITING, _PING, _FREE, _D.endpoint_id == bindparam("endpoint"))
    .values(_DROPPED)
)
_UNPINGED: Final = select(endpoints).where(
    endpoints.c.state == EndpointState.PENDING.value,
    ~select(literal(1))
    .where(_D.endpoint_id == endpoints.c.id, _PING)
    .where(_D.at >= endpoints.c.changed_at)
    .correlate(endpoints)
    .exists(),
)
_FAILING: Final = select(endpoints).where(
    endpoints.c.failing_since.is_not(None),
    or_(
        _ACTIVE,
        endpoints.c.paused_because.in_([PauseCause.GAVE_UP.value, PauseCause.GONE.value]),
    ),
)
_OLDEST: Final = select(func.min(_first_due(_EVENT)).label("due_at")).where(
    _ACTIVE, endpoints.c.failing_since.is_(None)
)
_STATES: Final = select(endpoints.c.state, func.count().label("endpoints")).group_by(
    endpoints.c.state
)


@dataclass(frozen=True, slots=True)
class DueEndpoint:
    """
    An endpoint with deliveries that are due.

    Attributes:
        due_at: Since when.
        is_pinged: Whether a ping is among them.
    """

    id: str
    due_at: datetime
    is_pinged: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """
    A claimed delivery after its try.

    Attributes:
        next_at: When it is tried again; None where it has ended.
    """

    claimed: Delivery
    outcome: Outcome
    state: DeliveryState
    next_at: datetime | None


class DeliveryRecords:
    """The deliveries; ``StoreUnavailable`` when the store does not answer."""

    def __init__(self, database: Database) -> None:
        self._database = database
        limits = BatchLimits(count=1, whole_s=database.whole_s)
        self._results: BatchQueue[Result, bool] = BatchQueue(self._write, limits)

    async def due(self, now: datetime) -> Sequence[DueEndpoint]:
        """Return the endpoints with deliveries that are due and free, the longest due first."""
        found = []
        for row in await self._database.rows(_ENDPOINTS_DUE, _at(now)):
            instants = [each for each in (row.ping_due_at, row.event_due_at) if each is not None]
            if instants:
                found.append(DueEndpoint(row.id, min(instants), row.ping_due_at is not None))
        return sorted(found, key=lambda each: each.due_at)

    async def claim(
        self, shares: Mapping[str, int], owner: str, now: datetime
    ) -> Sequence[Claimed]:
        """
        Claim due deliveries of each endpoint, as many as its share; pings first.

        Their bodies are stored with the claim, so that each try sends the same. An endpoint that
        another process is claiming from at this moment is left out. Deliveries from before the
        endpoint was narrowed to other types or accounts are dropped.
        """
        if not shares:
            return []
        claimed: list[Claimed] = []
        async with self._database.writing() as connection:
            rows = (await connection.execute(_LOCKED, {"ids": list(shares)})).all()
            for row in rows:
                endpoint = from_row(row, Endpoint)
                found = await _claim(connection, endpoint, shares[endpoint.id], owner, now)
                claimed += [Claimed(each, endpoint) for each in await _composed(connection, found)]
        return claimed

    async def finish(self, result: Result) -> None:
        """Note a try and what follows; nothing where the claim is no longer this one."""
        try:
            await self._results.ask(result)
        except TimeoutError as problem:
            raise StoreUnavailable from problem

    async def release(self, owner: str) -> None:
        """Give up every claim of a process."""
        await self._database.write(_RELEASE, {"of_owner": owner})

    async def close(self) -> None:
        """Finish pending notes of tries."""
        await self._results.close()

    async def _write(self, results: Sequence[Result]) -> Sequence[bool]:
        given = [_ended(each) for each in results]
        async with self._database.writing() as connection:
            await connection.execute(_NOTE, given)
            await connection.execute(_END_TRY, given)
        return [True] * len(results)

    async def add_ping(self, ping: Delivery, event: AuditEvent | None = None) -> None:
        """Store a ping, in place of those that wait; by hand with the event of the act."""
        given = {**_at(ping.at), "endpoint": ping.endpoint_id, "ended": ping.at}
        async with self._database.writing() as connection:
            await connection.execute(_DROP_PINGS, given)
            await connection.execute(insert(deliveries), dict(row_of(ping)))
            if event is not None:
                await audit_log.append(connection, event)

    async def unpinged(self) -> Sequence[Endpoint]:
        """Return the pending endpoints without a ping since they were changed."""
        return [_endpoint(row) for row in await self._database.rows(_UNPINGED)]

    async def failing(self) -> Sequence[Endpoint]:
        """Return the endpoints that fail, and those that were paused for it."""
        return [_endpoint(row) for row in await self._database.rows(_FAILING)]

    async def drop(self, now: datetime) -> int:
        """End what waits for endpoints that were removed; return how many."""
        return await self._database.write(_DROP, {"ended": now})

    async def oldest_due(self, now: datetime) -> datetime | None:
        """Return since when an event waits for an active endpoint that does not fail."""
        row = await self._database.first(_OLDEST, _at(now))
        return None if row is None or row.due_at is None else row.due_at

    async def states(self) -> Mapping[str, int]:
        """Count the endpoints by state."""
        return {row.state: row.endpoints for row in await self._database.rows(_STATES)}

    async def find(self, delivery_id: str, scope: CompanyScope) -> Delivery | None:
        """Return a delivery of a company in scope."""
        own = (_D.id == delivery_id, *of_company(_D.company_id, scope))
        row = await self._database.first(select(deliveries).where(*own))
        return None if row is None else _delivery(row)

    async def tries(self, delivery_id: str) -> Sequence[DeliveryTry]:
        """Return the tries of a delivery, oldest first."""
        tries = delivery_tries.c
        own = select(tries.number, tries.at, tries.status, tries.failure, tries.ms)
        own = own.where(tries.delivery_id == delivery_id).order_by(tries.number)
        return [_try(*row) for row in await self._database.rows(own)]

    async def search(self, wanted: DeliverySearch, scope: CompanyScope) -> Listed[Delivery]:
        """Return a page, newest event first."""
        found = _NEWEST.where(*_of(wanted), *of_company(_D.company_id, scope))
        return await page(self._database, found, wanted.paging, _delivery, COUNTED_AT_MOST)

    async def of_reference(
        self, account_id: str, reference: str, scope: CompanyScope
    ) -> Sequence[tuple[Delivery, DeliveryTry | None]]:
        """Return the deliveries of a payout or charge, each with its last try."""
        last = and_(delivery_tries.c.delivery_id == _D.id, delivery_tries.c.number == _D.tries)
        names = [each.label(f"try_{each.name}") for each in delivery_tries.c]
        found = (
            select(deliveries, *names)
            .select_from(deliveries.outerjoin(delivery_tries, last))
            .where(_D.account_id == account_id, _D.reference == reference, _SHORT)
            .where(*of_company(_D.company_id, scope))
            .order_by(_D.at, _D.id)
        )
        return [(_delivery(row), _last_try(row)) for row in await self._database.rows(found)]

    async def again(self, delivery: Delivery, now: datetime, event: AuditEvent) -> bool:
        """Send a delivery once more, with all tries before it; False while it is being sent."""
        free = or_(_D.claimed_until.is_(None), _D.claimed_until <= now)
        own = update(deliveries).where(_D.id == delivery.id, free).values(_again(now))
        return await audit_log.change(self._database, own, event)

    async def all_again(
        self, endpoint_id: str, wanted: DeliveriesAgain, now: datetime, event: AuditEvent
    ) -> SentAgain:
        """Send an endpoint's ended deliveries of a time once more, the oldest first."""
        ended = (
            select(_D.id)
            .where(_D.endpoint_id == endpoint_id, _D.at >= wanted.since, _D.at < wanted.until)
            .where(_D.state.in_(_ENDED if wanted.delivered else _GIVEN_UP), _EVENT)
            .order_by(_D.at)
            .correlate(None)
        )
        counted = select(func.count()).select_from(ended.limit(MOST_AGAIN + 1).subquery())
        chosen = update(deliveries).where(_D.id.in_(ended.limit(MOST_AGAIN)))
        async with self._database.writing() as connection:
            count = (await connection.execute(counted)).scalar_one()
            done = (await connection.execute(chosen.values(_again(now)))).rowcount
            await audit_log.append(connection, event)
        return SentAgain(deliveries=done, has_more=count > MOST_AGAIN)

    async def forget(self, before: datetime) -> int:
        """Delete the deliveries of older events, with their tries; return how many."""
        tries = Owned(delivery_tries.c.delivery_id, deliveries.c.id)
        return await delete_old(self._database, deliveries.c.at, before, owned=tries)


async def _claim(
    connection: AsyncConnection, endpoint: Endpoint, share: int, owner: str, now: datetime
) -> Sequence[Delivery]:
    """Claim pings, then events where the endpoint is active."""
    asked = {**_at(now), "endpoint": endpoint.id, "owner": owner, "until": now + CLAIM}
    held = (await connection.execute(_HELD, asked)).scalar_one()
    most, found = min(share, MOST_OF_ENDPOINT - held), list[Delivery]()
    for pings in (True, False):
        if len(found) < most and (pings or endpoint.state is EndpointState.ACTIVE):
            given = {**asked, "pings": pings, "most": most - len(found)}
            found += map(_delivery, (await connection.execute(_CLAIM, given)).all())
    wanted = [each for each in found if _is_told(endpoint, each)]
    if len(wanted) < len(found):
        late = [each.id for each in found if each not in wanted]
        narrowed = or_(_D.id.in_(late), and_(_FREE, _is_not_told(endpoint)))
        dropped = update(deliveries).where(
            _WAITING, _EVENT, _D.endpoint_id == endpoint.id, narrowed
        )
        await connection.execute(dropped.values(_DROPPED), {**_at(now), "ended": now})
    return wanted


def _is_told(endpoint: Endpoint, delivery: Delivery) -> bool:
    """Return whether the endpoint, as it is now, wants an event; see the trigger."""
    types, accounts = endpoint.types, endpoint.account_ids
    return delivery.is_ping or (
        (not types or delivery.type in types) and (not accounts or delivery.account_id in accounts)
    )


def _is_not_told(endpoint: Endpoint) -> ColumnElement[bool]:
    types, accounts = endpoint.types, endpoint.account_ids
    return or_(
        _D.type.not_in(types) if types else false(),
        _D.account_id.not_in(accounts) if accounts else false(),
    )


async def _composed(connection: AsyncConnection, found: Sequence[Delivery]) -> Sequence[Delivery]:
    """Give bodies to deliveries that were never sent; they are stored, and never written again."""
    composed = [each if each.body is not None else _with_body(each) for each in found]
    new = [
        {"of_id": each.id, "new_body": each.body}
        for each, before in zip(composed, found, strict=True)
        if before.body is None
    ]
    if new:
        await connection.execute(_COMPOSE, new)
    return composed


def _with_body(delivery: Delivery) -> Delivery:
    return replace(delivery, body=body_of(delivery))


def _ended(result: Result) -> Mapping[str, Any]:
    """Return the parameters of the statements that note a try."""
    claimed, outcome = result.claimed, result.outcome
    return {
        "of_id": claimed.id,
        "of_owner": claimed.claimed_by,
        "of_until": claimed.claimed_until,
        "try_at": outcome.at,
        "try_status": outcome.status,
        "try_failure": outcome.failure.value,
        "try_ms": outcome.ms,
        "new_state": result.state.value,
        "new_next_at": result.next_at,
        "new_ended_at": None if result.state is DeliveryState.WAITING else outcome.at,
    }


def _again(now: datetime) -> Mapping[str, Any]:
    """Return the values of a delivery that begins anew; its tries stay on record."""
    return {
        "state": DeliveryState.WAITING.value,
        "tries_before": deliveries.c.tries,
        "next_at": now,
        "ended_at": None,
        "claimed_by": None,
        "claimed_until": None,
    }


def _of(wanted: DeliverySearch) -> Conditions:
    conditions: list[ColumnElement[bool]] = []
    for name in ("endpoint_id", "company_id", "account_id", "event_id", "type"):
        value = getattr(wanted, name)
        if value is not None:
            conditions.append(_D[name] == value)
    if wanted.state is not None:
        conditions.append(_D.state == wanted.state.value)
    if wanted.since is not None:
        conditions.append(_D.at >= wanted.since)
    if wanted.until is not None:
        conditions.append(_D.at < wanted.until)
    return tuple(conditions)


def _last_try(row: Record) -> DeliveryTry | None:
    if row.try_number is None:
        return None
    return _try(row.try_number, row.try_at, row.try_status, row.try_failure, row.try_ms)


def _try(number: int, at: datetime, status: int | None, failure: str, ms: int) -> DeliveryTry:
    return DeliveryTry(
        number=number,
        at=at,
        status=UNSET if status is None else status,
        failure=TryFailure(failure),
        ms=ms,
    )


def _at(now: datetime) -> Mapping[str, datetime]:
    return {"at_now": now, "ahead": now + _AHEAD}


_delivery = partial(from_row, kind=Delivery)
_endpoint = partial(from_row, kind=Endpoint)
