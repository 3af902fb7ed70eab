"""
Searches of the payouts of every account: filters, pages and counts, as staff see them.

A page is cut by where the last one ended.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from functools import partial
from operator import ge, le
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType
from sqlalchemy import (
    BigInteger,
    BindParameter,
    ColumnElement,
    ScalarSelect,
    Select,
    Subquery,
    Table,
    Text,
    and_,
    asc,
    bindparam,
    case,
    cast,
    desc,
    exists,
    false,
    func,
    literal,
    not_,
    or_,
    select,
    text,
    true,
    tuple_,
    union,
    union_all,
)
from sqlalchemy.sql.elements import TextClause

from gateway.banks.port.payout_orders import FailureCode, PayoutMethod
from gateway.core import fields
from gateway.core.access import Staff
from gateway.core.approvals import ApprovalKind, ApprovalState
from gateway.core.calls import Input
from gateway.core.company_scope import CompanyScope
from gateway.core.errors import ServiceError
from gateway.core.fields import meaning
from gateway.core.money import Money, Sum
from gateway.core.permissions import USER_CLIENT, Action
from gateway.core.rights import Area, Right
from gateway.core.terms import search_term
from gateway.core.user_errors import VALIDATION_FAILED
from gateway.core.windows import DEFAULT_LIMIT, LARGEST_LIMIT, LOCAL, local_end, local_start
from gateway.payouts.certainty import CERTAINTY, proven
from gateway.payouts.documents import (
    FoundPayout,
    Hit,
    HitPayouts,
    OpenWork,
    Orderer,
    PayoutCounts,
    PayoutPeople,
    StateCount,
)
from gateway.payouts.model import (
    FINAL_STATES,
    Certainty,
    CertaintySought,
    Payout,
    PayoutSearch,
    PayoutState,
    PayoutStatus,
    certainty_when,
)
from gateway.payouts.rows import key_columns, restored_payout
from gateway.store.kernel.database import Database
from gateway.store.own_work import collectable, decidable, reviewable
from gateway.store.tables.backoffice import approvals, batch_rows
from gateway.store.tables.columns import Instant, Record
from gateway.store.tables.core import (
    PLANNED,
    UNRESOLVED,
    accounts,
    archived_payouts,
    attempts,
    bank_names,
    credentials,
    payouts,
    planned_checks,
    returns,
    stops,
)
from gateway.store.tables.identity import users
from gateway.store.tables.scope import of_account, of_company, stops_in
from gateway.store.tables.texts import Folded, holding
from policies.validation.backoffice.searches import Limit, SearchBody, filtered
from policies.validation.search import days

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_END: Final = datetime(9999, 12, 31, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_DAYS: Final = 7
"""A week has enough to see a pattern, and few enough to be counted."""
FOUND_AT_MOST: Final = 25
"""Hits of a text on a page."""
_PLACE: Final = r"^([0-9]{1,17})\.([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.([0-9a-f]{64})$"
"""Microseconds since 1970, below the year 5139, so that each one is an instant."""
Word = Annotated[str, Meta(min_length=1, max_length=64)]
"""A name or an id of ours; none is longer."""
After = Annotated[
    str,
    Meta(
        pattern=_PLACE,
        description="What the page before says in `next`; absent for the first page.",
        examples=["1795177815123456.0b7d7e4a-9e0e-4a3c-8f5e-3c1f0a9b2c01." + "9f" * 32],
    ),
]


class PayoutOrder(StrEnum):
    """By when they were created."""

    NEWEST = "newest"
    OLDEST = "oldest"


class PayoutFilterBody(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """
    Payouts by the day they were created, in the time of Brasilia; both included, at most 90.

    Or of the last `days`, today included: 7 by default. Omitted fields do not
    limit; `states` are alternatives; `unresolved` is whether it is unknown or in review, `returned`
    whether money of a paid one came back. `least`, `most` and an amount as `text` match the amount
    ordered, the amount moved, or a return, in part or in sum. Any other `text` is a part
    of a reference or words of the recipient's name, in the newest 20,000 alone.
    """

    init: Annotated[date | None, meaning("First day, included.")] = None
    ends: Annotated[date | None, meaning("Last day, included.")] = None
    days: Annotated[
        Annotated[int, Meta(ge=1, le=90)] | None,
        meaning("The last so many days, today included; ignored beside `init` or `ends`."),
    ] = None
    states: Annotated[list[PayoutState], meaning("Only these states; none is every state.")] = []
    certainty: Annotated[
        CertaintySought | None,
        meaning(
            "Only payouts of which this is certain about the money. `not_sent` finds "
            "`not_executed` too, and `confirmed_rejected` finds `decided_unpaid`; "
            "`never_sent` and `bank_rejected` find the first of each pair alone.",
            "settled",
        ),
    ] = None
    review: Annotated[
        bool | None, meaning("Whether people decide, since the bank cannot prove what happened.")
    ] = None
    unresolved: Annotated[bool | None, meaning("Payouts whose outcome is not proven.")] = None
    least: Annotated[Money | None, meaning("Only payouts of at least this amount, in reais.")] = (
        None
    )
    most: Annotated[Money | None, meaning("Only payouts of at most this amount, in reais.")] = None
    provider: Annotated[
        Word | None,
        meaning("Name of the bank in the operator's settings; empty for none.", "sandbox"),
    ] = None
    account_id: Annotated[
        Word | None, meaning("The account, a UUID; empty where there is none.", fields.ID)
    ] = None
    client_id: Annotated[
        Word | None, meaning("The client id of a credential.", "cli_mfrggzdfmztwq2lknnwg")
    ] = None
    method: Annotated[
        PayoutMethod | None, meaning("How the money is paid: `pix` or `bank_account`.")
    ] = None
    failure: Annotated[FailureCode | None, meaning("Only payouts that failed with this code.")] = (
        None
    )
    returned: Annotated[
        bool | None, meaning("Only payouts whose money came back, or only the others.")
    ] = None
    text: Annotated[
        Annotated[str, Meta(min_length=1, max_length=200)] | None,
        meaning("An amount, or part of a reference or of the recipient's name.", "Maria Silva"),
    ] = None
    order: PayoutOrder = PayoutOrder.NEWEST


class PayoutsBody(PayoutFilterBody, kw_only=True, forbid_unknown_fields=True):
    """The same filter and a page: by its number, or after another page."""

    limit: Annotated[Limit, Meta(extra_json_schema={"example": 25})] = DEFAULT_LIMIT
    page: Annotated[
        int,
        Meta(
            description="Number of the page, beginning behind `after`.", ge=1, le=400, examples=[1]
        ),
    ] = 1
    after: Annotated[
        After | None, meaning("What the page before says in `next`; absent for the first page.")
    ] = None


@dataclass(frozen=True, slots=True)
class PayoutPlace:
    """Position of a page's end: the sort key before the next page."""

    created_at: datetime
    account_id: str
    reference_sha256: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """
    A time range of the payouts that a text names, newest first.

    Attributes:
        start, end: Created from ``start`` on, and before ``end``; None for no bound.
    """

    start: datetime | None = None
    end: datetime | None = None
    limit: int = FOUND_AT_MOST
    offset: int = 0


NEWEST: Final = Cut()
"""The first page, of all times."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PayoutQuery:
    """
    One page of a search.

    Attributes:
        start, end: Created from ``start`` on, and before ``end``; None for no bound.
        ordered: Exactly the amount ordered, regardless of the amount moved; None for any.
        offset: Number of payouts before the page.
        after: None for the first page.
    """

    wanted: PayoutFilterBody
    start: datetime | None
    end: datetime | None
    ordered: Money | None = None
    limit: int = LARGEST_LIMIT
    offset: int = 0
    after: PayoutPlace | None = None

    @classmethod
    def of(cls, wanted: PayoutFilterBody, now: datetime) -> PayoutQuery:
        """
        Build the query of a search.

        Raises:
            ServiceError: ``VALIDATION_FAILED`` for days that are none, and a place that no page
                has told.
        """
        if wanted.init is None and wanted.ends is None:
            days = timedelta(days=(wanted.days or _DAYS) - 1)
            start, end = local_start(now.astimezone(LOCAL).date() - days), None
        else:
            start, end = _window(wanted)
        if not isinstance(wanted, PayoutsBody):
            return cls(wanted=wanted, start=start, end=end)
        after = None if wanted.after is None else place_of(wanted.after)
        limit = min(wanted.limit, LARGEST_LIMIT)
        offset = limit * (wanted.page - 1)
        return cls(wanted=wanted, start=start, end=end, limit=limit, offset=offset, after=after)


def _window(body: PayoutFilterBody) -> tuple[datetime, datetime]:
    """Return the bounds of the days that are named."""
    for name, day in (("init", body.init), ("ends", body.ends)):
        if day is None:
            raise ServiceError(VALIDATION_FAILED, "missing", field=name)
    found = days(body.init or date.min, body.ends or date.min, VALIDATION_FAILED)
    return local_start(found.init), local_end(found.ends)


def place_of(text: str) -> PayoutPlace:
    """Parse the position of a page's end; VALIDATION_FAILED for an invalid one."""
    found = re.fullmatch(_PLACE, text, re.ASCII)
    if found is None:
        raise ServiceError(VALIDATION_FAILED, "form", field="after")
    at = _EPOCH + int(found[1]) * _MICROSECOND
    return PayoutPlace(at, found[2], bytes.fromhex(found[3]))


def place_text(place: PayoutPlace) -> str:
    """Write where a page ends, for the search after it."""
    at = (place.created_at - _EPOCH) // _MICROSECOND
    return f"{at}.{place.account_id}.{place.reference_sha256.hex()}"


class WithdrawsBody(SearchBody, forbid_unknown_fields=True):
    """Payouts by the day they were created; without ``status`` all."""

    status: Annotated[
        Literal["processing", "paid", "failed"] | UnsetType,
        meaning("The state that it is in.", "paid"),
    ] = UNSET


WITHDRAWS: Final[Input[PayoutSearch]] = filtered(WithdrawsBody, PayoutStatus, PayoutSearch)

_PROBES: Final = Right(Area.PROBE, Action.WRITE)
_STOPS: Final = Right(Area.STOP, Action.WRITE)
COUNTED_AT_MOST: Final = 10_000
"""Payouts that one search counts: more say nothing to a person, and cost time for each."""
_NEAR: Final = COUNTED_AT_MOST
"""Payouts that are looked through before other indexes are read."""
_FEW: Final = 5_000
"""Payouts that are read by the index of their amounts before they are put in order."""
Condition = ColumnElement[bool] | TextClause

_KEY: Final = (payouts.c.account_id, payouts.c.reference_sha256)
_KEYSET: Final = (payouts.c.created_at, *_KEY)
_PROVEN: Final = and_(payouts.c.state != PayoutState.UNKNOWN.value, ~payouts.c.review)
"""The opposite of ``UNRESOLVED``, which is a text."""
_SHORT: Final = text("length(payouts.reference) <= 200")
_LAST: Final = "\U0010ffff"
"""Behind every character: what begins like a text lies between it and this."""
_COMPARED_AT_MOST: Final = 1_000
"""References with one beginning, of which the newest are found; a million may have it."""
_ITS_RETURNS: Final = and_(
    returns.c.account_id == payouts.c.account_id,
    returns.c.reference_sha256 == payouts.c.reference_sha256,
)
_RETURNED: Final = (
    select(cast(func.coalesce(func.sum(returns.c.centavos), 0), BigInteger))
    .where(_ITS_RETURNS)
    .correlate(payouts)
    .scalar_subquery()
)
_MOVED: Final = func.coalesce(payouts.c.moved_centavos, payouts.c.centavos)
_CAME_BACK: Final = exists().where(_ITS_RETURNS).correlate(payouts)
_USER_ID: Final = func.substr(payouts.c.client_id, len(USER_CLIENT) + 1)
_ORDERED: Final = (
    func.coalesce(users.c.name, credentials.c.name, "").label("orderer_name"),
    func.coalesce(users.c.email, "").label("orderer_email"),
)
_NAMED: Final = (
    select(payouts, accounts.c.name.label("account_name"), _RETURNED.label("returned"), *_ORDERED)
    .join(accounts, accounts.c.id == payouts.c.account_id)
    .outerjoin(users, users.c.id == _USER_ID)
    .outerjoin(credentials, credentials.c.client_id == payouts.c.client_id)
)
_APPROVERS: Final = users.alias("approvers")


_ITS_FILE: Final = (
    select(func.max(batch_rows.c.batch_id))
    .where(
        batch_rows.c.account_id == bindparam("account_id"),
        batch_rows.c.reference_sha256 == bindparam("reference_sha256"),
        batch_rows.c.state.in_(["ordering", "ordered"]),
    )
    .scalar_subquery()
)
"""The file that a payout is of; a payout that two files name is of one of them."""


def _people_of(table: Table) -> Select[*tuple[Any, ...]]:
    """Read the orderer and approver of payouts, archived ones or others."""
    user_id = func.substr(table.c.client_id, len(USER_CLIENT) + 1)
    return (
        select(
            *_ORDERED,
            approvals.c.id.label("approval_id"),
            approvals.c.ordered_at,
            approvals.c.decided_by,
            _APPROVERS.c.name.label("approver_name"),
            _APPROVERS.c.email.label("approver_email"),
        )
        .select_from(table)
        .outerjoin(users, users.c.id == user_id)
        .outerjoin(credentials, credentials.c.client_id == table.c.client_id)
        .outerjoin(
            approvals,
            and_(
                or_(
                    and_(
                        approvals.c.account_id == bindparam("account_id"),
                        approvals.c.reference_sha256 == bindparam("reference_sha256"),
                        approvals.c.kind == ApprovalKind.PAYOUT.value,
                    ),
                    and_(
                        approvals.c.subject == _ITS_FILE,
                        approvals.c.kind == ApprovalKind.BATCH.value,
                    ),
                ),
                approvals.c.state == ApprovalState.APPROVED.value,
                # A partner's payout may have the reference of an order that was refused for it.
                approvals.c.ordered_by == user_id,
            ),
        )
        .outerjoin(_APPROVERS, _APPROVERS.c.id == approvals.c.decided_by)
        .where(
            table.c.account_id == bindparam("account_id"),
            table.c.reference_sha256 == bindparam("reference_sha256"),
        )
        .order_by(approvals.c.decided_at.desc())
        .limit(1)
    )


_PEOPLE: Final = _people_of(payouts)
_PEOPLE_OF_ARCHIVED: Final = _people_of(archived_payouts)


_LEADING: Final = ("account_id", "client_id", "method")
"""Columns with an index that orders each value's payouts by when they were created."""
# Every account there is: the index of amounts begins with them.
_EVERY_ACCOUNT: Final = payouts.c.account_id.in_(select(accounts.c.id))
_ALIKE: Final = payouts.alias("alike")
_IS_MOVED: Final = payouts.c.exception == "moved"
_FAILED_UNSENT: Final = payouts.c.exception == FailureCode.NOT_SENT.value
Led = Callable[[ColumnElement[bool]], Sequence[Sequence[Condition]]]
"""
Lists of conditions, each with an index, of which each payout that is wanted meets one.

It is given the condition that they are needed at all. SQLite tests that for each row, so that it
stands where the index is read.
"""


class Named(StrEnum):
    """Fields that a text may match."""

    E2E_ID = "e2e_id"
    PROVIDER_ID = "provider_id"
    PROVIDER_KEY = "provider_key"
    TRACE_ID = "trace_id"
    REFERENCE = "reference"
    RETURN_ID = "return_id"


class PayoutDirectory:
    """Finds payouts of every account in a company scope."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def page(
        self, query: PayoutQuery, scope: CompanyScope
    ) -> tuple[Sequence[FoundPayout], PayoutPlace | None]:
        """Return a page, and where the next one begins; None at the end."""
        standing, beyond = [*_standing(query.wanted)], [*_beyond(query)]
        order = _order(query)
        inside = _inside(query, scope, few=await self._are_few(query))
        wanted = [(*each, *standing, *beyond) for each in inside]
        orders, cut = [order] * len(_KEYSET), (query.limit + 1, query.offset)
        led = _led(query.wanted)
        if led and len(wanted) == 1:
            one_more = _near_or_led(wanted[0], _near(query, beyond), led, order, cut)
        else:
            one_more = _first(_KEYSET, wanted, orders, *cut)
        keys = select(*(one_more.c[each.name] for each in _KEY))
        named = _NAMED.where(tuple_(*_KEY).in_(keys)).order_by(*map(order, _KEYSET))
        found = await self._database.rows(named)
        shown = found[: query.limit]
        after = _place(shown[-1]) if len(found) > query.limit else None
        return [_restored(row) for row in shown], after

    async def named(self, by: Named, given: str, scope: CompanyScope) -> Sequence[FoundPayout]:
        """Return the payouts that a text names, also by a reference's prefix; newest first."""
        if by is Named.REFERENCE:
            return await self._referenced(given, scope)
        return await self._found(_by(by, given), scope)

    async def paid_to(
        self, digests: Sequence[bytes], scope: CompanyScope, cut: Cut = NEWEST
    ) -> Sequence[FoundPayout]:
        """Return the newest payouts to a recipient, by digests of the tax number."""
        wanted: list[Condition] = [payouts.c.payee_digest.in_(digests)]
        if cut.start is not None:
            wanted.append(payouts.c.created_at >= cut.start)
        if cut.end is not None:
            wanted.append(payouts.c.created_at < cut.end)
        return await self._found(wanted, scope, cut)

    async def people(self, about: Payout) -> PayoutPeople:
        """Return the orderer of a payout, and its approver."""
        key = key_columns(about.account_id, about.reference)
        [row] = (
            await self._database.rows(_PEOPLE, key)
            # perhaps since it was read
            or await self._database.rows(_PEOPLE_OF_ARCHIVED, key)
        )
        ordered_by = Orderer.of(about.client_id, row.orderer_name, row.orderer_email)
        if row.approval_id is None:
            return PayoutPeople(ordered_by=ordered_by)
        approver = Orderer(row.decided_by, row.approver_name or "", row.approver_email or "")
        return PayoutPeople(
            ordered_by=ordered_by,
            approved_by=approver,
            approval_id=row.approval_id,
            ordered_at=row.ordered_at,
        )

    async def open_work(self, who: Staff) -> OpenWork:
        """Count the open work of a user, in one statement."""
        now, scope, mine = who.acting.now(), who.scope, reviewable(who)
        open_payouts: Sequence[Condition] = (UNRESOLVED, *of_account(payouts.c.account_id, scope))
        asked = not_(payouts.c.review) if who.may(_PROBES) else false()
        decided = and_(decidable(who, now), *of_company(approvals.c.company_id, scope))
        held: Sequence[Condition] = (stops.c.lifted_at.is_(None), stops.c.ends_at > now)
        counted = select(
            _number(payouts, or_(asked, mine), *open_payouts),
            _number(payouts, mine, *open_payouts),
            _number(approvals, or_(decided, collectable(who, now))),
            _number(stops, *(held if who.may(_STOPS) else (false(),)), *stops_in(scope)),
        )
        [(unresolved, review, waiting, stopped)] = await self._database.rows(counted)
        return OpenWork(unresolved=unresolved, review=review, approvals=waiting, stops=stopped)

    async def hit(self, provider: str, since: datetime, scope: CompanyScope) -> list[HitPayouts]:
        """Count payouts at a bank by account: without an outcome, and unsent since an instant."""
        stand = payouts.c.state
        waiting = stand.in_([PayoutState.SENDING.value, PayoutState.ACCEPTED.value])
        open_to = (payouts.c.provider == provider, *of_account(payouts.c.account_id, scope))
        planned = PLANNED.where(planned_checks.c.provider == provider)
        of = {
            Hit.UNKNOWN: (UNRESOLVED,),
            Hit.WAITING: (tuple_(*_KEY).in_(planned), waiting, not_(payouts.c.review)),
            Hit.NOT_SENT: (payouts.c.created_at >= since, proven(Certainty.NOT_SENT)),
            Hit.NOT_EXECUTED: (payouts.c.created_at >= since, proven(Certainty.NOT_EXECUTED)),
        }
        centavos = cast(func.sum(payouts.c.centavos), BigInteger).label("centavos")
        counted = union_all(
            *(
                select(
                    payouts.c.account_id,
                    literal(hit.value).label("hit"),
                    func.count().label("number"),
                    centavos,
                )
                .where(*which, *open_to)
                .group_by(payouts.c.account_id)
                for hit, which in of.items()
            )
        )
        rows = await self._database.rows(counted)
        return [
            HitPayouts(row.account_id, Hit(row.hit), row.number, Sum(row.centavos)) for row in rows
        ]

    async def _are_few(self, query: PayoutQuery) -> bool:
        """
        Return whether few payouts were ordered, or came back, with the amounts of a search.

        Those are read by the indexes of amounts. Of many the newest are soon found among all, which
        neither database can estimate it while it plans: SQLite has no statistics of a store.
        """
        least, most = _bounds(query.wanted)
        if (least is None and most is None) or least == most:
            return False
        ordered = select(payouts.c.centavos).where(
            _EVERY_ACCOUNT, _within(payouts.c.centavos, least, most)
        )
        back = select(returns.c.centavos).where(_within(returns.c.centavos, least, most))
        counted = (
            select(func.count()).select_from(each.limit(_FEW + 1).subquery())
            for each in (ordered, back)
        )
        [numbers] = await self._database.rows(select(*(each.scalar_subquery() for each in counted)))
        return sum(numbers) <= _FEW

    async def _found(
        self, conditions: Sequence[Condition], scope: CompanyScope, cut: Cut = NEWEST
    ) -> Sequence[FoundPayout]:
        wanted = _NAMED.where(*conditions, *of_account(payouts.c.account_id, scope))
        newest = wanted.order_by(*(each.desc() for each in _KEYSET))
        rows = await self._database.rows(newest.limit(cut.limit).offset(cut.offset))
        return [_restored(row) for row in rows]

    async def _referenced(self, given: str, scope: CompanyScope) -> Sequence[FoundPayout]:
        """Return the payouts of a reference, then the newest whose reference begins with it."""
        own = of_account(payouts.c.account_id, scope)
        exact = _NAMED.where(payouts.c.reference == given, _SHORT, *own)
        begun = _NAMED.where(
            payouts.c.reference > given, payouts.c.reference < given + _LAST, _SHORT, *own
        )
        # References mostly count upwards: the highest are the newest of a beginning that many have.
        highest = begun.order_by(payouts.c.reference.desc()).limit(_COMPARED_AT_MOST).subquery()
        either = union_all(exact, select(highest)).subquery()
        newest = (either.c.reference != given, either.c.created_at.desc())
        wanted = select(either).order_by(*newest).limit(FOUND_AT_MOST)
        rows = await self._database.rows(wanted)
        return [_restored(row) for row in rows]

    async def counts(self, query: PayoutQuery, scope: CompanyScope) -> PayoutCounts:
        """Count all that lie in the window by state: the newest, as many as are counted at most."""
        # What is not paid has moved nothing, and has no returns: they are not looked for there.
        is_paid = payouts.c.state == PayoutState.PAID.value
        columns = (
            *(payouts.c.created_at, *_KEY, payouts.c.state, CERTAINTY, payouts.c.review),
            case((is_paid, _RETURNED), else_=0).label("returned"),
            *(payouts.c.centavos, case((is_paid, _MOVED), else_=0).label("moved")),
        )
        inside = _inside(query, scope, few=await self._are_few(query))
        newest = _first(columns, inside, [desc], COUNTED_AT_MOST + 1)
        back = case((newest.c.returned > 0, 1), else_=0).label("back")
        alike = (newest.c.state, newest.c.certainty, newest.c.review, back)
        added = (
            func.count().label("number"),
            func.sum(newest.c.centavos).label("sum"),
            func.sum(newest.c.moved).label("moved"),
            func.sum(newest.c.returned).label("returned"),
        )
        counted = select(*alike, *added).group_by(*alike).order_by(*alike)
        rows = await self._database.rows(counted)
        complete = sum(row.number for row in rows) <= COUNTED_AT_MOST
        return PayoutCounts([_count(row) for row in rows], complete)


def _first(
    columns: Sequence[ColumnElement[Any]],
    wanted: Sequence[Sequence[Condition]],
    order: Sequence[Callable[[ColumnElement[Any]], ColumnElement[Any]]],
    limit: int,
    offset: int = 0,
) -> Subquery:
    """
    Select the first payouts that meet one of several lists of conditions.

    Each list has a statement of its own, so that each is led by its own index: an OR over several
    columns and another table has none.

    Args:
        columns: The selected columns; the columns of the order first, then the rest of the key.
        wanted: The lists of conditions; no payout meets two.
        order: How each of the first columns orders.
        limit: Number of selected payouts.
        offset: Number of payouts skipped before them.
    """
    ordered = [way(column) for way, column in zip(order, columns, strict=False)]
    each = [select(*columns).where(*one).order_by(*ordered) for one in wanted]
    if len(each) == 1:
        return each[0].limit(limit).offset(offset).subquery()
    each = [one.limit(limit + offset) for one in each]
    either = union_all(*(select(one.subquery()) for one in each)).subquery()
    ordered = [way(column) for way, column in zip(order, either.c, strict=False)]
    return select(either).order_by(*ordered).limit(limit).offset(offset).subquery()


def _near_or_led(
    wanted: Sequence[Condition],
    near: ColumnElement[bool],
    led: Led,
    order: Callable[[ColumnElement[Any]], ColumnElement[Any]],
    cut: tuple[int, int],
) -> Subquery:
    """
    Select the first payouts among the nearest, and where they are too few all by other indexes.

    Where many are wanted the nearest are enough; where few are, the rest of the window is not
    walked. Rows among the nearest are found twice then, and selected once.

    Args:
        wanted: The conditions of all.
        near: The condition of the nearest.
        led: As ``_led`` returns it.
        order: How the list is ordered.
        cut: Numbers of selected and of skipped payouts.
    """
    limit, offset = cut
    ordered = [order(each) for each in _KEYSET]
    some = select(*_KEYSET).order_by(*ordered).limit(limit + offset)
    # It comes first: of two bounds of an instant SQLite walks an index down to the first.
    nearest = some.where(near, *wanted).cte("near")
    lacks = select(func.count()).select_from(nearest).scalar_subquery() < limit + offset
    others = (some.where(*wanted, *each).subquery() for each in led(lacks))
    either = union(select(nearest), *map(select, others)).subquery()
    ordered = [order(each) for each in either.c]
    return select(either).order_by(*ordered).limit(limit).offset(offset).subquery()


def _near(query: PayoutQuery, beyond: Sequence[Condition]) -> ColumnElement[bool]:
    """Return the condition of the first payouts to which an index leads, ``_NEAR`` of them."""
    created, wanted = payouts.c.created_at, query.wanted
    window = [*beyond]
    if query.start is not None:
        window.append(created >= query.start)
    if query.end is not None:
        window.append(created < query.end)
    leads = [each for name, each in _equal(wanted).items() if name in _LEADING]
    nearest = select(created).where(*window, *leads[:1]).order_by(_order(query)(created))
    last = nearest.offset(_NEAR - 1).limit(1).correlate(None).scalar_subquery()
    if wanted.order is PayoutOrder.NEWEST:
        return created >= func.coalesce(last, literal(query.start or _EPOCH, Instant))
    return created <= func.coalesce(last, literal(query.end or _END, Instant))


def _led(wanted: PayoutFilterBody) -> Led | None:
    """Return how states that few are in are found by indexes; None for others."""
    if wanted.returned:
        back = select(returns.c.account_id, returns.c.reference_sha256)
        return lambda needed: [[tuple_(*_KEY).in_(back.where(needed))]]
    states = set(wanted.states)
    besides: Condition = UNRESOLVED
    if wanted.certainty is not None:
        words = wanted.certainty.words
        states = {each for each in PayoutState if certainty_when(each, None, None) in words}
        if words <= {Certainty.NOT_SENT, Certainty.NOT_EXECUTED}:
            states, besides = {PayoutState.NOT_SENT}, _FAILED_UNSENT
    if not states or states & FINAL_STATES:
        return None
    # What has no end is planned to be looked at; else it failed, is unknown, or in review.
    return lambda needed: [
        [tuple_(*_KEY).in_(PLANNED.where(needed))],
        [besides, needed],
    ]


def _order(query: PayoutQuery) -> Callable[[ColumnElement[Any]], ColumnElement[Any]]:
    return desc if query.wanted.order is PayoutOrder.NEWEST else asc


def _inside(query: PayoutQuery, scope: CompanyScope, *, few: bool) -> Sequence[Sequence[Condition]]:
    """
    Return lists of conditions, of which a payout meets one that is in a window and in scope.

    With ``few`` each is read by an index of amounts; see ``_are_few``.
    """
    wanted, text = query.wanted, query.wanted.text
    amounts = _amounts(*_bounds(wanted), few=few)
    common = [*_open_to(query), *of_account(payouts.c.account_id, scope)]
    alike = [[*common, *each] for each in amounts]
    created, start = payouts.c.created_at, query.start
    if text is None or search_term(text).centavos is not None:
        since = () if start is None else (created >= start,)
        return [[*since, *each] for each in alike]
    texts = (Folded(payouts.c.reference), payouts.c.payee_folded)
    return [[*each, holding(text, texts, created, start, each)] for each in alike]


def _bounds(wanted: PayoutFilterBody) -> tuple[Money | None, Money | None]:
    """Return the least and the most amount of a search, in which a text may be one."""
    centavos = None if wanted.text is None else search_term(wanted.text).centavos
    exact = () if centavos is None else (Money(centavos),)
    least = max((*exact, *filter(None, [wanted.least])), default=None)
    return least, min((*exact, *filter(None, [wanted.most])), default=None)


def _within(
    amount: ColumnElement[Any], least: Money | None, most: Money | None
) -> ColumnElement[bool]:
    # They stand in the statement itself: a plan that PostgreSQL keeps for all bounds suits none.
    return and_(
        *(
            compares(amount, literal(bound.centavos, BigInteger, literal_execute=True))
            for compares, bound in ((ge, least), (le, most))
            if bound is not None
        )
    )


def _amounts(
    least: Money | None, most: Money | None, *, few: bool
) -> Sequence[Sequence[Condition]]:
    """
    Return conditions on an amount in bounds: ordered, moved by the bank, or returned.

    A row meets at most one of the lists of conditions. For a single amount, and for a few, each
    list is read by its own index; for a range of many there is one list, read in one walk. Of money
    that came back, each part has an amount, and all parts together.
    """
    if least is None and most is None:
        return [()]
    within = partial(_within, least=least, most=most)
    ordered, moved = within(payouts.c.centavos), within(payouts.c.moved_centavos)
    back = select(returns.c.account_id, returns.c.reference_sha256)
    part = back.where(within(returns.c.centavos))
    together = back.group_by(returns.c.account_id, returns.c.reference_sha256).having(
        func.count() > 1, within(func.sum(returns.c.centavos))
    )
    # Selected once more: SQLite is not led by the keys of a union itself.
    came_back = tuple_(*_KEY).in_(select(union_all(part, together).subquery()))
    if least is not None and least == most:
        ordered = payouts.c.centavos == least.centavos
        by_order, by_move = and_(ordered, _EVERY_ACCOUNT), and_(_IS_MOVED, moved)
    elif few:
        # Only by keys is SQLite led: else it walks the window in the order of the list.
        alike = select(_ALIKE.c.account_id, _ALIKE.c.reference_sha256)
        every = _ALIKE.c.account_id.in_(select(accounts.c.id))
        by_order = tuple_(*_KEY).in_(alike.where(every, within(_ALIKE.c.centavos)))
        is_moved = _ALIKE.c.exception == "moved"
        by_move = tuple_(*_KEY).in_(alike.where(is_moved, within(_ALIKE.c.moved_centavos)))
    else:
        return [[or_(ordered, moved, came_back)]]
    return [
        [by_order],
        [by_move, not_(ordered)],
        [came_back, not_(ordered), moved.is_not(true())],
    ]


def _open_to(query: PayoutQuery) -> Iterator[Condition]:
    """Return the conditions of the search, without amount and start of the window."""
    wanted = query.wanted
    if query.end is not None:
        yield payouts.c.created_at < query.end
    if query.ordered is not None:
        yield payouts.c.centavos == query.ordered.centavos
    yield from _equal(wanted).values()


def _equal(wanted: PayoutFilterBody) -> Mapping[str, ColumnElement[bool]]:
    """Return the conditions of equality; leading columns of an index come first."""
    columns = payouts.c
    asked = (
        (columns.account_id, wanted.account_id and wanted.account_id.lower()),
        (columns.client_id, wanted.client_id),
        (columns.method, wanted.method),
        (columns.provider, wanted.provider),
        # An open payout has not failed, and has another word here.
        (columns.exception, wanted.failure),
    )
    return {
        column.name: column == _shown(str(value)) for column, value in asked if value is not None
    }


def _shown(value: str) -> str | BindParameter[str]:
    """Return a value that PostgreSQL sees while it plans, if it is written as our ids are."""
    plain = re.fullmatch(r"[0-9A-Za-z_:.-]+", value, re.ASCII)
    return literal(value, Text, literal_execute=True) if plain else value


def _standing(wanted: PayoutFilterBody) -> Iterator[Condition]:
    """Return the conditions on states; unproven ones have their own index."""
    if wanted.states:
        yield payouts.c.state.in_(sorted(set(wanted.states)))
    if wanted.certainty is not None:
        yield or_(*map(proven, sorted(wanted.certainty.words)))
    if wanted.review is not None:
        yield payouts.c.review == wanted.review
    if wanted.unresolved is not None:
        yield UNRESOLVED if wanted.unresolved else _PROVEN
    if wanted.returned is not None:
        yield _CAME_BACK if wanted.returned else ~_CAME_BACK
    if wanted.review or set(wanted.states) == {PayoutState.UNKNOWN}:
        yield UNRESOLVED


def _beyond(query: PayoutQuery) -> Iterator[Condition]:
    """Return the condition for rows after the last page; its first bound is for the index."""
    after = query.after
    if after is None:
        return
    at: tuple[Any, ...] = (after.created_at, after.account_id, after.reference_sha256)
    if query.wanted.order is PayoutOrder.NEWEST:
        yield payouts.c.created_at <= after.created_at
        yield tuple_(*_KEYSET) < at
    else:
        yield payouts.c.created_at >= after.created_at
        yield tuple_(*_KEYSET) > at


def _number(table: Table, *conditions: Condition) -> ScalarSelect[int]:
    return select(func.count()).select_from(table).where(*conditions).scalar_subquery()


def _by(named: Named, given: str) -> Sequence[Condition]:
    """Return the SQL condition of a text; each has an index, which the second part allows."""
    match named:
        case Named.E2E_ID:
            return (_called(given), payouts.c.e2e_id == given)
        case Named.PROVIDER_ID:
            return (_called(given), payouts.c.provider_id == given)
        case Named.PROVIDER_KEY:
            return (payouts.c.provider_key == given,)
        case Named.TRACE_ID:
            tried = select(attempts.c.account_id, attempts.c.reference_sha256)
            return (tuple_(*_KEY).in_(tried.where(attempts.c.trace_id == given)),)
        case Named.REFERENCE:
            return (payouts.c.reference == given, _SHORT)
        case Named.RETURN_ID:
            back = select(returns.c.account_id, returns.c.reference_sha256)
            return (tuple_(*_KEY).in_(back.where(returns.c.id == given)),)


def _called(name: str) -> Condition:
    called = select(bank_names.c.provider_key).where(bank_names.c.name == name)
    return payouts.c.provider_key.in_(called)


def _place(row: Record) -> PayoutPlace:
    return PayoutPlace(row.created_at, row.account_id, row.reference_sha256)


def _count(row: Record) -> StateCount:
    return StateCount(
        state=PayoutState(row.state),
        certainty=Certainty(row.certainty),
        review=bool(row.review),
        count=row.number,
        value=Sum(int(row.sum)),
        moved=Sum(int(row.moved)),
        returned=bool(row.back),
        returned_value=Sum(int(row.returned)),
    )


def _restored(row: Record) -> FoundPayout:
    payout = restored_payout(row)
    ordered_by = Orderer.of(payout.client_id, row.orderer_name, row.orderer_email)
    return FoundPayout(payout, row.account_name, Sum(row.returned), ordered_by)
