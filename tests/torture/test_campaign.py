"""The small campaigns: what every change has to survive (`make torture` runs larger ones)."""

from __future__ import annotations

import asyncio
import dataclasses
import secrets
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

import pytest
import uvloop

from provider_adapters import simulators
from tests.torture.campaign import campaign
from tests.torture.scale import SCALES, Scale
from tests.torture.tally import Tally

SMOKE = SCALES["smoke"]
PATIENT = dataclasses.replace(SMOKE, seconds=240)
"""A campaign ends with its last payout: the time is for a machine that has much else to do."""
OTHERS = [name for name in simulators.names() if simulators.find(name).pays and name != "sandbox"]


@pytest.mark.torture
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", ["smoke", pytest.param("ci", marks=pytest.mark.pipeline)])
def test_nothing_is_paid_twice_and_nothing_is_lost(name: str, record_property):
    """Payouts amid kills and faults; a campaign's figures and its seed are always shown."""
    tally = uvloop.run(campaign(SCALES[name], secrets.randbelow(1_000_000_000)))

    judge(SCALES[name], tally, record_property)


@pytest.mark.torture
@pytest.mark.timeout(900)
@pytest.mark.pipeline
def test_nothing_is_paid_twice_or_lost_at_another_bank(record_property):
    """
    Two banks at once: for half of its time a campaign waits for processes to start.

    On a day these two, on the next others: ``make torture BANK=name`` runs one at any time.
    """
    banks = of_the_day(datetime.now(UTC).toordinal())
    seed = secrets.randbelow(1_000_000_000)

    async def campaigns() -> list[Tally]:
        return await asyncio.gather(*(campaign(PATIENT, seed, bank=bank) for bank in banks))

    for tally in uvloop.run(campaigns()):
        judge(PATIENT, tally, record_property)


def test_every_bank_that_pays_has_its_day():
    found = Counter(
        bank for day in range(740_000, 740_000 + len(OTHERS)) for bank in of_the_day(day)
    )

    assert found == Counter(dict.fromkeys(OTHERS, 2))
    assert {len({*of_the_day(day)}) for day in range(740_000, 740_010)} == {2}


def of_the_day(day: int) -> Sequence[str]:
    """Choose two of the other banks; each comes twice in as many days as there are banks."""
    return [OTHERS[(day + number) % len(OTHERS)] for number in (0, 1)]


def judge(scale: Scale, tally: Tally, record_property: Callable[[str, object], None]) -> None:
    """Demand what a campaign of this size must have done and seen."""
    record_property("figures", "\n".join(tally.lines()))
    assert tally.violations == []
    assert tally.payouts >= scale.payouts
    assert tally.kills.total() >= scale.kills
    assert tally.faults.total() >= scale.faults
