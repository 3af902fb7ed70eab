"""
The statements that find and claim payouts which are due for a look.

The index of bank, account and instant is walked from account to account, whatever each has in it:
a hundred thousand unsettled payouts of one cost the others nothing.
"""

from __future__ import annotations

from datetime import datetime
from functools import cache
from itertools import zip_longest
from typing import Any, Final

from sqlalchemy import (
    CTE,
    BindParameter,
    ColumnElement,
    Select,
    Text,
    Update,
    bindparam,
    cast,
    func,
    literal,
    or_,
    select,
    tuple_,
    union_all,
    update,
)
from sqlalchemy.sql.selectable import FromClause

from gateway.payouts.model import PayoutState
from gateway.payouts.schedule import (
    CHANGED_AHEAD,
    ENDS_AHEAD,
    MOST_ACCOUNTS,
    MOST_COUNTED,
    PLANNED_AHEAD,
    DueClaim,
)
from gateway.store.tables.columns import Instant, instant_unseen
from gateway.store.tables.core import attempts, payouts

SCANNED: Final = 1_000
"""Accounts of one walk: some milliseconds. The next one goes on behind them."""

# The text is the same for any number of accounts up to each; places left over are of nobody.
_PLACES: Final = (1, 4, MOST_ACCOUNTS)
_NOBODY: Final = ""
_KEY = (payouts.c.account_id, payouts.c.reference_sha256)


def instants(at: datetime) -> dict[str, object]:
    """Return the parameters of ``free``, and of statements that ask for what is due by then."""
    return {"at": at, "ends_ahead": at + ENDS_AHEAD}


def free() -> ColumnElement[bool]:
    """Demand that no claim holds, with ``instants``; one that ends too far ahead holds nothing."""
    until = payouts.c.check_until
    ahead = bindparam("ends_ahead", type_=Instant)
    return or_(until.is_(None), until <= _at(), until > ahead)


def _at() -> BindParameter[datetime]:
    return bindparam("at", type_=Instant)


TRACE_ID: Final = (
    select(attempts.c.trace_id)
    .where(attempts.c.account_id == payouts.c.account_id)
    .where(attempts.c.reference_sha256 == payouts.c.reference_sha256)
    .where(attempts.c.number == payouts.c.attempt)
    .correlate(payouts)
    .scalar_subquery()
    .label("trace_id")
)
"""The trace id of a payout's latest try."""


ANY_DUE: Final = (
    select(literal(1))
    .where(payouts.c.next_check_at <= _at(), free())
    .order_by(payouts.c.next_check_at)
    .limit(1)
)
"""Whether there is anything to do, asked every second: no row when there is not."""


_DUE: Final = (
    select(payouts.c.provider, payouts.c.next_check_at)
    .where(payouts.c.next_check_at <= _at(), free())
    .order_by(payouts.c.next_check_at)
    .limit(MOST_COUNTED)
    .subquery("due")
)
BACKLOG: Final = select(
    _DUE.c.provider,
    func.count().label("waiting"),
    func.min(_DUE.c.next_check_at).label("oldest_at"),
).group_by(_DUE.c.provider)
"""How much is due and free at each bank, and since when."""


def _next(
    column: ColumnElement[str], after: FromClause, *conditions: ColumnElement[bool]
) -> ColumnElement[str]:
    """Return the lowest value of the index's next column that meets conditions."""
    lowest = select(column).where(payouts.c.next_check_at.is_not(None), *conditions)
    lowest = lowest.order_by(column).limit(1).correlate(after)
    return lowest.scalar_subquery()


def _banks() -> CTE:
    """Ask for every bank with planned looks, from one to the next."""
    planned = payouts.c.next_check_at.is_not(None)
    first = select(payouts.c.provider).where(planned).order_by(payouts.c.provider).limit(1)
    banks = select(first.scalar_subquery().label("provider")).cte("banks", recursive=True)
    further = _next(payouts.c.provider, banks, payouts.c.provider > banks.c.provider)
    return banks.union_all(select(further).where(banks.c.provider.is_not(None)))


def _holders() -> CTE:
    """Ask for banks and accounts with planned looks behind ``after``, from one to the next."""
    banks, after = _banks(), cast(bindparam("after", type_=Text), Text)
    own = payouts.c.provider == banks.c.provider
    account = _next(payouts.c.account_id, banks, own, payouts.c.account_id > after)
    holders = (
        select(banks.c.provider, account.label("account_id"))
        .where(banks.c.provider.is_not(None))
        .cte("holders", recursive=True)
    )
    same = payouts.c.provider == holders.c.provider
    behind = payouts.c.account_id > holders.c.account_id
    following = _next(payouts.c.account_id, holders, same, behind)
    return holders.union_all(
        select(holders.c.provider, following).where(holders.c.account_id.is_not(None))
    )


def _accounts_due() -> Select[tuple[str, str, datetime]]:
    """Ask for those accounts, and since when the first payout of each is due and free."""
    holders = _holders()
    due = (
        select(payouts.c.next_check_at)
        .where(payouts.c.provider == holders.c.provider)
        .where(payouts.c.account_id == holders.c.account_id)
        # Unseen: where few are due at all, another index would be walked, for every account anew.
        .where(payouts.c.next_check_at <= instant_unseen(_at()), free())
        .order_by(payouts.c.next_check_at)
        .limit(1)
        .correlate(holders)
    )
    return (
        select(holders.c.provider, holders.c.account_id, due.scalar_subquery().label("due_at"))
        .where(holders.c.account_id.is_not(None))
        .limit(SCANNED)
    )


ACCOUNTS_DUE: Final = _accounts_due()
"""Of each account that has planned looks; ``due_at`` is empty where none is due and free."""


def recalling(now: datetime) -> Update:
    """
    Return the statement that plans a look now for what a clock planned that was put back.

    One that was not sent waits for the end of its day, which is not for looks.
    """
    planned = payouts.c.next_check_at
    waits_for_a_look = payouts.c.state != PayoutState.NOT_SENT.value
    too_late = (planned > now + PLANNED_AHEAD) & waits_for_a_look
    return (
        update(payouts)
        .where(planned > now, or_(payouts.c.updated_at > now + CHANGED_AHEAD, too_late))
        .values(next_check_at=now)
    )


def claiming(wanted: DueClaim) -> tuple[Update, dict[str, object]]:
    """
    Return the statement that claims, and its parameters.

    PostgreSQL skips rows that another process is claiming at this moment; SQLite has one writer at
    a time.
    """
    asked: dict[str, object] = {
        **instants(wanted.at),
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
        .returning(payouts, TRACE_ID)
    )


def _longest_due(place: int) -> Select[Any]:
    """Choose what is due longest of one account, and lock it where rows can be locked."""
    longest = (
        select(*_KEY, payouts.c.next_check_at)
        .where(payouts.c.provider == bindparam("of_provider", type_=Text))
        .where(payouts.c.account_id == bindparam(f"account_{place}", type_=Text))
        .where(payouts.c.next_check_at <= _at(), free())
        .order_by(payouts.c.next_check_at)
        .limit(bindparam("each"))
        .with_for_update(skip_locked=True)
        .subquery(f"longest_{place}")
    )
    return select(longest)
