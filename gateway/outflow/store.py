"""The outflow guard's store: payouts, hours of history, payees, trips."""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Container, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final, NamedTuple, TypeVar

from sqlalchemy import (
    BindParameter,
    Column,
    ColumnElement,
    Select,
    TextClause,
    Update,
    bindparam,
    delete,
    exists,
    func,
    or_,
    select,
    tuple_,
    union,
    union_all,
    update,
)
from sqlalchemy.ext.asyncio.engine import AsyncConnection

from gateway.core.company_scope import CompanyScope, StopScope
from gateway.core.windows import LOCAL, Listed, Paging
from gateway.outflow.envelope import HISTORY_DAYS, Figures, History, Hour
from gateway.outflow.model import Trip
from gateway.payouts.model import MAY_MOVE_MONEY
from gateway.stops.model import GUARD, EndedStop
from gateway.store.kernel.database import Database, page
from gateway.store.kernel.structs import from_row, row_of
from gateway.store.tables.columns import Record, instant_unseen
from gateway.store.tables.core import (
    SENT_AGAIN,
    accounts,
    attempts,
    companies,
    credentials,
    payouts,
    stops,
)
from gateway.store.tables.figures import (
    outflow_hours,
    outflow_payees,
    outflow_progress,
    outflow_trips,
)
from gateway.store.tables.scope import of_company

HOUR: Final = timedelta(hours=1)
KEPT: Final = timedelta(days=HISTORY_DAYS + 2)
PAYEES_KEPT: Final = timedelta(days=400)
"""After they were last paid: who is paid once a year stays known."""
_LAST_TO: Final = timedelta(days=7)
"""How exactly it is kept when a payee was last paid, so that few rows are written."""
_AT_ONCE: Final = 500
"""Values in one statement, of which SQLite takes some thousands; and payouts in one part."""
_OPEN: Final = timedelta(minutes=10)
"""After it was last seen outside, for a subject that is watched: it may pay out little now."""
_LISTED: Final = 20
_TRIPS: Final = outflow_trips.c
_COUNTS: Final = ("payouts", "centavos", "new_payouts", "new_centavos")
_FIRST_DAY: Final = datetime(1970, 1, 5).toordinal()  # noqa: DTZ001 - a day alone
"""A Monday: hours are counted from its midnight."""


class Subject(NamedTuple):
    """A credential, account or company, by its id."""

    scope: StopScope
    id: str


Value = TypeVar("Value")
Payee = tuple[str, bytes]
"""A company's id and the digest of a payee of it."""
Key = tuple[str, bytes, int]
"""Of a payout in the store: its account, the digest of its reference, and its attempt, from 1."""


class Payout(NamedTuple):
    """
    A payout that may have moved money, as the guard reads it.

    Attributes:
        at: When it was ordered, or sent again: one that was not sent counts where it is repeated.
        credential: Empty where a person ordered it.
        payee: A digest of where the money goes.
    """

    key: Key
    at: datetime
    centavos: int
    company: str
    account: str
    credential: str
    payee: bytes

    @property
    def company_payee(self) -> Payee:
        """Return whom the company pays."""
        return self.company, self.payee

    @property
    def subjects(self) -> Sequence[Subject]:
        """Return whose payout it is, the narrowest first."""
        own = [Subject(StopScope.CREDENTIAL, self.credential)] if self.credential else []
        return [
            *own,
            Subject(StopScope.ACCOUNT, self.account),
            Subject(StopScope.COMPANY, self.company),
        ]


class OutflowRecords:
    """The guard's records; ``StoreUnavailable`` when the store does not answer."""

    def __init__(self, database: Database) -> None:
        self.database = database

    async def payouts(
        self,
        since: datetime,
        until: datetime,
        company: str | None = None,
        without: Container[Key] = (),
    ) -> AsyncIterator[Sequence[Payout]]:
        """
        Yield payouts that may have moved money by when they were ordered or sent again.

        The oldest come first.

        They come in parts, between which the loop has a turn.

        Args:
            since: The first instant.
            until: The instant after the last one.
            company: Whose payouts; None for everybody's.
            without: Keys of payouts that are left out.
        """
        wanted = _payouts(company)
        last: tuple[datetime, str, bytes] = since, "", b""
        while True:
            after = dict(zip(_LAST, last, strict=True))
            rows = await self.database.rows(wanted, {**after, "until": until})
            yield [_payout(row) for row in rows if _key(row) not in without]
            if len(rows) < _AT_ONCE:
                return
            last = rows[-1].at, rows[-1].account_id, rows[-1].reference_sha256

    async def first_paid(self, payees: Iterable[Payee]) -> Mapping[Payee, datetime]:
        """Return since when these payees are paid, without those never paid before."""
        found: dict[Payee, datetime] = {}
        for company, digests in _by_company(payees).items():
            for some in _parts(sorted(digests)):
                known = select(outflow_payees.c.payee, outflow_payees.c.first_at).where(
                    outflow_payees.c.company_id == company, outflow_payees.c.payee.in_(some)
                )
                for row in await self.database.rows(known):
                    found[company, row.payee] = row.first_at
        return found

    async def until(self) -> datetime | None:
        """Return the end of the last hour of the history; None before the first one."""
        row = await self.database.first(select(outflow_progress.c.until))
        return None if row is None else row.until

    async def oldest(self, since: datetime) -> datetime | None:
        """Return when the first payout from an instant on was created."""
        created = payouts.c.created_at
        first = select(created).where(created >= since).order_by(created).limit(1)
        row = await self.database.first(first)
        return None if row is None else row.created_at

    async def add_hour(
        self,
        hour: datetime,
        figures: Mapping[Subject, Hour],
        payees: Mapping[Payee, datetime],
        before: datetime | None,
        again: Iterable[Payee] = (),
    ) -> bool:
        """
        Add an hour to the history; safe to repeat, and beside another process.

        Args:
            hour: Its beginning.
            figures: The amounts paid out by each subject.
            payees: Those paid for the first time, and when.
            before: The end of the history until now.
            again: Those who were paid before, too.

        Returns:
            False when another process was first.
        """
        async with self.database.writing() as connection:
            row = {"one": 1, "until": hour + HOUR}
            if before is None:
                if not await self.database.add(connection, outflow_progress, row):
                    return False
            else:
                on = update(outflow_progress).where(outflow_progress.c.until == before)
                if not (await connection.execute(on.values(until=hour + HOUR))).rowcount:
                    return False
            known = [
                {"company_id": company, "payee": payee, "first_at": at, "last_at": at}
                for (company, payee), at in payees.items()
            ]
            hours = [_hour_row(subject, hour, each) for subject, each in figures.items()]
            for table, rows in ((outflow_payees, known), (outflow_hours, hours)):
                for some in _parts(rows):
                    await connection.execute(self.database.insert_new(table), some)
            for company, digests in _by_company(again).items():
                for part in _parts(sorted(digests)):
                    await connection.execute(_paid_again(company, part, hour))
        return True

    async def skip_to(self, until: datetime, before: datetime | None) -> bool:
        """Begin or continue the history at an instant before which there are no payouts."""
        return await self.add_hour(until - HOUR, {}, {}, before)

    async def history(self, subject: Subject, since: datetime) -> History:
        """Return a subject's hours from an instant on."""
        return History([_hour(row) for row in await self.database.rows(_hours(subject, since))])

    async def hours(self, subject: Subject, since: datetime) -> Sequence[tuple[datetime, Figures]]:
        """Return a subject's hours with their beginning."""
        rows = await self.database.rows(_hours(subject, since))
        return [(row.hour, _figures(row)) for row in rows]

    async def stops(self, since: datetime, now: datetime) -> Sequence[EndedStop]:
        """Return the guard's stops that are in force, or ended after an instant."""
        ended = func.coalesce(stops.c.lifted_at, stops.c.ends_at)
        wanted = select(stops).where(
            stops.c.created_by == GUARD,
            or_(ended >= since, stops.c.lifted_at.is_(None) & (stops.c.ends_at > now)),
        )
        return [from_row(row, EndedStop) for row in await self.database.rows(wanted)]

    async def trip(self, connection: AsyncConnection, trip: Trip) -> None:
        """Store a trip of the guard."""
        await self.database.add(connection, outflow_trips, row_of(trip))

    async def seen(self, trip_id: str, at: datetime) -> None:
        """Note that a subject is outside still."""
        again = update(outflow_trips).where(_TRIPS.id == trip_id).values(seen_at=at)
        await self.database.write(again)

    async def tripped(self, since: datetime) -> Sequence[Trip]:
        """Return the trips of subjects that were seen outside from an instant on."""
        wanted = select(outflow_trips).where(_TRIPS.at >= since - HOUR, _TRIPS.seen_at >= since)
        return [from_row(row, Trip) for row in await self.database.rows(wanted)]

    async def page(self, scope: CompanyScope, paging: Paging) -> Listed[Trip]:
        """Return the trips of companies in scope, newest first."""
        wanted = (
            select(outflow_trips)
            .where(*of_company(_TRIPS.company_id, scope))
            .order_by(_TRIPS.at.desc(), _TRIPS.id)
        )
        return await page(self.database, wanted, paging, partial(from_row, kind=Trip))

    async def trips(self, subject: Subject) -> Sequence[Trip]:
        """Return the last trips of a subject, newest first."""
        wanted = (
            select(outflow_trips)
            .where(_TRIPS.scope == subject.scope.value, _TRIPS.subject == subject.id)
            .order_by(_TRIPS.at.desc(), _TRIPS.id)
            .limit(_LISTED)
        )
        return [from_row(row, Trip) for row in await self.database.rows(wanted)]

    async def company_of(self, subject: Subject) -> str | None:
        """Return the company of a subject; None where there is no such subject."""
        row = await self.database.first(_OWNERS[subject.scope], {"id": subject.id})
        return None if row is None else row.company_id

    async def forget(self, before: datetime) -> int:
        """Delete hours before an instant; return the number."""
        return await self.database.write(delete(outflow_hours).where(outflow_hours.c.hour < before))

    async def forget_payees(self, before: datetime) -> int:
        """Delete payees who were last paid before an instant; return the number."""
        old = delete(outflow_payees).where(outflow_payees.c.last_at < before)
        return await self.database.write(old)


def local_hour(at: datetime) -> int:
    """Count the hours of the local calendar from a Monday's midnight."""
    local = at.astimezone(LOCAL)
    return (local.toordinal() - _FIRST_DAY) * 24 + local.hour


def _bound(name: str, column: Column[Any]) -> BindParameter[Any]:
    return bindparam(name, type_=column.type)


_LAST: Final = ("since", "account_id", "reference_sha256")
_OWN_ATTEMPT: Final = (
    attempts.c.account_id == payouts.c.account_id,
    attempts.c.reference_sha256 == payouts.c.reference_sha256,
    attempts.c.number == payouts.c.attempt,
)


def _payouts(company: str | None) -> Select[*tuple[Any, ...]]:
    """Select a part of the payouts by when they were ordered, or sent again."""
    once = _part(payouts.c.created_at, payouts.c.attempt <= 1)
    again = _part(attempts.c.started_at, SENT_AGAIN, *_OWN_ATTEMPT)
    if company is not None:
        once = once.where(accounts.c.company_id == company)
        # An expression, so that SQLite begins with the few attempts and not with the company.
        again = again.where(accounts.c.company_id.concat("") == company)
    both = union_all(*(select(each.subquery()) for each in (once, again))).subquery()
    place = (both.c.at, both.c.account_id, both.c.reference_sha256)
    return select(both).order_by(*place).limit(_AT_ONCE)


def _part(
    at: Column[Any], *conditions: ColumnElement[bool] | TextClause
) -> Select[*tuple[Any, ...]]:
    """Select a part by one instant, to which an index leads."""
    place = (at, payouts.c.account_id, payouts.c.reference_sha256)
    last = (bindparam(name, type_=each.type) for name, each in zip(_LAST, place, strict=True))
    return (
        select(
            payouts.c.account_id,
            payouts.c.reference_sha256,
            payouts.c.attempt,
            at.label("at"),
            payouts.c.centavos,
            payouts.c.destination,
            accounts.c.company_id,
            credentials.c.client_id,
        )
        .join(accounts, accounts.c.id == payouts.c.account_id)
        .join(credentials, credentials.c.client_id == payouts.c.client_id, isouter=True)
        .where(
            instant_unseen(_bound("since", at)) <= at,
            instant_unseen(_bound("until", at)) > at,
            tuple_(*place) > tuple_(*last),
            payouts.c.state.in_(sorted(MAY_MOVE_MONEY)),
            *conditions,
        )
        .order_by(*place)
        .limit(_AT_ONCE)
    )


_ID: Final[BindParameter[str]] = bindparam("id")
_OWNERS: Final[Mapping[StopScope, Select[*tuple[Any, ...]]]] = {
    StopScope.CREDENTIAL: select(credentials.c.company_id).where(credentials.c.client_id == _ID),
    StopScope.ACCOUNT: select(accounts.c.company_id).where(accounts.c.id == _ID),
    StopScope.COMPANY: select(companies.c.id.label("company_id")).where(companies.c.id == _ID),
}


def destination_digest(destination: str) -> bytes:
    """Return a digest of where money goes: of a stored destination without the payee's name."""
    fields = json.loads(destination)
    fields.pop("name", None)
    return hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).digest()[:16]


def _key(row: Record) -> Key:
    # What is held has no attempt yet; it was judged when it was ordered.
    return row.account_id, row.reference_sha256, max(row.attempt, 1)


def _payout(row: Record) -> Payout:
    return Payout(
        key=_key(row),
        at=row.at,
        centavos=row.centavos,
        company=row.company_id,
        account=row.account_id,
        credential=row.client_id or "",
        payee=destination_digest(row.destination),
    )


def _hours(subject: Subject, since: datetime) -> Select[Any]:
    return (
        select(outflow_hours)
        .where(
            outflow_hours.c.scope == subject.scope.value,
            outflow_hours.c.subject == subject.id,
            outflow_hours.c.hour >= since,
        )
        .order_by(outflow_hours.c.hour)
    )


def _hour_row(subject: Subject, at: datetime, hour: Hour) -> Mapping[str, object]:
    figures = {name: getattr(hour.whole, name) for name in _COUNTS}
    peaks = {f"peak_{name}": getattr(hour.peak, name) for name in _COUNTS}
    amounts = json.dumps(hour.amounts, sort_keys=True)
    key = {"scope": subject.scope.value, "subject": subject.id, "hour": at}
    return {**key, **figures, **peaks, "amounts": amounts}


def _hour(row: Record) -> Hour:
    amounts = {int(step): number for step, number in json.loads(row.amounts).items()}
    peak = Figures(*(getattr(row, f"peak_{name}") for name in _COUNTS))
    return Hour(local_hour(row.hour), _figures(row), peak, Counter(amounts))


def _figures(row: Record) -> Figures:
    return Figures(*(getattr(row, name) for name in _COUNTS))


def _by_company(payees: Iterable[Payee]) -> Mapping[str, AbstractSet[bytes]]:
    found: defaultdict[str, set[bytes]] = defaultdict(set)
    for company, payee in payees:
        found[company].add(payee)
    return found


def _paid_again(company: str, digests: Sequence[bytes], at: datetime) -> Update:
    """Note when payees were last paid, where that is a week ago."""
    return (
        update(outflow_payees)
        .where(
            outflow_payees.c.company_id == company,
            outflow_payees.c.payee.in_(digests),
            outflow_payees.c.last_at < at - _LAST_TO,
        )
        .values(last_at=at)
    )


def _parts(values: Sequence[Value]) -> Iterable[Sequence[Value]]:
    return (values[at : at + _AT_ONCE] for at in range(0, len(values), _AT_ONCE))


async def open_now(database: Database, now: datetime) -> Sequence[Trip]:
    """Return the last day's trips that are outside still, or whose stop is in force."""
    in_force = exists().where(
        stops.c.id == _TRIPS.stop_id, stops.c.lifted_at.is_(None), stops.c.ends_at > now
    )
    outside = _TRIPS.stop_id.is_(None) & (_TRIPS.seen_at > now - _OPEN)
    wanted = select(outflow_trips).where(
        _TRIPS.at >= now - timedelta(days=1), or_(outside, in_force)
    )
    rows = await database.rows(wanted.order_by(_TRIPS.at, _TRIPS.id))
    return [from_row(row, Trip) for row in rows]


async def open_trips(database: Database, now: datetime) -> Mapping[str, int]:
    """Count the subjects that are outside, or stopped by the guard, by scope."""
    outside = select(_TRIPS.scope, _TRIPS.subject).where(
        _TRIPS.at >= now - timedelta(days=1), _TRIPS.seen_at > now - _OPEN, _TRIPS.stop_id.is_(None)
    )
    stopped = select(stops.c.scope, stops.c.subject).where(
        stops.c.created_by == GUARD, stops.c.lifted_at.is_(None), stops.c.ends_at > now
    )
    found: Counter[str] = Counter()
    for scope, _ in await database.rows(union(outside, stopped)):
        found[scope] += 1
    return found
