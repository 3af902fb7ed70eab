"""Returns of settled payouts in the store."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import bindparam, select

from gateway.banks.port.providers import PixReturn
from gateway.core.money import Money
from gateway.payouts.matching import MOST
from gateway.payouts.model import Payout
from gateway.store.kernel.database import Database
from gateway.store.tables.columns import reference_digest
from gateway.store.tables.core import returns

_OF = (
    select(returns)
    .where(
        returns.c.account_id == bindparam("account_id"),
        returns.c.reference_sha256 == bindparam("reference_sha256"),
    )
    .order_by(returns.c.at, returns.c.id)
    .limit(MOST)
)


class StoredReturns:
    """Returns by payout; each is kept once, by its own id."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def note(self, payout: Payout, found: Sequence[PixReturn]) -> int:
        """Keep those that are new, in one transaction; return how many were."""
        key = _key(payout.account_id, payout.reference)
        known = {each.id for each in await self.of(payout.account_id, payout.reference)}
        new = [each for each in found if each.id not in known][: MOST - len(known)]
        if not new:
            return 0
        async with self._database.writing() as connection:
            added = [
                await self._database.add(connection, returns, {**key, **_columns(each)})
                for each in new
            ]
        return sum(added)

    async def of(self, account_id: str, reference: str) -> Sequence[PixReturn]:
        """Return all of one payout, oldest first."""
        rows = await self._database.rows(_OF, _key(account_id, reference))
        return [PixReturn(id=row.id, value=Money(row.centavos), at=row.at) for row in rows]


def _key(account_id: str, reference: str) -> dict[str, object]:
    return {"account_id": account_id, "reference_sha256": reference_digest(reference)}


def _columns(found: PixReturn) -> dict[str, object]:
    return {"id": found.id, "centavos": found.value.centavos, "at": found.at}
