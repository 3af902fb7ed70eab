"""
Limits of credentials, checked in the transaction that writes the payout.

The credential's row is locked until the transaction ends, so the second of two simultaneous
payouts counts the first. Credentials without limits cost nothing: they are not read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta

from sqlalchemy import bindparam, func, select

from gateway.core.storage import LimitReached
from gateway.payouts.model import Payout, PayoutState
from gateway.store.kernel.prepared import Execution
from gateway.store.tables.columns import Record, instant_unseen
from gateway.store.tables.core import accounts, credentials, payouts

# Money may have left in these states, or will leave when a hold ends. In the others it is proven
# that it did not.
_COUNTED = (
    *(PayoutState.HELD, PayoutState.SENDING, PayoutState.UNKNOWN),
    *(PayoutState.ACCEPTED, PayoutState.PAID),
)
# Locked in the order of their ids, so that two transactions never wait for each other.
_HOLD = (
    select(
        credentials.c.client_id,
        credentials.c.company_id,
        credentials.c.limit_payout,
        credentials.c.limit_day,
    )
    .where(credentials.c.client_id.in_(bindparam("client_ids", expanding=True)))
    .order_by(credentials.c.client_id)
    .with_for_update(key_share=True)
)
# ``created_at`` is there for the index. A payout of a day may have been created the day before it,
# around midnight.
_SPENT = select(func.coalesce(func.sum(payouts.c.centavos), 0)).where(
    payouts.c.account_id.in_(
        select(accounts.c.id).where(accounts.c.company_id == bindparam("company_id"))
    ),
    payouts.c.created_at >= instant_unseen(bindparam("since", type_=payouts.c.created_at.type)),
    payouts.c.date == bindparam("day"),
    payouts.c.client_id == bindparam("client_id"),
    payouts.c.state.in_([state.value for state in _COUNTED]),
)


@dataclass(slots=True)
class Allowances:
    """
    What credentials may still pay out, in centavos.

    Attributes:
        held: The locked credentials, by id.
        left: The rest of the daily limit, by credential and day (UTC). There is no entry where
            there is no daily limit.
    """

    held: Mapping[str, Record]
    left: dict[tuple[str, date], int] = field(default_factory=dict)

    def take(self, payout: Payout, *, is_counted: bool = False) -> LimitReached | None:
        """
        Count a payout, or return the limit it exceeds; a credential not held has none.

        ``is_counted``: it was held, and counts since it was stored.
        """
        held = self.held.get(payout.client_id)
        if held is None:
            return None
        centavos, spender = payout.value.centavos, (payout.client_id, payout.date)
        if held.limit_payout is not None and centavos > held.limit_payout:
            return LimitReached("per_payout")
        if spender in self.left and is_counted:
            return LimitReached("per_day") if self.left[spender] < 0 else None
        if spender in self.left:
            if centavos > self.left[spender]:
                return LimitReached("per_day")
            self.left[spender] -= centavos
        return None


async def allowances(connection: Execution, wanted: Iterable[Payout]) -> Allowances:
    """Lock the credentials of payouts about to be stored, and count what is left of each."""
    spenders = {(each.client_id, each.date) for each in wanted}
    if not spenders:
        return Allowances({})
    found = Allowances(await _hold(connection, {client_id for client_id, _ in spenders}))
    for client_id, day in spenders:
        held = found.held.get(client_id)
        if held is not None and held.limit_day is not None:
            spent = await _spent(connection, held, day)
            found.left[client_id, day] = held.limit_day - spent
    return found


async def _hold(connection: Execution, client_ids: Iterable[str]) -> Mapping[str, Record]:
    rows = (await connection.execute(_HOLD, {"client_ids": sorted(client_ids)})).all()
    return {row.client_id: row for row in rows}


async def _spent(connection: Execution, held: Record, day: date) -> int:
    """Return the centavos of a credential's payouts of a UTC day."""
    since = datetime.combine(day, time(), UTC) - timedelta(days=1)
    asked = {
        "company_id": held.company_id,
        "client_id": held.client_id,
        "day": day,
        "since": since,
    }
    return int((await connection.execute(_SPENT, asked)).scalar_one())
