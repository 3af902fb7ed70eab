"""
Limits of credentials, checked in the transaction that writes the payout.

The credential's row is locked until the transaction ends, so the second of two simultaneous
payouts counts the first. Credentials without limits cost nothing: they are not read.

A payout counts for its date, and for the night in which its last attempt began. A held payout has
none yet: it counts for its date since it was stored, and for the night in which it is sent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from sqlalchemy import Select, and_, bindparam, func, select

from gateway.core.money import Money
from gateway.core.night import NIGHT, Night, NightSpan
from gateway.core.storage import LimitReached
from gateway.core.windows import Window
from gateway.payouts.model import MAY_MOVE_MONEY, Claim, Intent
from gateway.store.kernel.database import Database
from gateway.store.kernel.prepared import Execution
from gateway.store.tables.columns import Record, instant_unseen
from gateway.store.tables.core import accounts, attempts, credentials, payouts

# Locked in the order of their ids, so that two transactions never wait for each other.
_HOLD = (
    select(
        credentials.c.client_id,
        credentials.c.company_id,
        credentials.c.limit_payout,
        credentials.c.limit_day,
        credentials.c.limit_payout_at_night,
        credentials.c.limit_night,
    )
    .where(credentials.c.client_id.in_(bindparam("client_ids", expanding=True)))
    .order_by(credentials.c.client_id)
    .with_for_update(key_share=True)
)
# ``created_at`` is there for the index. A payout of a day may have been created the day before it,
# around midnight; one that is sent at night may have been created, and not sent, that day.
_SPENT: Select[Any] = select(func.coalesce(func.sum(payouts.c.centavos), 0)).where(
    payouts.c.account_id.in_(
        select(accounts.c.id).where(accounts.c.company_id == bindparam("company_id"))
    ),
    payouts.c.created_at >= instant_unseen(bindparam("since", type_=payouts.c.created_at.type)),
    payouts.c.client_id == bindparam("client_id"),
    payouts.c.state.in_(sorted(MAY_MOVE_MONEY)),
)
_SPENT_IN_A_DAY = _SPENT.where(payouts.c.date == bindparam("day"))
_LAST_ATTEMPT = and_(
    attempts.c.account_id == payouts.c.account_id,
    attempts.c.reference_sha256 == payouts.c.reference_sha256,
    attempts.c.number == payouts.c.attempt,
)
_SPENT_IN_A_NIGHT = _SPENT.join_from(payouts, attempts, _LAST_ATTEMPT).where(
    attempts.c.started_at >= bindparam("begins", type_=attempts.c.started_at.type),
    attempts.c.started_at < bindparam("ends", type_=attempts.c.started_at.type),
)

Period = date | NightSpan
"""The span of a sum's limit: a UTC day or a night."""
Sending = Intent | Claim


@dataclass(slots=True)
class Allowances:
    """
    The remaining limits of credentials, in centavos.

    Attributes:
        held: The locked credentials, by id.
        night: The hours of the night, and its default limits.
        left: The rest of each limit of a sum, by credential and period. There is no entry where
            there is no such limit.
    """

    held: Mapping[str, Record]
    night: Night = NIGHT
    left: dict[tuple[str, Period], int] = field(default_factory=dict)

    def take(self, sending: Sending) -> LimitReached | None:
        """Count a payout, or return the limit it exceeds; a credential not held has none."""
        payout, span = sending.payout, self.night.span_of(sending.at)
        held = self.held.get(payout.client_id)
        if held is None:
            return None
        centavos = payout.value.centavos
        # What was held counts for its day since it was stored.
        centavos_of_day = 0 if sending.was_held else centavos
        if _is_above(centavos, held.limit_payout):
            return LimitReached("per_payout")
        if span and _is_above(centavos, _given(held.limit_payout_at_night, self.night.per_payout)):
            return LimitReached("per_payout_at_night")
        day, night = (payout.client_id, payout.date), (payout.client_id, span)
        if _is_above(centavos_of_day, self.left.get(day)):
            return LimitReached("per_day")
        if span and _is_above(centavos, self.left.get((payout.client_id, span))):
            return LimitReached("per_night")
        for period, taken in ((day, centavos_of_day), (night, centavos)):
            if period in self.left:
                self.left[period] -= taken
        return None


async def allowances(
    connection: Execution, wanted: Iterable[Sending], night: Night = NIGHT
) -> Allowances:
    """Lock the credentials of payouts about to be sent, and count the rest of each limit."""
    spenders = {
        (each.payout.client_id, each.payout.date, night.span_of(each.at)) for each in wanted
    }
    if not spenders:
        return Allowances({})
    client_ids = {client_id for client_id, _, _ in spenders}
    found = Allowances(await _hold(connection, client_ids), night)
    for client_id, day, span in spenders:
        held = found.held.get(client_id)
        if held is None:
            continue
        if held.limit_day is not None and (client_id, day) not in found.left:
            spent = await _spent(connection, held, day)
            found.left[client_id, day] = held.limit_day - spent
        most = _given(held.limit_night, night.per_night)
        if span is not None and most is not None and (client_id, span) not in found.left:
            found.left[client_id, span] = most - await _spent(connection, held, span)
    return found


async def spent_by_day(
    database: Database, company_id: str, client_id: str, days: Window
) -> Sequence[int]:
    """Return the centavos of a credential's payouts of each UTC day that has some, in no order."""
    first = datetime.combine(days.init, time(), UTC) - timedelta(days=1)
    asked = {"company_id": company_id, "client_id": client_id, "since": first}
    wanted = _SPENT.where(payouts.c.date.between(days.init, days.ends)).group_by(payouts.c.date)
    return [int(spent) for (spent,) in await database.rows(wanted, asked)]


async def _hold(connection: Execution, client_ids: Iterable[str]) -> Mapping[str, Record]:
    rows = (await connection.execute(_HOLD, {"client_ids": sorted(client_ids)})).all()
    return {row.client_id: row for row in rows}


async def _spent(connection: Execution, held: Record, period: Period) -> int:
    """Return the centavos of a credential's payouts of a UTC day, or sent in a night."""
    asked = {"company_id": held.company_id, "client_id": held.client_id}
    if isinstance(period, NightSpan):
        wanted, first = _SPENT_IN_A_NIGHT, period.since.date()
        asked |= {"begins": period.since, "ends": period.until}
    else:
        wanted, first = _SPENT_IN_A_DAY, period
        asked |= {"day": period}
    asked["since"] = datetime.combine(first, time(), UTC) - timedelta(days=1)
    return int((await connection.execute(wanted, asked)).scalar_one())


def _given(own: int | None, default: Money | None) -> int | None:
    """Return a credential's own limit of the night, else the default one."""
    return own if own is not None or default is None else default.centavos


def _is_above(centavos: int, most: int | None) -> bool:
    return most is not None and centavos > most
