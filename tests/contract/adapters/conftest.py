"""Stages for the adapter suites: every adapter with a bank behind it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from gateway.banks.port.providers import ProviderAdapter
from tests.world.banks.harness import on_stage
from tests.world.banks.sandbox import BankWorld, Paid, sandbox_bank_world
from tests.world.banks.witness import ClientLimits, Witness

STAGES = {"sandbox": sandbox_bank_world}


@pytest.fixture
def told() -> Witness:
    """What the adapter reported during the test."""
    return Witness()


@pytest.fixture(params=list(STAGES))
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
async def bank_world(name: str, tmp_path: Path) -> AsyncIterator[BankWorld]:
    async with STAGES[name](tmp_path) as standing:
        yield standing


SILENT = {"timeout", "hang", "hang_after", 77706}
"""Parameters of tests whose bank never answers."""


@pytest.fixture
def patience_s(request: pytest.FixtureRequest) -> float:
    """How long a call may take: a second where a bank is silent, long where it answers."""
    given = getattr(request.node, "callspec", None)
    values = list(given.params.values()) if given else []
    silent = any(each in SILENT for each in values if isinstance(each, str | int))
    return 1.0 if silent else 60.0


@pytest.fixture
async def adapter(
    name: str, bank_world: BankWorld, told: Witness, patience_s: float
) -> AsyncIterator[ProviderAdapter]:
    """The adapter, in front of its bank."""
    limits = ClientLimits(connect_s=60.0, read_s=patience_s, payout_s=patience_s)
    async with on_stage(name, bank_world.url, told, limits) as standing:
        yield standing


@pytest.fixture
async def paid(bank_world: BankWorld) -> Paid:
    """R$ 10.50 that came in for a charge."""
    said = await bank_world.tell("/charges/pending%2F1/pay", {})
    return Paid("pending/1", said["e2e_id"])
