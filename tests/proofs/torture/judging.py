"""What a campaign of a given size must have done, reported with its figures and its seed."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable

import uvloop

from tests.proofs.torture.campaign import campaign
from tests.proofs.torture.scale import SCALES, Scale
from tests.proofs.torture.tally import Tally
from tests.servers import demand, namespaces
from tests.world.extent import SEED

Record = Callable[[str, object], None]


def hold(size: str, bank: str, record_property: Record) -> None:
    """Hold a campaign, which ends with its last payout, and judge it."""
    scale = dataclasses.replace(SCALES[size], seconds=math.inf)

    tally = uvloop.run(campaign(scale, SEED, bank=bank))

    record_property("figures", "\n".join(tally.lines()))
    _judge(scale, tally)


def _judge(scale: Scale, tally: Tally) -> None:
    assert tally.violations == []
    assert tally.payouts >= scale.payouts
    assert tally.kills.total() >= scale.kills
    assert tally.faults.total() >= scale.faults
    if demand.demanded(namespaces.NAME):
        assert tally.others["hanging names"] > 0
