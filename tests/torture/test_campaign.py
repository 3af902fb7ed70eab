"""The small campaigns: what every change has to survive (`make torture` runs larger ones)."""

from __future__ import annotations

import asyncio
import dataclasses
import secrets
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


Record = Callable[[str, object], None]


@pytest.mark.torture
@pytest.mark.timeout(1800)
def test_nothing_is_paid_twice_and_nothing_is_lost(record_property: Record):
    """Payouts amid kills and faults; a campaign's figures and its seed are always shown."""
    hold([("smoke", "sandbox")], record_property)


@pytest.mark.torture
@pytest.mark.timeout(1800)
@pytest.mark.pipeline
def test_nothing_is_paid_twice_or_lost_at_two_banks(record_property: Record):
    """
    A larger campaign and a small one, at once: for a third of its time one waits for processes.

    The small one is at another bank each day: ``make torture BANK=name`` runs one at any time.
    """
    other = of_the_day(datetime.now(UTC).toordinal())

    hold([("ci", "sandbox"), ("smoke", other)], record_property)


def test_every_bank_that_pays_has_its_day():
    assert sorted(of_the_day(day) for day in range(740_000, 740_000 + len(OTHERS))) == sorted(
        OTHERS
    )


def of_the_day(day: int) -> str:
    """Choose one of the other banks; each comes once in as many days as there are banks."""
    return OTHERS[day % len(OTHERS)]


def hold(wanted: Sequence[tuple[str, str]], record_property: Record) -> None:
    """Hold campaigns, each of a size and at a bank, at once; judge each."""
    seed = secrets.randbelow(1_000_000_000)

    async def campaigns() -> list[Tally]:
        return await asyncio.gather(
            *(campaign(PATIENT[size], seed, bank=bank) for size, bank in wanted)
        )

    for (size, _), tally in zip(wanted, uvloop.run(campaigns()), strict=True):
        judge(PATIENT[size], tally, record_property)


def judge(scale: Scale, tally: Tally, record_property: Record) -> None:
    """Demand what a campaign of this size must have done and seen."""
    record_property("figures", "\n".join(tally.lines()))
    assert tally.violations == []
    assert tally.payouts >= scale.payouts
    assert tally.kills.total() >= scale.kills
    assert tally.faults.total() >= scale.faults
    if demand.demanded(namespaces.NAME):
        assert tally.others["hanging names"] > 0
