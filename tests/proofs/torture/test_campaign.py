"""Crash campaigns: payouts amid kills and faults, until nothing is open."""

from __future__ import annotations

import pytest

from provider_adapters.testing import simulators
from tests.proofs.torture.judging import Record, hold
from tests.world.extent import DAY, WHOLE

BANKS = [name for name in simulators.names() if simulators.find(name).pays]


@pytest.mark.timeout(1800)
def test_no_payout_is_made_twice_or_lost(record_property: Record):
    hold("full" if WHOLE else "part", "sandbox", record_property)


@pytest.mark.skipif(not WHOLE, reason="`make proofs` alone")
@pytest.mark.timeout(1800)
def test_no_payout_is_made_twice_or_lost_at_another_bank(record_property: Record):
    """One other bank, the same in every run; ``make torture BANK=name`` selects one."""
    others = [name for name in BANKS if name != "sandbox"]

    hold("ci", others[DAY % len(others)], record_property)
