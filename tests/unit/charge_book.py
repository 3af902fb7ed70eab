"""Records of charges in memory, and what keeps them, for operations without a store."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from msgspec.structs import replace

from gateway.charges.model import ChargeRecord, ChargeSearch, SeenCharge
from gateway.charges.records import ChargeNotes, KeptCharges
from gateway.charges.store import StoredCharges
from gateway.core.clocks import Now
from gateway.core.company_scope import CompanyScope
from gateway.core.storage import StoreUnavailable
from tests.world.standing import Clock


@dataclass
class ChargeBook(StoredCharges):
    """
    ``StoredCharges`` in memory.

    Attributes:
        away: Names of calls that fail.
        noted: What was given to ``note``, in order.
    """

    charges: dict[tuple[str, str], ChargeRecord] = field(default_factory=dict)
    away: set[str] = field(default_factory=set)
    noted: list[SeenCharge] = field(default_factory=list)

    async def begin(self, record: ChargeRecord) -> bool:
        self._called("begin")
        key = (record.account_id, record.reference)
        known = self.charges.get(key)
        until = None if known is None else known.made_until
        if until is not None and until > record.created_at:
            return False
        self.charges[key] = replace(known or record, made_until=record.made_until)
        return True

    async def renew(self, record: ChargeRecord) -> None:
        self._called("renew")
        key = (record.account_id, record.reference)
        known = self.charges.get(key, record)
        self.charges[key] = replace(record, id=known.id, made_until=None)

    async def discard(self, record: ChargeRecord) -> None:
        self._called("discard")
        key = (record.account_id, record.reference)
        if self.charges[key].id == record.id:
            del self.charges[key]
        else:
            self.charges[key] = replace(self.charges[key], made_until=None)

    async def note(self, seen: Sequence[SeenCharge]) -> None:
        self._called("note")
        self.noted += seen

    async def search(
        self, wanted: ChargeSearch, _scope: CompanyScope, _now: datetime
    ) -> Sequence[ChargeRecord]:
        return list(self.charges.values())[: wanted.page.limit + 1]

    async def paid_by(self, _account_id: str, e2e_ids: Collection[str]) -> Sequence[ChargeRecord]:
        return [each for each in self.charges.values() if each.e2e_id in e2e_ids]

    def _called(self, name: str) -> None:
        if name in self.away:
            raise StoreUnavailable(name)


def kept(book: ChargeBook | None = None, now: Now | None = None) -> KeptCharges:
    """Keep charges in a book; ids are charge-0, charge-1 and so on."""
    records, clock, numbers = book or ChargeBook(), now or Clock().now, itertools.count()
    return KeptCharges(
        records=records,
        notes=ChargeNotes(records, clock),
        now=clock,
        new_id=lambda: f"charge-{next(numbers)}",
    )
