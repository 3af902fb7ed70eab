"""The small campaigns: what every change has to survive (`make torture` runs larger ones)."""

from __future__ import annotations

import secrets

import pytest
import uvloop

from provider_adapters import simulators
from tests.torture.campaign import campaign
from tests.torture.scale import SCALES

PAYING = [name for name in simulators.names() if simulators.find(name).pays]


@pytest.mark.torture
@pytest.mark.parametrize(
    ("name", "bank"),
    [
        ("smoke", "sandbox"),
        pytest.param("ci", "sandbox", marks=pytest.mark.pipeline),
        *(
            pytest.param("smoke", bank, marks=pytest.mark.pipeline)
            for bank in PAYING
            if bank != "sandbox"
        ),
    ],
)
def test_nothing_is_paid_twice_and_nothing_is_lost(name: str, bank: str, record_property):
    """Payouts amid kills and faults; a campaign's figures and its seed are always shown."""
    scale = SCALES[name]

    tally = uvloop.run(campaign(scale, secrets.randbelow(1_000_000_000), bank=bank))

    record_property("figures", "\n".join(tally.lines()))
    assert tally.violations == []
    assert tally.payouts >= scale.payouts
    assert tally.kills.total() >= scale.kills
    assert tally.faults.total() >= scale.faults
