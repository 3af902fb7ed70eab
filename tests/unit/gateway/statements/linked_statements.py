"""What several tests of linked statements share."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import msgspec

from gateway.banks.port.charges import Party
from gateway.banks.port.statements import Direction, Entry, MovementKind
from gateway.core.account import Environment
from gateway.core.money import Money
from gateway.payouts.model import Payout
from gateway.process.cache import MemoryCache
from gateway.statements.reads import StatementReads
from gateway.statements.reports import Reports, movement_pages
from gateway.statements.service import Statements
from gateway.statements.snapshots import Snapshots
from tests.unit.charge_book import ChargeBook
from tests.world.exports import exports
from tests.world.payouts import OneBank
from tests.world.standing import NOON, Clock
from tests.world.stores.samples import payout

PAYOUT = replace(payout(), e2e_id="E-out", provider_key="key-1")


def entry(e2e_id: str = "", **changed: object) -> Entry:
    plain = Entry(
        provider_id="1",
        e2e_id=e2e_id,
        direction=Direction.DEBIT,
        is_pix=True,
        value=Money(100),
        description="Repasse",
        counterparty=Party(name="Maria"),
        created_at=NOON,
        kind=MovementKind.PIX,
    )
    return msgspec.structs.replace(plain, **changed)


@dataclass
class Payouts:
    """One payout, found by either of its names."""

    asked: int = 0

    async def behind(
        self, _account_id: str, e2e_ids: Collection[str], provider_keys: Collection[str]
    ) -> Sequence[Payout]:
        self.asked += 1
        return [PAYOUT] if PAYOUT.e2e_id in e2e_ids or "key-1" in provider_keys else []


def at(banks: OneBank, book: ChargeBook | None = None) -> Statements:
    """Return the statements of one bank, with one payout and a book of charges behind them."""
    kept = Snapshots(cache=MemoryCache(1 << 20), keep_s=60.0, most_bytes=1 << 20)
    reads = StatementReads(banks, lambda _event, _label: None, kept)
    reports = Reports(
        banks=banks,
        pages=partial(movement_pages, banks),
        environment=Environment.SANDBOX,
        now=Clock().now,
    )
    unused: Any = None
    return Statements(
        reads=reads,
        readings=unused,
        reports=reports,
        payouts=Payouts(),
        charges=book or ChargeBook(),
        exports=exports(),
    )
