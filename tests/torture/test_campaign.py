"""The small campaigns: what every change has to survive (`make torture` runs larger ones)."""

from __future__ import annotations

import secrets

import pytest
import uvloop

from tests.torture.campaign import campaign
from tests.torture.scale import SCALES


@pytest.mark.torture
@pytest.mark.parametrize("name", ["smoke", pytest.param("ci", marks=pytest.mark.pipeline)])
def test_nothing_is_paid_twice_and_nothing_is_lost(name: str, record_property):
    """Payouts amid kills and faults; a campaign's figures and its seed are always shown."""
    scale = SCALES[name]

    tally = uvloop.run(campaign(scale, secrets.randbelow(1_000_000_000)))

    record_property("figures", "\n".join(tally.lines()))
    assert tally.violations == []
    assert tally.payouts >= scale.payouts
    assert tally.kills.total() >= scale.kills
    assert tally.faults.total() >= scale.faults
