"""What needs somebody now, and whom: each kind's statement, and the people who can act on it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import ColumnElement, Select, case, or_, select, tuple_

from gateway.closings.days import ready_companies
from gateway.core.access import Staff
from gateway.core.approvals import COLLECTED_WITHIN
from gateway.core.company_scope import CompanyScope
from gateway.core.permissions import Action
from gateway.core.rights import Area, Right
from gateway.notifications.model import LOOKS_BACK, Kind, Occasion
from gateway.notifications.outages import Outages
from gateway.outflow.store import open_now
from gateway.statements.model import local_day
from gateway.store.kernel.database import Database
from gateway.store.own_work import collectable, decidable, has_secret, reviewable, waits
from gateway.store.tables.backoffice import approvals
from gateway.store.tables.columns import Record
from gateway.store.tables.core import (
    UNRESOLVED,
    accounts,
    foreign_debits,
    payouts,
)

_ORDERS_BACK: Final = timedelta(days=4)
"""An order waits three days at most; the bound is for the index."""
_MOST: Final = 500
"""Of one kind: what is beyond is found when others are done."""
_REVIEWS: Final = Right(Area.REVIEW, Action.WRITE)
_STOPS: Final = Right(Area.STOP, Action.WRITE)
_NEEDED: Final[Mapping[Kind, Right]] = {
    Kind.OUTFLOW: _STOPS,
    Kind.BANK: Right(Area.PROVIDER, Action.READ),
    Kind.FOREIGN_DEBIT: _REVIEWS,
    Kind.DAY: _REVIEWS,
}
"""Who is told of kinds whose records do not themselves say whose they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Occasions:
    """Reads what holds now."""

    database: Database
    outages: Outages

    async def open(self, kinds: Collection[Kind], now: datetime) -> Sequence[Occasion]:
        """Return the open occasions of some kinds, of all companies; the oldest first."""
        readers: Mapping[Kind, Callable[[datetime], Awaitable[Sequence[Occasion]]]] = {
            Kind.OPINION: self._reviews,
            Kind.OUTFLOW: self._outflow,
            Kind.BANK: self.outages.occasions,
            Kind.FOREIGN_DEBIT: self._foreign_debits,
            Kind.DAY: self._days,
        }
        found = await self._orders(kinds, now)
        for kind, read in readers.items():
            found += await read(now) if kind in kinds else ()
        return found

    async def concerning(
        self, who: Staff, occasions: Sequence[Occasion], now: datetime
    ) -> Sequence[Occasion]:
        """Return the occasions that a person may see and act on, without their own orders."""
        mine: dict[Kind, set[tuple[object, ...]]] = {Kind.ORDER: set(), Kind.SECRET: set()}
        ids = [each.record[0] for each in occasions if each.kind in mine]
        if ids:
            conditions = {Kind.ORDER: decidable(who, now), Kind.SECRET: collectable(who, now)}
            wanted = _approvals(conditions).where(approvals.c.id.in_(ids))
            for row in await self.database.rows(wanted):
                mine[Kind(row.occasion)].add((row.id,))
        keys = [each.record for each in occasions if each.kind is Kind.OPINION]
        if keys:
            key = tuple_(payouts.c.account_id, payouts.c.reference_sha256)
            wanted_payouts = select(payouts.c.account_id, payouts.c.reference_sha256).where(
                key.in_(keys), reviewable(who)
            )
            mine[Kind.OPINION] = {tuple(row) for row in await self.database.rows(wanted_payouts)}
        told = await self._told_of_outages(f"user:{_id(who)}", occasions)
        return [
            each
            for each in occasions
            if _sees(who.scope, each, own=each.kind is Kind.SECRET)
            and (
                each.record in mine[each.kind] if each.kind in mine else who.may(_NEEDED[each.kind])
            )
            and _is_told(each, told)
        ]

    async def concerning_chat(
        self, recipient: str, company_id: str | None, occasions: Sequence[Occasion]
    ) -> Sequence[Occasion]:
        """Return the occasions that concern a company's chat, or the operators'."""
        told = await self._told_of_outages(recipient, occasions)
        return [
            each
            for each in occasions
            if (company_id is None or company_id in each.companies) and _is_told(each, told)
        ]

    async def _told_of_outages(
        self, recipient: str, occasions: Sequence[Occasion]
    ) -> Collection[str]:
        """Return the ended outages of whose beginning a recipient was notified."""
        over = [each.record[0] for each in occasions if each.kind is Kind.BANK and each.record]
        return await self.outages.told(recipient, over) if over else ()

    async def _orders(self, kinds: Collection[Kind], now: datetime) -> list[Occasion]:
        """Return the orders that wait for a decision, and those whose secret waits."""
        conditions = {Kind.ORDER: waits(now), Kind.SECRET: has_secret(now)}
        chosen = {kind: condition for kind, condition in conditions.items() if kind in kinds}
        if not chosen:
            return []
        wanted = _approvals(chosen).where(approvals.c.ordered_at > now - _ORDERS_BACK)
        rows = await self.database.rows(_oldest(wanted, approvals.c.ordered_at))
        return [
            Occasion(
                kind=Kind(row.occasion),
                subject=row.id,
                record=(row.id,),
                link=f"/panel/approvals/{row.id}",
                ends_at=(
                    row.ends_at if row.occasion == Kind.ORDER else row.decided_at + COLLECTED_WITHIN
                ),
                companies=_company(row),
            )
            for row in rows
        ]

    async def _reviews(self, now: datetime) -> Sequence[Occasion]:
        key = (payouts.c.account_id, payouts.c.reference_sha256)
        wanted = (
            select(*key, payouts.c.attempt, payouts.c.state, accounts.c.company_id)
            .join(accounts, accounts.c.id == payouts.c.account_id)
            .where(UNRESOLVED, payouts.c.review, payouts.c.updated_at > now - LOOKS_BACK)
        )
        return [
            Occasion(
                kind=Kind.OPINION,
                subject=f"{row.account_id}/{row.reference_sha256.hex()}/{row.attempt}/{row.state}",
                record=(row.account_id, row.reference_sha256),
                # The page of the payout has a partner's reference in its address.
                link="/panel/unresolved",
                companies=_company(row),
            )
            for row in await self.database.rows(_oldest(wanted, payouts.c.created_at))
        ]

    async def _outflow(self, now: datetime) -> Sequence[Occasion]:
        return [
            Occasion(
                kind=Kind.OUTFLOW,
                subject=trip.id,
                word="outside" if trip.stop_id is None else "stopped",
                link=f"/panel/outflow/{trip.scope}/{trip.subject}",
                is_urgent=True,
                companies=frozenset({trip.company_id}),
            )
            for trip in await open_now(self.database, now)
        ]

    async def _foreign_debits(self, now: datetime) -> Sequence[Occasion]:
        debit = foreign_debits.c
        wanted = (
            select(debit.account_id, debit.line_id, debit.day, accounts.c.company_id)
            .join(accounts, accounts.c.id == debit.account_id)
            .where(debit.settled_at.is_(None), debit.found_at > now - LOOKS_BACK)
        )
        return [
            Occasion(
                kind=Kind.FOREIGN_DEBIT,
                subject=f"{row.account_id}/{row.line_id}",
                link=f"/panel/accounts/{row.account_id}/closing?day={row.day.isoformat()}",
                companies=_company(row),
            )
            for row in await self.database.rows(_oldest(wanted, debit.found_at))
        ]

    async def _days(self, now: datetime) -> Sequence[Occasion]:
        """Return yesterday, as long as an account of it can be signed."""
        day = local_day(now) - timedelta(days=1)
        companies = await ready_companies(self.database, day)
        if not companies:
            return []
        return [
            Occasion(
                kind=Kind.DAY,
                subject=day.isoformat(),
                name=day.isoformat(),
                link="/panel/closings",
                companies=companies,
            )
        ]


def _sees(scope: CompanyScope, occasion: Occasion, *, own: bool) -> bool:
    """Return whether a scope has one of the companies; the orderer sees an own order always."""
    return scope.everything or own or any(map(scope.includes, occasion.companies))


def _is_told(occasion: Occasion, told: Collection[str]) -> bool:
    """Return whether to notify: of an outage's end only if its beginning was notified."""
    return occasion.kind is not Kind.BANK or not occasion.record or occasion.record[0] in told


def _approvals(
    conditions: Mapping[Kind, ColumnElement[bool]],
) -> Select[*tuple[Any, ...]]:
    """
    Select the orders that are occasions of some kinds, each with the kind of its condition.

    Secrets come first: they end within minutes, and there may be more orders than are read.
    """
    kinds = ((condition, kind.value) for kind, condition in conditions.items())
    occasion = case(*kinds).label("occasion")
    return select(approvals, occasion).where(or_(*conditions.values())).order_by(occasion.desc())


def _oldest(
    wanted: Select[*tuple[Any, ...]], at: ColumnElement[datetime | None]
) -> Select[*tuple[Any, ...]]:
    return wanted.order_by(at).limit(_MOST)


def _company(row: Record) -> frozenset[str]:
    return frozenset({row.company_id} - {None})


def _id(who: Staff) -> str:
    return who.person.user_id if who.person else ""
