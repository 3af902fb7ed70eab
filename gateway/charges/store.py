"""Stored charges that were ordered through us."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Update,
    and_,
    bindparam,
    case,
    delete,
    func,
    or_,
    select,
    update,
)
from sqlalchemy.ext.asyncio.engine import AsyncConnection

from gateway.charges.model import (
    COUNTED_AT_MOST,
    ChargeRecord,
    ChargeSearch,
    ChargeState,
    ChargeSums,
    SeenCharge,
)
from gateway.core.company_scope import CompanyScope
from gateway.core.money import Sum
from gateway.core.storage import LEASE_AHEAD
from gateway.core.terms import search_term
from gateway.core.windows import PageStart
from gateway.events import store as events
from gateway.events.model import FEED_KEPT, Event, EventType
from gateway.store.kernel.database import Database
from gateway.store.kernel.structs import from_row, row_of
from gateway.store.tables.columns import reference_digest
from gateway.store.tables.core import charges, received
from gateway.store.tables.scope import of_account
from gateway.store.tables.texts import Folded, holding

_OWN: Final = and_(
    charges.c.account_id == bindparam("of_account"),
    charges.c.reference_sha256 == bindparam("of_reference"),
)
_NEWEST: Final = select(charges).order_by(charges.c.created_at.desc(), charges.c.id.desc())
_SEEN: Final[ColumnElement[str]] = bindparam("seen", type_=charges.c.state.type)
_PAID: Final = ChargeState.PAID.value
_ACTIVE: Final = ChargeState.ACTIVE.value
_ONCE: Final = ~charges.c.reusable
_UNKNOWN: Final = ChargeState.UNKNOWN.value
_OPEN: Final = (_UNKNOWN, _ACTIVE)
_WRITTEN: Final = update(charges).where(_OWN)
# Of what ended, a slow answer takes nothing back: one that was asked for before what is known. A
# time that lies too far ahead is from before a clock was put back.
_NOT_SLOW: Final = or_(
    charges.c.state.in_(_OPEN),
    charges.c.updated_at <= bindparam("at"),
    charges.c.updated_at > bindparam("ahead"),
)
_AMOUNT: Final = bindparam("amount", type_=BigInteger())
_OTHER_PAYMENT: Final = or_(
    charges.c.e2e_id != bindparam("payment"),
    charges.c.paid_at.is_(None),
    and_(_AMOUNT.is_not(None), charges.c.paid_centavos.is_distinct_from(_AMOUNT)),
)
_PAYMENT: Final[Mapping[str, Any]] = {
    # A reusable one goes on, and is known to have been made.
    "state": case((_ONCE, _PAID), (charges.c.state == _UNKNOWN, _ACTIVE), else_=charges.c.state),
    "updated_at": bindparam("at"),
    "paid_at": bindparam("paid"),
    "paid_centavos": _AMOUNT,
    "e2e_id": bindparam("payment"),
    "payer_name": func.coalesce(func.nullif(bindparam("payer"), ""), charges.c.payer_name),
}
_TOLD_PAYMENT: Final = _WRITTEN.where(
    or_(and_(_ONCE, charges.c.state != _PAID), _OTHER_PAYMENT)
).values(_PAYMENT)
_TOLD_PAID: Final = _WRITTEN.where(_ONCE, charges.c.state != _PAID).values(
    state=_PAID, updated_at=bindparam("at")
)
# A listed payment only names the charge: its amount has to suffice, and what the bank says of the
# charge itself afterwards outranks it.
_LISTED_PAYMENT: Final = _WRITTEN.where(
    or_(charges.c.centavos.is_(None), charges.c.centavos <= _AMOUNT),
    or_(
        and_(charges.c.reusable, charges.c.paid_at < bindparam("paid")),
        and_(
            charges.c.paid_at.is_(None),
            or_(
                charges.c.reusable,
                charges.c.state == _PAID,
                charges.c.updated_at < bindparam("believed"),
            ),
        ),
    ),
).values(_PAYMENT)
_UNPAID: Final[Mapping[str, Any]] = {
    "updated_at": bindparam("at"),
    "paid_at": case((charges.c.reusable, charges.c.paid_at)),
    "paid_centavos": case((charges.c.reusable, charges.c.paid_centavos)),
    "e2e_id": case((charges.c.reusable, charges.c.e2e_id), else_=""),
    "payer_name": case(
        (and_(_ONCE, charges.c.paid_at.is_not(None)), bindparam("payer")),
        else_=charges.c.payer_name,
    ),
}
_TOLD_STATE: Final = _WRITTEN.where(_NOT_SLOW, charges.c.state != _SEEN).values(
    state=_SEEN, **_UNPAID
)
_TOLD_UNPAID: Final = _WRITTEN.where(_NOT_SLOW, _ONCE, charges.c.state == _PAID).values(
    state=_ACTIVE, **_UNPAID
)
_CLOCKS_APART: Final = timedelta(minutes=5)
"""How far a bank's clock may be behind ours."""


class StoredCharges:
    """Records by account and reference; each method raises ``StoreUnavailable``."""

    def __init__(
        self, database: Database, new_event_id: Callable[[], str] = events.RANDOM_ID
    ) -> None:
        self._database = database
        self._new_event_id = new_event_id

    async def begin(self, record: ChargeRecord) -> bool:
        """
        Hold the reference until ``made_until``, and store the record if it is new.

        False while another order, in any process, holds it.
        """
        now, until = record.created_at, charges.c.made_until
        # one that ends too far ahead is from before a clock was put back
        free = or_(until.is_(None), until <= now, until > now + LEASE_AHEAD)
        held = update(charges).where(_OWN, free).values(made_until=record.made_until)
        async with self._database.writing() as connection:
            if (await connection.execute(held, _key(record))).rowcount:
                return True
            return await self._database.add(connection, charges, _row(record))

    async def renew(self, record: ChargeRecord) -> None:
        """
        Replace the charge of a reference, under the same id.

        The order is over, and the reference is released.
        """
        row = {**_row(record), "made_until": None}
        columns = {name: value for name, value in row.items() if name != "id"}
        async with self._database.writing() as connection:
            done = await connection.execute(
                update(charges).where(_OWN).values(columns), _key(record)
            )
            if not done.rowcount:
                await self._database.add(connection, charges, row)

    async def discard(self, record: ChargeRecord) -> None:
        """
        Delete a charge that the bank did not create, unless more is known by now.

        The order is over, and this order releases the reference.
        """
        unknown = charges.c.state == ChargeState.UNKNOWN.value
        held = update(charges).where(_OWN, charges.c.made_until == record.made_until)
        async with self._database.writing() as connection:
            await connection.execute(delete(charges).where(charges.c.id == record.id, unknown))
            await connection.execute(held.values(made_until=None), _key(record))

    async def note(self, seen: Sequence[SeenCharge]) -> None:
        """
        Store new facts: the later answer of a bank corrects the earlier one.

        Each payment is stored with one event, in the same transaction. A reusable charge stays
        active when it is paid. A listed payment pays a charge whose amount it reaches, or that has
        no amount, unless a later answer of the bank contradicts. A payment without a charge is
        stored alone.
        """
        for each in seen:
            async with self._database.writing() as connection:
                if each.reference:
                    await connection.execute(*_noted(each))
                await self._receive(connection, each)

    async def _receive(self, connection: AsyncConnection, seen: SeenCharge) -> None:
        """Store a new payment, and write its event unless the payment is too old for the feed."""
        if seen.paid_at is None or not seen.e2e_id:
            return
        row = {
            "account_id": seen.account_id,
            "e2e_id": seen.e2e_id,
            "reference": seen.reference,
            "paid_at": seen.paid_at,
        }
        now = self._database.now()
        is_new = await self._database.add(connection, received, row)
        if is_new and seen.paid_at >= now - FEED_KEPT:
            told = Event(
                id=self._new_event_id(),
                account_id=seen.account_id,
                type=EventType.PIX_RECEIVED,
                at=now,
                reference=seen.reference,
                e2e_id=seen.e2e_id,
            )
            await events.append(connection, told)

    async def search(
        self, wanted: ChargeSearch, scope: CompanyScope, now: datetime
    ) -> Sequence[ChargeRecord]:
        """Return at most one more than the page has, newest first; ``now`` decides on expiry."""
        chosen = _NEWEST.where(*_conditions(wanted, scope, now))
        if wanted.page.after is not None:
            chosen = chosen.where(_after(wanted.page.after))
        rows = await self._database.rows(chosen.limit(wanted.page.limit + 1).offset(wanted.offset))
        return [from_row(row, ChargeRecord) for row in rows]

    async def sums(self, wanted: ChargeSearch, scope: CompanyScope, now: datetime) -> ChargeSums:
        """Sum all charges of a search: the newest, up to the maximum counted."""
        found = _NEWEST.where(*_conditions(wanted, scope, now))
        newest = found.limit(COUNTED_AT_MOST + 1).subquery()
        added = select(func.count(), func.coalesce(func.sum(newest.c.centavos), 0))
        [(number, together)] = await self._database.rows(added.select_from(newest))
        counted = min(number, COUNTED_AT_MOST)
        return ChargeSums(counted, Sum(int(together)), complete=number == counted)

    async def paid_by(self, account_id: str, e2e_ids: Collection[str]) -> Sequence[ChargeRecord]:
        """Return the charges of an account whose last payment is among these."""
        wanted = [each for each in e2e_ids if each]
        if not wanted:
            return []
        chosen = select(charges).where(
            charges.c.e2e_id.in_(wanted), charges.c.account_id == account_id
        )
        rows = await self._database.rows(chosen)
        return [from_row(row, ChargeRecord) for row in rows]


def _conditions(
    wanted: ChargeSearch, scope: CompanyScope, now: datetime
) -> Sequence[ColumnElement[bool]]:
    """Return the SQL conditions of a search, without its page."""
    found = [*of_account(charges.c.account_id, scope)]
    if wanted.until is not None:
        found.append(charges.c.created_at < wanted.until)
    if wanted.account_id is not None:
        found.append(charges.c.account_id == wanted.account_id)
    if wanted.reference is not None:
        found.append(charges.c.reference_sha256 == reference_digest(wanted.reference))
    if wanted.state is not None:
        found.extend(_in_state(wanted.state, now))
    at, centavos = charges.c.created_at, None
    if wanted.text is not None:
        centavos = search_term(wanted.text).centavos
        if centavos is None:
            texts = (Folded(charges.c.reference), Folded(charges.c.payer_name))
            return [*found, holding(wanted.text, texts, at, wanted.since, tuple(found))]
        found.append(or_(charges.c.centavos == centavos, charges.c.paid_centavos == centavos))
    if wanted.since is not None:
        found.append(at >= wanted.since)
    return found


def _in_state(state: ChargeState, now: datetime) -> Sequence[ColumnElement[bool]]:
    """Return the SQL condition of a state; the expiry of active charges depends on the time."""
    match state:
        case ChargeState.ACTIVE:
            open_end = charges.c.expires_at.is_(None)
            return charges.c.state == state.value, or_(open_end, charges.c.expires_at > now)
        case ChargeState.EXPIRED:
            active = charges.c.state == ChargeState.ACTIVE.value
            return active, charges.c.expires_at <= now
        case _:
            return (charges.c.state == state.value,)


def _after(start: PageStart) -> ColumnElement[bool]:
    """Return the SQL condition for rows after a position; its first part allows an index."""
    at = charges.c.created_at
    return and_(at <= start.at, or_(at < start.at, charges.c.id < start.id))


def _key(record: ChargeRecord) -> Mapping[str, Any]:
    digest = reference_digest(record.reference)
    return {"of_account": record.account_id, "of_reference": digest}


def _row(record: ChargeRecord) -> dict[str, Any]:
    return {**row_of(record), "reference_sha256": reference_digest(record.reference)}


def _noted(seen: SeenCharge) -> tuple[Update, Mapping[str, Any]]:
    """Return the statement that stores an answer, and its values."""
    given: dict[str, Any] = {
        "of_account": seen.account_id,
        "of_reference": reference_digest(seen.reference),
        "at": seen.at,
    }
    payment = {
        "paid": seen.paid_at,
        "amount": None if seen.paid is None else seen.paid.centavos,
        "payment": seen.e2e_id,
        "payer": seen.payer_name,
    }
    if seen.is_listed and seen.paid_at is not None:
        try:
            believed = seen.paid_at + _CLOCKS_APART
        except OverflowError:  # the last day of the calendar
            believed = seen.paid_at
        return _LISTED_PAYMENT, {**given, **payment, "believed": believed}
    if seen.paid_at is not None:
        return _TOLD_PAYMENT, {**given, **payment}
    if seen.state is ChargeState.PAID:
        return _TOLD_PAID, given
    given |= {"payer": seen.payer_name, "ahead": seen.at + LEASE_AHEAD}
    if seen.state is None:
        return _TOLD_UNPAID, given
    return _TOLD_STATE, {**given, "seen": seen.state.value}
