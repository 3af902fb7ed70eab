"""What one bank can never take: 400 before anything is sent, and what it takes goes on."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
import pytest_asyncio

from tests.world.gateway.world import World, opened, order, sandbox

pytestmark = pytest.mark.asyncio(loop_scope="module")

HOLDER = {"name": "Maria Silva", "tax_number": "52998224725"}
TO_ACCOUNT = {**HOLDER, "branch": "1", "account": "1-9"}
NEVER: dict[str, dict[str, Any]] = {
    "a type of key": {
        "destination": {**HOLDER, "key_type": "phone", "key": "+5511999998888"},
    },
    "a bank number": {
        "method": "bank_account",
        "destination": {**TO_ACCOUNT, "bank_number": "999"},
    },
}
TAKEN: dict[str, dict[str, Any]] = {
    "a type of key": {},
    "a bank number": {
        "method": "bank_account",
        "destination": {**TO_ACCOUNT, "bank_number": "341"},
    },
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def narrow(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    """A gateway on a bank that takes e-mail keys, and accounts at one bank."""
    settings = sandbox(Path(tmp_path_factory.mktemp("narrow")))
    provider = settings.providers["sandbox"]
    told = {**provider.settings, "key_types": ["email"], "banks": ["341"]}
    providers = {**settings.providers, "sandbox": msgspec.structs.replace(provider, settings=told)}
    async with opened(msgspec.structs.replace(settings, providers=providers)) as world:
        yield world


@pytest.mark.parametrize("what", list(NEVER))
async def test_an_impossible_order_is_refused_before_the_bank(narrow: World, what: str):
    """Definitively: a repeat is refused alike, and neither reached the bank."""
    reference = f"never-{what.replace(' ', '-')}"
    wanted = order(reference, narrow.today(), **NEVER[what])
    await narrow.control.delete("calls")

    verdicts = [(await narrow.pay(wanted)).verdict for _ in range(2)]
    shown = await narrow.settled(reference)

    assert verdicts == [(400, "SVC.PIX.010")] * 2
    assert shown["status"] == "failed"
    calls = (await narrow.control.get("calls"))["data"]
    assert [each for each in calls if each["method"] == "POST"] == []
    assert await narrow.executions(reference) == []


@pytest.mark.parametrize("what", list(TAKEN))
async def test_a_valid_order_is_paid(narrow: World, what: str):
    reference = f"taken-{what.replace(' ', '-')}"

    answer = await narrow.pay(order(reference, narrow.today(), **TAKEN[what]))

    assert answer.status == 200
    assert (await narrow.settled(reference))["status"] == "paid"
    assert await narrow.executions(reference) == [1050]
