"""The small campaign: what every change has to survive (`make torture` runs larger ones)."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from provider_adapters import simulators
from tests.torture.judging import Record, hold

BANKS = [name for name in simulators.names() if simulators.find(name).pays]


@pytest.mark.torture
@pytest.mark.timeout(1800)
def test_nothing_is_paid_twice_and_nothing_is_lost(record_property: Record):
    """At another bank each day: ``make torture SCALE=smoke BANK=name`` runs one at any time."""
    hold("smoke", of_the_day(datetime.now(UTC).toordinal()), record_property)


def test_every_bank_that_pays_has_its_day():
    days = range(740_000, 740_000 + len(BANKS))

    assert sorted(map(of_the_day, days)) == sorted(BANKS)


def of_the_day(day: int) -> str:
    """Choose a bank; each comes once in as many days as there are banks."""
    return BANKS[day % len(BANKS)]
