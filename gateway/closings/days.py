"""The days of all accounts together: what differs, one act for all that do not, and the month."""

from __future__ import annotations

import hashlib
from calendar import monthrange
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from enum import StrEnum
from typing import Final

import msgspec
from sqlalchemy import (
    ColumnElement,
    FromClause,
    Select,
    and_,
    case,
    func,
    literal,
    or_,
    select,
    union_all,
)
from sqlalchemy.ext.asyncio.engine import AsyncConnection

from gateway.audit import store as audit_log
from gateway.closings.model import Closing
from gateway.closings.readings import DayReading, Problem, at_day, existed, read_reading
from gateway.closings.signatures import events_of, locked, locked_event, locking, sign
from gateway.core.access import Staff, requires
from gateway.core.audit import AuditEvent
from gateway.core.audit_context import RuleViolation
from gateway.core.exports import Exports
from gateway.core.permissions import Action
from gateway.core.rights import Area
from gateway.store.kernel.database import Database
from gateway.store.tables.columns import Record
from gateway.store.tables.core import accounts, day_closings, day_readings
from gateway.store.tables.scope import of_company

WINDOW: Final = timedelta(days=31)
"""Days up to the chosen one that are shown, signed and locked together: a month's close."""
TOGETHER: Final = 200
"""Days that one act signs or locks: one transaction of a second or so."""
_LISTED: Final = 100
_MONTH_ACCOUNTS: Final = 100
_READ: Final = day_readings.c
_SIGNED: Final = day_closings.c
_SUMMED: Final = ("credits", "debits", "fees", "returns")


class DayState(StrEnum):
    """
    How far a day of an account is.

    UNREAD: no answer of the bank yet. DIFFERS: something is not explained. CHANGED: not as it was
    signed. READY: nothing differs, and nobody has signed. NOT_OFFERED: the bank does not show what
    is needed.
    """

    UNREAD = "unread"
    DIFFERS = "differs"
    CHANGED = "changed"
    READY = "ready"
    SIGNED = "signed"
    LOCKED = "locked"
    NOT_OFFERED = "not_offered"


EXCEPTIONS: Final = (DayState.CHANGED, DayState.DIFFERS, DayState.UNREAD)
"""Days that need a person, or the bank."""
_SIGNED_BOTH_SIDES: Final = and_(_SIGNED.account_id == _READ.account_id, _SIGNED.day == _READ.day)
_WAS_READ: Final = _READ.read_at.is_not(None)
_AS_SIGNED: Final = or_(_READ.read_at.is_(None), _READ.digest == _SIGNED.digest)
_WITHOUT_DIFFERENCE: Final = and_(_READ.differences == 0, _READ.gap == 0)
_DIFFERS: Final = case(
    (and_(_READ.read_at.is_(None), _SIGNED.differences != 0), 1),
    (and_(_WAS_READ, or_(_READ.differences != 0, _READ.gap != 0)), 1),
    else_=0,
)
"""Without a reading, as the day was signed: before it was final, or long ago."""
_STATE: Final = case(
    (and_(_SIGNED.locked_at.is_not(None), _AS_SIGNED), DayState.LOCKED.value),
    (and_(_SIGNED.account_id.is_not(None), _AS_SIGNED), DayState.SIGNED.value),
    (_SIGNED.account_id.is_not(None), DayState.CHANGED.value),
    (and_(_WAS_READ, _WITHOUT_DIFFERENCE), DayState.READY.value),
    (_WAS_READ, DayState.DIFFERS.value),
    (_READ.problem == Problem.NOT_OFFERED.value, DayState.NOT_OFFERED.value),
    else_=DayState.UNREAD.value,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountDay:
    """
    A day of an account.

    Attributes:
        reading: None where no reading was tried.
    """

    account_id: str
    name: str
    day: date
    state: DayState
    reading: DayReading | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """
    Days that one act signs or locks.

    Attributes:
        count: How many they are.
        first, last: The oldest and the newest day; None without days.
        digest: Of all figures and lines; the act is refused where it is another one by then.
    """

    count: int = 0
    first: date | None = None
    last: date | None = None
    digest: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DaysSeen:
    """
    The days of accounts until one day, without the bank being asked.

    Attributes:
        counts: Of the day, by state.
        signed_with_difference: Accounts whose day was signed though it is not explained.
        exceptions: Of all days, oldest first, at most a hundred.
        earlier: Counts of the earlier days, newest first.
        to_sign, to_lock: What the reader may sign or lock by one act.
    """

    day: date
    counts: Mapping[DayState, int]
    signed_with_difference: int
    exceptions: Sequence[AccountDay]
    exceptions_in_all: int
    earlier: Sequence[tuple[date, Mapping[DayState, int]]]
    to_sign: Batch
    to_lock: Batch

    @property
    def accounts(self) -> int:
        """Accounts whose day is compared."""
        return sum(count for state, count in self.counts.items() if state != DayState.NOT_OFFERED)

    @property
    def reconciled(self) -> int:
        """Accounts whose day was read and needs no explanation."""
        done = (DayState.READY, DayState.SIGNED, DayState.LOCKED)
        return sum(self.counts.get(each, 0) for each in done) - self.signed_with_difference


@dataclass(frozen=True, slots=True, kw_only=True)
class DaysDone:
    """
    Days that a person has just signed or locked.

    Attributes:
        first, last: The oldest and the newest day.
        accounts: Their names, each once, by name.
    """

    signed: int
    locked: int
    first: date
    last: date
    accounts: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class MonthRow:
    """
    The sums of a month of an account, or of all of them, in centavos.

    Attributes:
        account_id: Empty for all of them.
        opening, closing: Of the first and the last day that was read; None for all accounts.
        days, locked: Days that were read, and days that are locked.
    """

    account_id: str = ""
    name: str = ""
    opening: int | None = None
    credits: int = 0
    debits: int = 0
    fees: int = 0
    returns: int = 0
    closing: int | None = None
    days: int = 0
    locked: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class MonthSums:
    """
    The sums of a month.

    Attributes:
        accounts: Their number; ``rows`` are the first hundred by name.
    """

    first: date
    rows: Sequence[MonthRow]
    total: MonthRow
    accounts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosingDays:
    """
    The days of all accounts in a company scope, by what was read of them.

    Attributes:
        one_signature: The first signature locks a day without a difference.
    """

    database: Database
    exports: Exports
    one_signature: bool = False
    together: int = field(default=TOGETHER)

    @requires(Area.TRANSACTION, Action.READ)
    async def of(self, who: Staff, day: date) -> DaysSeen:
        """
        Return the days of accounts until a day, exceptions first.

        Raises:
            ServiceError: ``SVC.GTW.005`` (429) as ``Exports.show``.
        """
        before = _between(who, _first(day), day - timedelta(days=1), accounts.c.active)
        read = union_all(_of_day(who, day), before).subquery()
        days: dict[date, Counter[DayState]] = {day: Counter()}
        with_difference: Counter[tuple[date, DayState]] = Counter()
        async with self.database.reading() as connection:
            for row in await connection.execute(_counted(read)):
                days.setdefault(row.day, Counter())[DayState(row.state)] = row.accounts
                with_difference[row.day, DayState(row.state)] = int(row.with_difference)
            exceptions = (await connection.execute(_exceptions(read))).all()
            to_sign = _batch((await connection.execute(self._to_sign(who, day))).all())
            to_lock = _batch((await connection.execute(self._to_lock(who, day))).all())
        found = [_account_day(row) for row in exceptions]
        in_all = sum(each[state] for each in days.values() for state in EXCEPTIONS)
        await self.exports.show(who, sum(len(each.reading.lines) for each in found if each.reading))
        return DaysSeen(
            day=day,
            counts=days.pop(day),
            signed_with_difference=with_difference[day, DayState.SIGNED]
            + with_difference[day, DayState.LOCKED],
            exceptions=found,
            exceptions_in_all=in_all,
            earlier=sorted(days.items(), reverse=True),
            to_sign=to_sign,
            to_lock=to_lock,
        )

    @requires(Area.REVIEW, Action.WRITE)
    async def sign(self, who: Staff, day: date, digest: str) -> int:
        """
        Sign all days until a day that differ in nothing, as they were shown.

        Returns:
            Their number.

        Raises:
            RuleViolation: a day is not as it was shown any more; none was signed.
        """
        events: list[AuditEvent] = []
        async with self.database.writing() as connection:
            rows = await self._as_shown(connection, self._to_sign(who, day), digest)
            for row in rows:
                made = _closing(row, who)
                if self.one_signature and not row.differing:
                    made = locked(made)
                if not await sign(self.database, connection, made):
                    raise _changed()
                events += events_of(who, made)
            await audit_log.append(connection, *events)
        return len(rows)

    @requires(Area.REVIEW, Action.WRITE)
    async def lock(self, who: Staff, day: date, digest: str) -> int:
        """
        Lock all days until a day that others signed, that are as signed and differ in nothing.

        Returns:
            Their number.

        Raises:
            RuleViolation: a day is not as it was shown any more; none was locked.
        """
        async with self.database.writing() as connection:
            rows = await self._as_shown(connection, self._to_lock(who, day), digest)
            for row in rows:
                statement = locking(who, row.account_id, row.day, row.digest)
                if not (await connection.execute(statement)).rowcount:
                    raise _changed()
            events = [locked_event(who, row.account_id, row.day) for row in rows]
            await audit_log.append(connection, *events)
        return len(rows)

    @requires(Area.REVIEW, Action.WRITE)
    async def done(self, who: Staff, day: date, since: datetime) -> DaysDone | None:
        """Return the days until a day that you have signed or locked since an instant."""
        signed = and_(_SIGNED.signed_by == who.acting.actor, _SIGNED.signed_at >= since)
        locking = and_(_SIGNED.locked_by == who.acting.actor, _SIGNED.locked_at >= since)
        wanted = (
            select(
                accounts.c.name,
                _SIGNED.day,
                case((signed, 1), else_=0).label("signed"),
                case((locking, 1), else_=0).label("locked"),
            )
            .join(accounts, accounts.c.id == _SIGNED.account_id)
            .where(
                *of_company(accounts.c.company_id, who.scope),
                _SIGNED.day >= _first(day),
                _SIGNED.day <= day,
                or_(signed, locking),
            )
        )
        rows = await self.database.rows(wanted)
        if not rows:
            return None
        return DaysDone(
            signed=sum(row.signed for row in rows),
            locked=sum(row.locked for row in rows),
            first=min(row.day for row in rows),
            last=max(row.day for row in rows),
            accounts=sorted({row.name for row in rows}),
        )

    @requires(Area.TRANSACTION, Action.READ)
    async def month(self, who: Staff, first: date) -> MonthSums:
        """Return the sums of the month that begins with a day, of the days that were read."""
        read = _between(who, first, last_of_month(first)).subquery()
        is_locked = case((read.c.state == DayState.LOCKED.value, 1), else_=0)
        sums = [
            func.count().label("days"),
            func.sum(is_locked).label("locked"),
            *(func.sum(read.c[name]).label(name) for name in _SUMMED),
        ]
        was_read = read.c.read_at.is_not(None)
        number = func.count(func.distinct(read.c.account_id)).label("accounts")
        async with self.database.reading() as connection:
            total = (await connection.execute(select(number, *sums).where(was_read))).one()
            rows = (await connection.execute(_by_account(read, sums, was_read))).all()
        return MonthSums(
            first=first,
            rows=[
                _month_row(
                    row,
                    account_id=row.account_id,
                    name=row.name,
                    opening=row.opening,
                    closing=row.closing,
                )
                for row in rows
            ],
            total=_month_row(total),
            accounts=total.accounts,
        )

    async def _as_shown(
        self, connection: AsyncConnection, wanted: Select[*tuple[object, ...]], digest: str
    ) -> Sequence[Record]:
        """Read the days of an act, held until it ends; refuse others than those that were shown."""
        rows = (await connection.execute(wanted.with_for_update(of=day_readings))).all()
        if not rows or _digest_of(rows) != digest:
            raise _changed()
        return rows

    def _to_sign(self, who: Staff, day: date) -> Select[*tuple[object, ...]]:
        return self._of_act(who, day, DayState.READY)

    def _to_lock(self, who: Staff, day: date) -> Select[*tuple[object, ...]]:
        theirs = (_SIGNED.signed_by != who.acting.actor, _WAS_READ, _WITHOUT_DIFFERENCE)
        return self._of_act(who, day, DayState.SIGNED).where(*theirs)

    def _of_act(self, who: Staff, day: date, state: DayState) -> Select[*tuple[object, ...]]:
        """Select the days of an act, oldest first."""
        return (
            select(day_readings)
            .join(accounts, accounts.c.id == _READ.account_id)
            .outerjoin(day_closings, _SIGNED_BOTH_SIDES)
            .where(
                *of_company(accounts.c.company_id, who.scope),
                _READ.day >= _first(day),
                _READ.day <= day,
                _STATE.in_([state.value]),
            )
            .order_by(_READ.day, _READ.account_id)
            .limit(self.together)
        )


async def ready_companies(database: Database, day: date) -> frozenset[str]:
    """Return the companies with an account whose day can be signed: nothing differs in it."""
    wanted = (
        select(accounts.c.company_id)
        .select_from(
            day_readings.join(accounts, accounts.c.id == _READ.account_id).outerjoin(
                day_closings, _SIGNED_BOTH_SIDES
            )
        )
        .where(_READ.day == day, _STATE.in_([DayState.READY.value]))
        .distinct()
    )
    return frozenset(row.company_id for row in await database.rows(wanted))


def _first(day: date) -> date:
    """Return the first day that is shown and signed together with a day."""
    return day - WINDOW + timedelta(days=1)


def last_of_month(first: date) -> date:
    """Return the last day of the month that begins with a day."""
    return first.replace(day=monthrange(first.year, first.month)[1])


def _of_day(who: Staff, day: date) -> Select[*tuple[object, ...]]:
    """Select all active accounts with a bank, and how far a day of them is."""
    return (
        select(
            accounts.c.id.label("account_id"),
            accounts.c.name,
            literal(day, _READ.day.type).label("day"),
            _STATE.label("state"),
            _DIFFERS.label("differs"),
            *_reading_columns(),
        )
        .select_from(
            accounts.outerjoin(day_readings, at_day(day)).outerjoin(
                day_closings, and_(_SIGNED.account_id == accounts.c.id, _SIGNED.day == day)
            )
        )
        .where(
            *of_company(accounts.c.company_id, who.scope),
            accounts.c.active,
            accounts.c.provider != "",
            existed(day),
        )
    )


def _between(
    who: Staff, first: date, last: date, *conditions: ColumnElement[bool]
) -> Select[*tuple[object, ...]]:
    """Select the days of accounts that were tried, and how far they are."""
    return (
        select(
            _READ.account_id,
            accounts.c.name,
            _READ.day,
            _STATE.label("state"),
            _DIFFERS.label("differs"),
            *_reading_columns(),
        )
        .select_from(
            day_readings.join(accounts, accounts.c.id == _READ.account_id).outerjoin(
                day_closings, _SIGNED_BOTH_SIDES
            )
        )
        .where(
            *of_company(accounts.c.company_id, who.scope),
            *conditions,
            _READ.day >= first,
            _READ.day <= last,
        )
    )


def _reading_columns() -> Sequence[ColumnElement[object]]:
    return [each for each in _READ if each.name not in {"account_id", "day"}]


def _counted(read: FromClause) -> Select[*tuple[object, ...]]:
    key = read.c.day, read.c.state
    differing = func.sum(read.c.differs).label("with_difference")
    counted = func.count().label("accounts"), differing
    return select(*key, *counted).group_by(*key)


def _exceptions(read: FromClause) -> Select[*tuple[object, ...]]:
    return (
        select(read)
        .where(read.c.state.in_([each.value for each in EXCEPTIONS]))
        .order_by(read.c.day, read.c.name, read.c.account_id)
        .limit(_LISTED)
    )


def _by_account(
    read: FromClause, sums: Sequence[ColumnElement[object]], was_read: ColumnElement[bool]
) -> Select[*tuple[object, ...]]:
    """Select the sums of each account, and its balances before and after its days."""
    key = read.c.account_id, read.c.name
    ends = func.min(read.c.day).label("first"), func.max(read.c.day).label("last")
    summed = select(*key, *sums, *ends).where(was_read).group_by(*key).subquery()
    balances = (
        select(column)
        .where(_READ.account_id == summed.c.account_id, _READ.day == day)
        .scalar_subquery()
        .label(column.name)
        for column, day in ((_READ.opening, summed.c.first), (_READ.closing, summed.c.last))
    )
    return (
        select(summed, *balances)
        .order_by(summed.c.name, summed.c.account_id)
        .limit(_MONTH_ACCOUNTS)
    )


def _account_day(row: Record) -> AccountDay:
    return AccountDay(
        account_id=row.account_id,
        name=row.name,
        day=row.day,
        state=DayState(row.state),
        reading=None if row.tried_at is None else read_reading(row),
    )


def _batch(rows: Sequence[Record]) -> Batch:
    if not rows:
        return Batch()
    return Batch(count=len(rows), first=rows[0].day, last=rows[-1].day, digest=_digest_of(rows))


def _digest_of(rows: Sequence[Record]) -> str:
    """Digest which days they are, and each one's own digest."""
    parts = [(row.account_id, row.day, row.digest) for row in rows]
    return hashlib.sha256(msgspec.json.encode(parts)).hexdigest()


def _closing(row: Record, who: Staff) -> Closing:
    reading = read_reading(row)
    fields = {
        name: getattr(reading, name)
        for name in Closing.__struct_fields__
        if name in DayReading.__struct_fields__
    }
    return Closing(**fields, signed_by=who.acting.actor, signed_at=who.acting.now())


def _month_row(row: Record, **more: object) -> MonthRow:
    sums = {name: int(getattr(row, name) or 0) for name in (*_SUMMED, "days", "locked")}
    return MonthRow(**{**sums, **more})  # type: ignore[arg-type]


def _changed() -> RuleViolation:
    message = "a day is not as it was shown: read the page again"
    return RuleViolation(message, "closing_changed", field="day")
