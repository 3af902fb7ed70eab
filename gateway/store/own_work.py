"""SQL conditions of a user's open work."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import ColumnElement, and_, exists, false, not_, or_

from gateway.core.access import Staff
from gateway.core.approvals import (
    COLLECTED_WITHIN,
    NEEDED,
    WITH_SECRET,
    ApprovalState,
)
from gateway.core.permissions import Action
from gateway.core.rights import Area, Right
from gateway.core.user import same_name
from gateway.store.orders import approved
from gateway.store.tables.backoffice import approvals
from gateway.store.tables.core import opinions, payouts
from gateway.store.tables.scope import of_company

_APPROVES: Final = Right(Area.APPROVAL, Action.WRITE)
_REVIEWS: Final = Right(Area.REVIEW, Action.WRITE)
_SECRETS: Final = sorted(each.value for each in WITH_SECRET)
_ENDS_SOON: Final = timedelta(hours=1)
_TOLD_FOR: Final = timedelta(days=1)
_LONGEST: Final = timedelta(days=4)
"""An order waits three days at most, and what became of it is told for one."""


def waits(now: datetime) -> ColumnElement[bool]:
    """Return the SQL condition: an order can still be decided."""
    return and_(approvals.c.state == ApprovalState.WAITING.value, approvals.c.ends_at > now)


def decidable(who: Staff, now: datetime) -> ColumnElement[bool]:
    """Return the SQL condition for orders the user can decide: not their own or about them."""
    if not who.may(_APPROVES):
        return false()
    me = _id(who)
    return and_(waits(now), approvals.c.ordered_by != me, approvals.c.subject != me)


def collectable(who: Staff, now: datetime) -> ColumnElement[bool]:
    """Return the SQL condition: an approved order whose secret the user can collect."""
    kinds = [each.value for each in WITH_SECRET if who.may(NEEDED[each])]
    if not kinds:
        return false()
    return and_(_own(who, now), has_secret(now), approvals.c.kind.in_(sorted(kinds)))


def ends_soon(who: Staff, now: datetime) -> ColumnElement[bool]:
    """Return the SQL condition: the user's undecided order expires within the hour."""
    return and_(_own(who, now), waits(now), approvals.c.ends_at <= now + _ENDS_SOON)


def ended(who: Staff, now: datetime) -> ColumnElement[bool]:
    """Return the SQL condition: the user's order was decided or expired in the last day."""
    open_ones = (ApprovalState.WAITING.value, ApprovalState.WITHDRAWN.value)
    return and_(
        _own(who, now),
        approvals.c.state.not_in(open_ones),
        approvals.c.decided_at > now - _TOLD_FOR,
        not_(has_secret(now)),
    )


def reviewable(who: Staff) -> ColumnElement[bool]:
    """
    Return the SQL condition: the user can give an opinion on the payout in review.

    They have given none that counts, and have neither ordered nor approved the payout.
    """
    if not who.may(_REVIEWS):
        return false()
    me = _id(who)
    given = exists().where(
        opinions.c.account_id == payouts.c.account_id,
        opinions.c.reference_sha256 == payouts.c.reference_sha256,
        opinions.c.attempt == payouts.c.attempt,
        opinions.c.state == payouts.c.state,
        opinions.c.by == same_name(who.acting.actor),
    )
    is_mine = or_(approvals.c.ordered_by == me, approvals.c.decided_by == me)
    ordered = approved(payouts.c.account_id, payouts.c.reference_sha256, is_mine)
    mine = payouts.c.client_id == f"user:{me}"
    return and_(payouts.c.review, not_(given), not_(mine), not_(ordered))


def _own(who: Staff, now: datetime) -> ColumnElement[bool]:
    """Return the SQL condition: a recent, visible order of the user; its bound is for the index."""
    company = approvals.c.company_id
    return and_(
        approvals.c.ordered_by == _id(who),
        approvals.c.ordered_at > now - _LONGEST,
        *(or_(each, company.is_(None)) for each in of_company(company, who.scope)),
    )


def has_secret(now: datetime) -> ColumnElement[bool]:
    """Return the SQL condition: an approved order's secret waits to be collected."""
    return and_(
        approvals.c.state == ApprovalState.APPROVED.value,
        approvals.c.kind.in_(_SECRETS),
        approvals.c.decided_at > now - COLLECTED_WITHIN,
        approvals.c.collected_at.is_(None),
    )


def _id(who: Staff) -> str:
    return who.person.user_id if who.person else ""
