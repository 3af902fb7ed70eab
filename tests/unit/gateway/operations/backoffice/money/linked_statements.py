"""What several tests of linked statements share."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import msgspec

from gateway.domain.bank.charges import Party
from gateway.domain.bank.statements import Direction, Entry, MovementKind
from gateway.domain.kernel.money import Money
from gateway.domain.payouts.payouts import Payout
from tests.world.standing import NOON
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
