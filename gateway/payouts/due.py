"""
Payouts that are due for a check, and which process checks them.

A claim is a lease on the row, not a lock. When a process dies with one, another takes over after
the lease ends. Two checks at once do no harm: they only read at the bank, and their steps are
compare-and-set.

Planned checks lie in a table of their own, whose index of bank, account and instant is walked from
account to account, so that a hundred thousand unsettled payouts of one account cost the others
nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache
from itertools import zip_longest
from operator import attrgetter
from typing import Any, Final

from sqlalchemy import (
    CTE,
    BindParameter,
    ColumnElement,
    Select,
    Text,
    Update,
    and_,
    bindparam,
    case,
    cast,
    func,
    literal,
    literal_column,
    or_,
    select,
    tuple_,
    union_all,
    update,
)
from sqlalchemy.sql.selectable import FromClause

from gateway.payouts.model import Payout, PayoutState
from gateway.payouts.rows import key_columns, restored_payout
from gateway.payouts.schedule import (
    CHANGED_AHEAD,
    ENDS_AHEAD,
    MOST_ACCOUNTS,
    MOST_COUNTED,
    PLANNED_AHEAD,
    Backlog,
    Checked,
    DueAccount,
    DueClaim,
    ProbeClaim,
)
from gateway.payouts.writes import PayoutWriter
from gateway.store.kernel.database import Database
from gateway.store.tables.columns import Instant, Record, instant_unseen
from gateway.store.tables.core import UNRESOLVED, attempts, payouts, planned_checks
from gateway.telemetry.records import Unsettled

_log = logging.getLogger(__name__)

_SCANNED: Final = 1_000
"""Accounts of one walk: some milliseconds. The next one goes on behind them."""

# The text is the same for any number of accounts up to each; places left over are of nobody.
_PLACES: Final = (1, 4, MOST_ACCOUNTS)
_NOBODY: Final = ""
_KEY = (payouts.c.account_id, payouts.c.reference_sha256)
_PLANNED = planned_checks.c
_ITS_PAYOUT: Final = and_(
    payouts.c.account_id == _PLANNED.account_id,
    payouts.c.reference_sha256 == _PLANNED.reference_sha256,
)


def _due_by(at: datetime) -> dict[str, object]:
    """Return the parameters of statements that find payouts due at an instant."""
    return {"at": at, "ends_ahead": at + ENDS_AHEAD}


def _free() -> ColumnElement[bool]:
    """Return the SQL condition: not claimed. Implausibly late expiries are ignored."""
    until = payouts.c.check_until
    ahead = bindparam("ends_ahead", type_=Instant)
    return or_(until.is_(None), until <= _at(), until > ahead)


def _at() -> BindParameter[datetime]:
    return bindparam("at", type_=Instant)


_TRACE_ID: Final = literal_column(
    # A text: SQLAlchemy leaves the names of tables out of what SQLite returns, in here as well.
    "(SELECT tried.trace_id FROM payout_attempts AS tried"
    " WHERE tried.account_id = payouts.account_id"
    " AND tried.reference_sha256 = payouts.reference_sha256"
    " AND tried.number = payouts.attempt)",
    Text,
).label("trace_id")
"""The trace id of a payout's latest try."""


def _payout_is_due() -> ColumnElement[bool]:
    """Return the SQL condition: the payout itself is due and free. It decides, not its plan."""
    return and_(payouts.c.next_check_at <= _at(), _free())


_ITS_PAYOUT_IS_DUE: Final = (
    select(literal(1))
    .where(_ITS_PAYOUT, _payout_is_due())
    .correlate(planned_checks)
    .scalar_subquery()
    .is_not(None)
)
"""The same of a planned check. No join: PostgreSQL may begin one with all payouts."""


_ANY_DUE: Final = (
    select(literal(1))
    .select_from(planned_checks)
    .where(_PLANNED.next_check_at <= _at(), _ITS_PAYOUT_IS_DUE)
    .order_by(_PLANNED.next_check_at)
    .limit(1)
)
"""Whether there is anything to do, asked every second: no row when there is not."""

_DUE: Final = (
    select(_PLANNED.provider, _PLANNED.next_check_at)
    .where(_PLANNED.next_check_at <= _at(), _ITS_PAYOUT_IS_DUE)
    .order_by(_PLANNED.next_check_at)
    .limit(MOST_COUNTED)
    .subquery("due")
)
_BACKLOG: Final = select(
    _DUE.c.provider,
    func.count().label("waiting"),
    func.min(_DUE.c.next_check_at).label("oldest_at"),
).group_by(_DUE.c.provider)
"""How much is due and free at each bank, and since when."""


def _next(
    column: ColumnElement[str], after: FromClause, *conditions: ColumnElement[bool]
) -> ColumnElement[str]:
    """Return the lowest value of the index's next column that meets conditions."""
    lowest = select(column).where(*conditions).order_by(column).limit(1).correlate(after)
    return lowest.scalar_subquery()


def _banks() -> CTE:
    """Select every bank with planned checks, from one to the next."""
    first = select(_PLANNED.provider).order_by(_PLANNED.provider).limit(1)
    banks = select(first.scalar_subquery().label("provider")).cte("banks", recursive=True)
    further = _next(_PLANNED.provider, banks, _PLANNED.provider > banks.c.provider)
    return banks.union_all(select(further).where(banks.c.provider.is_not(None)))


def _holders() -> CTE:
    """Select banks and accounts with planned checks after ``after``, from one to the next."""
    banks, after = _banks(), cast(bindparam("after", type_=Text), Text)
    own = _PLANNED.provider == banks.c.provider
    account = _next(_PLANNED.account_id, banks, own, _PLANNED.account_id > after)
    holders = (
        select(banks.c.provider, account.label("account_id"))
        .where(banks.c.provider.is_not(None))
        .cte("holders", recursive=True)
    )
    same = _PLANNED.provider == holders.c.provider
    behind = _PLANNED.account_id > holders.c.account_id
    following = _next(_PLANNED.account_id, holders, same, behind)
    return holders.union_all(
        select(holders.c.provider, following).where(holders.c.account_id.is_not(None))
    )


def _accounts_due() -> Select[tuple[str, str, datetime]]:
    """Select those accounts, each with the due time of its first due and free payout."""
    holders = _holders()
    due = (
        select(_PLANNED.next_check_at)
        .where(_PLANNED.provider == holders.c.provider)
        .where(_PLANNED.account_id == holders.c.account_id)
        # Unseen: where few are due at all, another index would be walked, for every account anew.
        .where(_PLANNED.next_check_at <= instant_unseen(_at()), _ITS_PAYOUT_IS_DUE)
        .order_by(_PLANNED.next_check_at)
        .limit(1)
        .correlate(holders)
    )
    return (
        select(holders.c.provider, holders.c.account_id, due.scalar_subquery().label("due_at"))
        .where(holders.c.account_id.is_not(None))
        .limit(_SCANNED)
    )


_ACCOUNTS_DUE: Final = _accounts_due()
"""Each account that has planned looks; ``due_at`` is empty where none is due and free."""

_IN_DOUBT = payouts.c.state == PayoutState.UNKNOWN.value
_UNRESOLVED = select(payouts, _TRACE_ID).where(UNRESOLVED).order_by(payouts.c.created_at)
_STANDING = (
    select(
        payouts.c.provider,
        func.sum(case((_IN_DOUBT, 1), else_=0)).label("unresolved"),
        func.min(case((_IN_DOUBT, payouts.c.created_at))).label("oldest_at"),
        func.sum(case((payouts.c.review, 1), else_=0)).label("review"),
    )
    .where(UNRESOLVED)
    .group_by(payouts.c.provider)
)


def _untold(_provider: str) -> None:
    """Count nothing."""


class StoredFollowUps:
    """
    Payouts that must be checked again; any number of processes may share the work.

    A payout that cannot be read, such as one with a word of a newer release, is left out and
    logged, and does not delay the others. Its claim expires.

    Attributes:
        on_unreadable: Called with the provider of each such payout, every time.
    """

    def __init__(self, database: Database) -> None:
        self.on_unreadable: Callable[[str], None] = _untold
        self._database = database
        self._writer = PayoutWriter(database)
        self._after = ""

    async def due(self, now: datetime) -> Sequence[DueAccount]:
        """
        Return accounts with payouts that are due and free, the longest due first.

        Only some of very many accounts are returned; the next call continues.
        """
        async with self._database.reading() as connection:
            asked = _due_by(now)
            if (await connection.execute(_ANY_DUE, asked)).first() is None:
                return []
            began, found = self._after, list[DueAccount]()
            while not found:
                rows = (
                    await connection.execute(_ACCOUNTS_DUE, {**asked, "after": self._after})
                ).all()
                found = [DueAccount(**row._asdict()) for row in rows if row.due_at is not None]
                self._after = _behind(rows)
                if not self._after and not began:
                    break
                if not self._after:
                    # What is due may belong to accounts before the place where this began.
                    began = ""
        return sorted(found, key=lambda each: each.due_at)

    async def claim_due(self, wanted: DueClaim) -> Sequence[Payout]:
        """Claim due and free payouts, the longest due first, by one atomic update."""
        statement, asked = _claiming(wanted)
        async with self._database.writing() as connection:
            rows = (await connection.execute(statement, asked)).all()
        return list(self._readable(sorted(rows, key=attrgetter("next_check_at"))))

    async def backlog(self, now: datetime) -> Sequence[Backlog]:
        """Count due and free payouts by provider; providers without any are absent."""
        rows = await self._database.rows(_BACKLOG, _due_by(now))
        return [Backlog(**row._asdict()) for row in rows]

    async def claim(self, wanted: ProbeClaim) -> Payout | None:
        """
        Claim one payout by an atomic update.

        None when it is being checked, was just checked, or cannot be read.
        """
        key = key_columns(wanted.account_id, wanted.reference)
        looked = select(attempts.c.number).where(
            attempts.c.account_id == payouts.c.account_id,
            attempts.c.reference_sha256 == payouts.c.reference_sha256,
            attempts.c.last_probe_at > wanted.quiet_since,
        )
        taken = (
            update(payouts)
            .where(*(payouts.c[name] == value for name, value in key.items()))
            .where(_free(), ~looked.exists())
            .values(check_owner=wanted.owner, check_until=wanted.until)
            .returning(payouts, _TRACE_ID)
        )
        async with self._database.writing() as connection:
            rows = (await connection.execute(taken, _due_by(wanted.at))).all()
        return next(self._readable(rows), None)

    async def checked(self, checked: Checked) -> bool:
        """
        Record a check and release the claim; False when another process has the claim by now.

        A payout that has changed since the check keeps the schedule of its last step.
        """
        return await self._writer.write(checked) is True

    async def close(self) -> None:
        """Finish pending records of checks."""
        await self._writer.close()

    async def recall(self, now: datetime) -> int:
        """Plan a check now for payouts scheduled by a clock that was put back; return how many."""
        return await self._database.write(_recalling(now))

    async def unresolved(self) -> Sequence[Payout]:
        """Return every payout whose outcome is unknown or that is in review."""
        rows = await self._database.rows(_UNRESOLVED)
        return list(self._readable(rows))

    async def find_by_key(self, provider_key: str, account_id: str | None = None) -> Payout | None:
        """
        Return the payout of a provider key.

        A key is one payout's within an account: the given account's goes first, for a company's
        accounts may share one at the bank. Else a key that several have names none of them.
        """
        known = select(payouts, _TRACE_ID).where(payouts.c.provider_key == provider_key)
        rows = await self._database.rows(known)
        own = [row for row in rows if row.account_id == account_id] or rows
        return _restored(own[0]) if len(own) == 1 else None

    async def standing(self) -> Sequence[Unsettled]:
        """Count, by provider, the payouts whose outcome is not proven."""
        rows = await self._database.rows(_STANDING)
        return [
            Unsettled(
                provider=row.provider,
                unresolved=int(row.unresolved),
                oldest_at=row.oldest_at,
                review=int(row.review),
            )
            for row in rows
        ]

    def _readable(self, rows: Iterable[Record]) -> Iterator[Payout]:
        """Build payouts one by one; of an unreadable payout only the key is logged."""
        for row in rows:
            try:
                yield _restored(row)
            except Exception as problem:  # noqa: BLE001 - whatever is in a row, others go on
                # What the problem says may be a part of the row: a name, a tax number.
                kind = type(problem).__name__
                _log.error("payout_unreadable provider_key=%s problem=%s", row.provider_key, kind)
                self.on_unreadable(row.provider)


def _restored(row: Record) -> Payout:
    return replace(restored_payout(row), trace_id=row.trace_id or "")


def _behind(rows: Sequence[Record]) -> str:
    """Return the account after which the next walk continues; empty after the last."""
    if len(rows) < _SCANNED:
        return ""
    last: dict[str, str] = {row.provider: row.account_id for row in rows}
    # Every bank was walked equally far: behind the least of them, none of any is left out.
    return min(last.values())


def _recalling(now: datetime) -> Update:
    # One that was not sent waits for the end of its day, a held one for that of its hold: those are
    # not for looks.
    planned = payouts.c.next_check_at
    waits_for_a_look = payouts.c.state.not_in([PayoutState.NOT_SENT.value, PayoutState.HELD.value])
    too_late = (planned > now + PLANNED_AHEAD) & waits_for_a_look
    ahead = select(_PLANNED.account_id, _PLANNED.reference_sha256).where(
        _PLANNED.next_check_at > now
    )
    return (
        update(payouts)
        .where(tuple_(*_KEY).in_(ahead), planned > now)
        .where(or_(payouts.c.updated_at > now + CHANGED_AHEAD, too_late))
        .values(next_check_at=now)
    )


def _claiming(wanted: DueClaim) -> tuple[Update, dict[str, object]]:
    """
    Return the statement that claims, and its parameters.

    PostgreSQL skips rows that another process is claiming at this moment; SQLite has one writer at
    a time.
    """
    asked: dict[str, object] = {
        **_due_by(wanted.at),
        "of_provider": wanted.provider,
        "each": wanted.each,
        "most": wanted.most,
        "owner": wanted.owner,
        "until": wanted.until,
    }
    places = next(each for each in _PLACES if each >= len(wanted.account_ids))
    for place, account_id in zip_longest(range(places), wanted.account_ids, fillvalue=_NOBODY):
        asked[f"account_{place}"] = account_id
    return _claim(places), asked


@cache
def _claim(places: int) -> Update:
    """Build the claim for a number of accounts."""
    due = union_all(*(_longest_due(place) for place in range(places))).subquery("due")
    chosen = (
        select(due.c.account_id, due.c.reference_sha256)
        .order_by(due.c.next_check_at)
        .limit(bindparam("most"))
    )
    return (
        update(payouts)
        .where(tuple_(*_KEY).in_(chosen))
        .values(
            check_owner=bindparam("owner", type_=Text),
            check_until=bindparam("until", type_=Instant),
        )
        .returning(payouts, _TRACE_ID)
    )


def _longest_due(place: int) -> Select[Any]:
    """Select the longest due payouts of one account, locked where rows can be locked."""
    longest = (
        select(*_KEY, _PLANNED.next_check_at)
        .select_from(planned_checks)
        .join(payouts, _ITS_PAYOUT)
        .where(_PLANNED.provider == bindparam("of_provider", type_=Text))
        .where(_PLANNED.account_id == bindparam(f"account_{place}", type_=Text))
        .where(_PLANNED.next_check_at <= _at(), _payout_is_due())
        .order_by(_PLANNED.next_check_at)
        .limit(bindparam("each"))
        .with_for_update(skip_locked=True, of=payouts)
        .subquery(f"longest_{place}")
    )
    return select(longest)
