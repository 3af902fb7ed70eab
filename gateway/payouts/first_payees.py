"""
Payees whom a company has not paid before, and how much is sent to one of them unheld.

Payouts ordered to such a payee are added up, so that a sum is not sent in pieces. That is
checked in the transaction that writes the payout: the company's row is locked until it ends, so the
second of two simultaneous payouts counts the first. Payouts to known payees lock nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from sqlalchemy import bindparam, func, select

from gateway.banks.port.payout_orders import Destination
from gateway.core.storage import LimitReached
from gateway.payouts.model import (
    Claim,
    FirstPayee,
    Intent,
    Payout,
    PayoutState,
    is_same_place,
    place_of,
    restored_destination,
)
from gateway.store.kernel.database import Database
from gateway.store.kernel.prepared import Execution
from gateway.store.tables import columns
from gateway.store.tables.columns import Record
from gateway.store.tables.core import accounts, companies, payouts

_COMPARED: Final = 100
"""Payouts to one tax number: whom a company pays more often is paid to few places."""
_PLACE = (payouts.c.method, payouts.c.destination)
_TO_PAYEE = (
    payouts.c.payee_digest.in_(bindparam("digests", expanding=True)),
    payouts.c.account_id.in_(
        select(accounts.c.id).where(accounts.c.company_id == bindparam("company_id"))
    ),
)
_SINCE = bindparam("since", type_=payouts.c.created_at.type)
_PAID_BEFORE = (
    select(*_PLACE)
    .where(
        *_TO_PAYEE,
        payouts.c.created_at <= _SINCE,
        payouts.c.state.in_([PayoutState.ACCEPTED.value, PayoutState.PAID.value]),
    )
    .order_by(payouts.c.created_at.desc())
    .limit(_COMPARED)
)
# Also what was not sent: it may be sent again, and is not looked at then.
_ORDERED_SINCE = (
    select(*_PLACE, func.sum(payouts.c.centavos).label("centavos"))
    .where(
        *_TO_PAYEE,
        payouts.c.created_at > _SINCE,
        payouts.c.state.not_in([PayoutState.REJECTED.value, PayoutState.FAILED.value]),
    )
    .group_by(*_PLACE)
)
# In the order of their ids, so that two transactions never wait for each other.
_LOCK = (
    select(companies.c.id)
    .where(companies.c.id.in_(bindparam("ids", expanding=True)))
    .order_by(companies.c.id)
    .with_for_update(key_share=True)
)


class FirstPayeeLimit(LimitReached):
    """The sum for a first payee exceeds what is sent without a hold; nothing was stored."""

    def __init__(self, first: FirstPayee) -> None:
        super().__init__("first_payee")
        self.first = first


async def has_paid(database: Database, payout: Payout, first: FirstPayee) -> bool:
    """
    Return whether the payee of a payout was paid by ``first.since``, to the same place.

    Of very many payouts to one tax number only the newest are compared.

    Raises:
        StoreUnavailable: the store did not answer.
    """
    rows = await database.rows(_PAID_BEFORE, _asked(first))
    paid = (_destination(payout, row) for row in rows)
    return any(to is not None and is_same_place(payout.destination, to) for to in paid)


@dataclass(slots=True)
class FirstPayments:
    """
    The sums ordered to first payees, in centavos.

    Attributes:
        ordered: By company, method and place.
    """

    ordered: dict[tuple[str, ...], int] = field(default_factory=dict)

    def take(self, intent: Intent) -> FirstPayeeLimit | None:
        """Count a payout, or return that its payee would get too much."""
        if intent.first is None:
            return None
        place = _place(intent.payout, intent.first)
        ordered = self.ordered[place] + intent.payout.value.centavos
        if ordered > intent.first.most.centavos:
            return FirstPayeeLimit(intent.first)
        self.ordered[place] = ordered
        return None


async def first_payments(connection: Execution, writes: Iterable[Intent | Claim]) -> FirstPayments:
    """Lock the companies of new payouts to first payees, and add up the orders to each."""
    wanted = [(each.payout, each.first) for each in writes if each.first is not None]
    found = FirstPayments()
    if not wanted:
        return found
    ids = sorted({first.company_id for _, first in wanted})
    await connection.execute(_LOCK, {"ids": ids})
    for payout, first in wanted:
        place = _place(payout, first)
        if place not in found.ordered:
            rows = (await connection.execute(_ORDERED_SINCE, _asked(first))).all()
            found.ordered[place] = sum(int(row.centavos) for row in rows if _adds_up(payout, row))
    return found


def _adds_up(payout: Payout, row: Record) -> bool:
    """Return whether a row is of the place that a payout goes to, however it is spelled."""
    to = _destination(payout, row)
    return to is not None and place_of(to) == place_of(payout.destination)


def _destination(payout: Payout, row: Record) -> Destination | None:
    """Return the destination of a row; None for one of another method than a payout's."""
    if row.method != payout.method.value:
        return None
    return restored_destination(payout.method, columns.read(row.destination))


def _place(payout: Payout, first: FirstPayee) -> tuple[str, ...]:
    return first.company_id, payout.method.value, *place_of(payout.destination)


def _asked(first: FirstPayee) -> dict[str, Any]:
    return {"company_id": first.company_id, "since": first.since, "digests": first.digests}
