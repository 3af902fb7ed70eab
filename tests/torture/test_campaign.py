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
from tests.servers import demand, namespaces
from tests.torture.campaign import campaign
from tests.torture.scale import SCALES, Scale
from tests.torture.tally import Tally

MOST_S = 600
"""A campaign ends with its last payout: the time is for a machine that has much else to do."""
PATIENT = {name: dataclasses.replace(SCALES[name], seconds=MOST_S) for name in ("smoke", "ci")}
OTHERS = [name for name in simulators.names() if simulators.find(name).pays and name != "sandbox"]


@pytest.mark.torture
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("name", ["smoke", pytest.param("ci", marks=pytest.mark.pipeline)])
def test_nothing_is_paid_twice_and_nothing_is_lost(name: str, record_property):
    """Payouts amid kills and faults; a campaign's figures and its seed are always shown."""
    tally = uvloop.run(campaign(PATIENT[name], secrets.randbelow(1_000_000_000)))

    judge(PATIENT[name], tally, record_property)


@pytest.mark.torture
@pytest.mark.timeout(1800)
@pytest.mark.pipeline
def test_nothing_is_paid_twice_or_lost_at_another_bank(record_property):
    """
    Two banks at once: for half of its time a campaign waits for processes to start.

    On a day these two, on the next others: ``make torture BANK=name`` runs one at any time.
    """
    banks = of_the_day(datetime.now(UTC).toordinal())
    seed = secrets.randbelow(1_000_000_000)

    async def campaigns() -> list[Tally]:
        return await asyncio.gather(
            *(campaign(PATIENT["smoke"], seed, bank=bank) for bank in banks)
        )

    for tally in uvloop.run(campaigns()):
        judge(PATIENT["smoke"], tally, record_property)


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
    if demand.demanded(namespaces.NAME):
        assert tally.others["hanging names"] > 0
