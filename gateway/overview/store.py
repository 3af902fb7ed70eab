"""Figures of payouts by hour and open items, within a company scope."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    ColumnCollection,
    ColumnElement,
    Select,
    and_,
    case,
    cast,
    false,
    func,
    insert,
    literal,
    not_,
    or_,
    select,
    tuple_,
    union_all,
)

from gateway.core.access import Staff
from gateway.core.approvals import COLLECTED_WITHIN
from gateway.core.company_scope import CompanyScope
from gateway.core.money import Sum
from gateway.credentials.store import is_live, without_limits, without_rule
from gateway.overview.model import (
    ENDS_SOON,
    HOUR,
    SETTLED_WITHIN_S,
    Attention,
    HourFigures,
    Need,
    Span,
)
from gateway.payouts.certainty import CERTAINTY
from gateway.payouts.model import FINAL_STATES, Certainty, PayoutState
from gateway.store.kernel.database import Database
from gateway.store.own_work import collectable, decidable, ended, ends_soon, reviewable, waits
from gateway.store.tables.backoffice import approvals, callbacks
from gateway.store.tables.columns import Record
from gateway.store.tables.core import (
    PLANNED,
    UNRESOLVED,
    accounts,
    credentials,
    foreign_debits,
    payouts,
    returns,
    stops,
)
from gateway.store.tables.figures import HourOf, SecondsBetween, closed_hours, payout_hours
from gateway.store.tables.scope import of_account, of_company, stops_in

_TOOK: Final = SecondsBetween(payouts.c.created_at, payouts.c.settled_at)
_SETTLED_WITHIN: Final = case(
    (or_(payouts.c.settled_at.is_(None), payouts.c.state != PayoutState.PAID.value), -1),
    *((most >= _TOOK, place) for place, most in enumerate(SETTLED_WITHIN_S)),
    else_=len(SETTLED_WITHIN_S),
)
_MOVED: Final = func.coalesce(payouts.c.moved_centavos, payouts.c.centavos)
_AT_ONCE: Final = 24
_ALIKE: Final = ("hour", "state", "certainty", "settled_within")


class OverviewRecords:
    """Figures and open items, within a company scope."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def hours(self, span: Span, scope: CompanyScope) -> Sequence[HourFigures]:
        """Return the payouts created in a span: stored hours, and the others counted."""
        closed = await self._closed(span)
        remembered = _remembered(_runs(closed), scope)
        counted = _counted(_runs(_open_hours(span, closed)), scope)
        rows = await self._database.rows(union_all(remembered, counted))
        return [_figures(row) for row in rows]

    async def returned(self, span: Span, scope: CompanyScope) -> tuple[int, Sum]:
        """Return number and total of returns among payouts created in a span."""
        created = payouts.c.created_at
        each = (
            select(func.sum(returns.c.centavos).label("centavos"))
            .join(
                payouts,
                and_(
                    payouts.c.account_id == returns.c.account_id,
                    payouts.c.reference_sha256 == returns.c.reference_sha256,
                ),
            )
            .where(created >= span.since, created < span.until)
            .where(*of_account(payouts.c.account_id, scope))
            .group_by(returns.c.account_id, returns.c.reference_sha256)
            .subquery()
        )
        wanted = select(func.count().label("number"), _whole(each.c.centavos, "centavos"))
        [row] = await self._database.rows(wanted.select_from(each))
        return row.number, Sum(row.centavos)

    async def standing(self, who: Staff, now: datetime) -> Sequence[tuple[bool, Attention]]:
        """
        Return the open items at an instant, in one statement; zero counts are left out.

        With each, whether this person could decide it, or has ordered it.

        ``CALLBACKS_MISSING`` counts a provider's payouts of the last hour, where its bank reported
        us nothing unasked in it; whether it should have is not known here.
        """
        scope = who.scope
        wanted = union_all(
            *_open_payouts(who), *_waiting(who, now), *_own(who, now), *_callback_counts(scope, now)
        )
        rows = [row for row in await self._database.rows(wanted) if row.number]
        reported = {row.subject for row in rows if row.need == _CALLED_BACK}
        missing = Need.CALLBACKS_MISSING.value
        return [
            (bool(row.mine), _standing(row))
            for row in rows
            if row.need != _CALLED_BACK and not (row.need == missing and row.subject in reported)
        ]

    async def remember(self, span: Span) -> int:
        """Store the hours of a span that cannot change any more; return the number."""
        closed = await self._closed(span)
        still_open = set(await self._unresolved(span))
        ready = [each for each in _open_hours(span, closed) if each not in still_open]
        return sum([await self._close(part) for part in _days(_runs(ready))])

    async def _closed(self, span: Span) -> Sequence[datetime]:
        hour = closed_hours.c.hour
        wanted = select(hour).where(hour >= span.since, hour < span.until).order_by(hour)
        return [row.hour for row in await self._database.rows(wanted)]

    async def _unresolved(self, span: Span) -> Sequence[datetime]:
        """Return the hours with a payout that may stay open for days: they are not counted yet."""
        created = payouts.c.created_at
        within = (created >= span.since, created < span.until, UNRESOLVED)
        found = await self._database.rows(select(HourOf(created)).where(*within).distinct())
        return [hour for (hour,) in found]

    async def _close(self, part: Span) -> int:
        """Store hours, unless a payout is open or another process did; return the number."""
        rows = await self._database.rows(_by_company(part))
        still_open = {row.hour for row in rows if PayoutState(row.state) not in FINAL_STATES}
        over = [{"hour": each} for each in _open_hours(part, still_open)]
        if not over:
            return 0
        new = self._database.insert_new(closed_hours).returning(closed_hours.c.hour)
        async with self._database.writing() as connection:
            added = set((await connection.execute(new, over)).scalars())
            kept = [dict(row._mapping) for row in rows if row.hour in added]  # noqa: SLF001 - public by its documentation
            if kept:
                await connection.execute(insert(payout_hours), kept)
        return len(added)


_CALLED_BACK: Final = "called_back"
_CALLBACK_BY: Final = timedelta(minutes=10)
"""Banks tell within seconds, and again within minutes when they could not."""
Runs = Sequence[tuple[datetime, datetime]]
"""From and until, for hours that follow each other."""


def _open_hours(span: Span, closed: Iterable[datetime]) -> Sequence[datetime]:
    known, hours = set(closed), int((span.until - span.since) / HOUR)
    every = (span.since + number * HOUR for number in range(hours))
    return [each for each in every if each not in known]


def _runs(hours: Iterable[datetime]) -> Runs:
    found: list[tuple[datetime, datetime]] = []
    for hour in hours:
        if found and found[-1][1] == hour:
            found[-1] = (found[-1][0], hour + HOUR)
        else:
            found.append((hour, hour + HOUR))
    return found


def _days(runs: Runs) -> Iterable[Span]:
    """
    Cut runs into parts of a day at most.

    A new store has a month to remember: hour by hour that would be hundreds of transactions, each
    a wait for the disk; all at once, payouts would wait behind one.
    """
    for since, until in runs:
        for number in range(0, int((until - since) / HOUR), _AT_ONCE):
            begin = since + number * HOUR
            yield Span(begin, min(begin + _AT_ONCE * HOUR, until))


def _within(column: ColumnElement[Any], runs: Runs) -> ColumnElement[bool]:
    """Return the SQL condition for some hours; its outer bounds allow an index."""
    if not runs:
        return false()
    bounds = and_(column >= runs[0][0], column < runs[-1][1])
    return and_(bounds, or_(*(and_(column >= since, column < until) for since, until in runs)))


def _remembered(runs: Runs, scope: CompanyScope) -> Select[*tuple[Any, ...]]:
    kept = payout_hours.c
    alike = [kept[name] for name in _ALIKE]
    return (
        select(*alike, _whole(kept.payouts, "number"), *_sums(kept))
        .where(_within(kept.hour, runs), *of_company(kept.company_id, scope))
        .group_by(*alike)
    )


def _counted(runs: Runs, scope: CompanyScope) -> Select[*tuple[Any, ...]]:
    each = (
        select(
            HourOf(payouts.c.created_at).label("hour"),
            payouts.c.state,
            CERTAINTY,
            _SETTLED_WITHIN.label("settled_within"),
            payouts.c.centavos,
            _MOVED.label("moved_centavos"),
        )
        .where(_within(payouts.c.created_at, runs), *of_account(payouts.c.account_id, scope))
        .subquery()
    )
    alike = [each.c[name] for name in _ALIKE]
    counted = select(*alike, func.count().label("number"), *_sums(each.c))
    return counted.group_by(*alike)


def _by_company(span: Span) -> Select[*tuple[Any, ...]]:
    each = (
        select(
            HourOf(payouts.c.created_at).label("hour"),
            accounts.c.company_id,
            payouts.c.state,
            CERTAINTY,
            _SETTLED_WITHIN.label("settled_within"),
            payouts.c.centavos,
            _MOVED.label("moved_centavos"),
        )
        .join(accounts, accounts.c.id == payouts.c.account_id)
        .where(payouts.c.created_at >= span.since, payouts.c.created_at < span.until)
        .subquery()
    )
    alike = [each.c[name] for name in ("company_id", *_ALIKE)]
    counted = select(*alike, func.count().label("payouts"), *_sums(each.c))
    return counted.group_by(*alike)


def _sums(columns: ColumnCollection[str, Any]) -> Sequence[ColumnElement[int]]:
    return [_whole(columns[name], name) for name in ("centavos", "moved_centavos")]


def _whole(column: ColumnElement[Any], label: str) -> ColumnElement[int]:
    """Add up; PostgreSQL's sum of whole numbers is a decimal one."""
    return cast(func.coalesce(func.sum(column), 0), BigInteger).label(label)


def _open_payouts(who: Staff) -> Sequence[Select[*tuple[Any, ...]]]:
    """Count payouts with an unknown end, in review, and held."""
    own, mine = of_account(payouts.c.account_id, who.scope), reviewable(who)
    added, oldest = _whole(payouts.c.centavos, "value"), func.min(payouts.c.created_at)
    held = _line(Need.HELD, literal(""), added, func.min(payouts.c.held_until))
    # What has no end is planned to be looked at, and few are.
    is_planned = tuple_(payouts.c.account_id, payouts.c.reference_sha256).in_(PLANNED)
    is_held = (payouts.c.state == PayoutState.HELD.value, is_planned)
    return [
        held.where(*is_held, *own),
        *_unproven(own, mine, added, oldest),
    ]


def _unproven(
    own: Sequence[ColumnElement[bool]],
    mine: ColumnElement[bool],
    added: ColumnElement[int],
    oldest: ColumnElement[Any],
) -> Sequence[Select[*tuple[Any, ...]]]:
    """Count payouts with an unknown end, and separately payouts in review."""
    return [
        _line(need, literal(""), added, oldest, mine=is_mine).where(UNRESOLVED, which, *own)
        for need, is_mine, which in (
            (Need.UNRESOLVED, True, not_(payouts.c.review)),
            (Need.REVIEW, True, mine),
            (Need.REVIEW, False, and_(payouts.c.review, not_(mine))),
        )
    ]


def _own(who: Staff, now: datetime) -> Sequence[Select[*tuple[Any, ...]]]:
    """Count a user's own orders: with a secret to collect, about to end, and decided."""
    one, value = func.min(approvals.c.id), _whole(approvals.c.centavos, "value")
    secret, ends = func.min(approvals.c.decided_at), func.min(approvals.c.ends_at)
    decided = approvals.c.state + ":" + one
    return (
        _line(Need.COLLECT, func.coalesce(one, ""), value, secret).where(collectable(who, now)),
        _line(Need.ORDER_ENDS, func.coalesce(one, ""), value, ends).where(ends_soon(who, now)),
        _line(Need.ORDER_DECIDED, decided, value, func.max(approvals.c.decided_at))
        .where(ended(who, now))
        .group_by(approvals.c.state),
    )


def _waiting(who: Staff, now: datetime) -> Sequence[Select[*tuple[Any, ...]]]:
    """Count waiting orders, and stops of payouts, current or soon, by subject."""
    scope, mine = who.scope, decidable(who, now)
    subject, ends = stops.c.scope + ":" + stops.c.subject, accounts.c.certificate_ends_at
    one = func.coalesce(func.min(approvals.c.id), "")
    return (
        *(
            _line(
                Need.APPROVAL,
                one,
                _whole(approvals.c.centavos, "value"),
                func.min(approvals.c.ends_at),
                mine=is_mine,
            ).where(which, *of_company(approvals.c.company_id, scope))
            for is_mine, which in ((True, mine), (False, and_(waits(now), not_(mine))))
        ),
        _line(Need.STOP, subject, literal(0), func.min(stops.c.ends_at))
        .where(stops.c.lifted_at.is_(None), stops.c.ends_at > now, *stops_in(scope))
        .group_by(stops.c.scope, stops.c.subject),
        _line(Need.CERTIFICATE, accounts.c.provider, literal(0), func.min(ends))
        .where(accounts.c.active, ends < now + ENDS_SOON, *of_company(accounts.c.company_id, scope))
        .group_by(accounts.c.provider),
        *(
            _line(
                need,
                func.coalesce(func.min(credentials.c.client_id), ""),
                literal(0),
                func.min(credentials.c.created_at),
            ).where(is_live(now), lacking, *of_company(credentials.c.company_id, scope))
            for need, lacking in (
                (Need.CREDENTIAL, without_rule()),
                (Need.NO_LIMITS, without_limits()),
            )
        ),
        _line(
            Need.FOREIGN_DEBIT,
            "account:" + foreign_debits.c.account_id,
            _whole(foreign_debits.c.centavos, "value"),
            func.min(foreign_debits.c.at),
        )
        .where(
            foreign_debits.c.settled_at.is_(None),
            *of_account(foreign_debits.c.account_id, scope),
        )
        .group_by(foreign_debits.c.account_id),
    )


def _callback_counts(scope: CompanyScope, now: datetime) -> Sequence[Select[*tuple[Any, ...]]]:
    """Count by provider payouts paid within an hour, and the bank's callbacks in it."""
    until, created, received = now - _CALLBACK_BY, payouts.c.created_at, callbacks.c.received_at
    return (
        _line(Need.CALLBACKS_MISSING, payouts.c.provider, literal(0), func.min(created))
        .where(
            created >= until - HOUR,
            created < until,
            payouts.c.state == PayoutState.PAID.value,
            *of_account(payouts.c.account_id, scope),
        )
        .group_by(payouts.c.provider),
        _line(_CALLED_BACK, callbacks.c.provider, literal(0), func.min(received))
        .where(received >= until - HOUR, *of_company(callbacks.c.company_id, scope))
        .group_by(callbacks.c.provider),
    )


def _line(
    need: str,
    subject: ColumnElement[Any],
    value: ColumnElement[Any],
    at: ColumnElement[Any],
    *,
    mine: bool = True,
) -> Select[*tuple[Any, ...]]:
    number = func.count().label("number")
    return select(
        literal(str(need)).label("need"),
        literal(int(mine)).label("mine"),
        subject.label("subject"),
        number,
        value.label("value"),
        at.label("at"),
    )


def _figures(row: Record) -> HourFigures:
    return HourFigures(
        hour=row.hour,
        state=PayoutState(row.state),
        certainty=Certainty(row.certainty),
        settled_within=row.settled_within,
        count=row.number,
        value=Sum(row.centavos),
        moved=Sum(row.moved_centavos),
    )


def _standing(row: Record) -> Attention:
    until = row.at + COLLECTED_WITHIN if row.need == Need.COLLECT else row.at
    return Attention(
        need=Need(row.need),
        subject=row.subject,
        count=row.number,
        value=Sum(row.value),
        at=until,
    )
