"""The customers' port of a bank in another dress: its shapes, also for faults."""

from __future__ import annotations

import asyncio

import pytest

from provider_adapters.testing.bank.server import SimulatedBank
from tests.unit.provider_adapters.testing.bank.dialect import (
    OTHER,
    ask,
    bank,
    control,
    http,
)
from tests.world.waiting import until

__all__ = ["bank", "http"]


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/api/balance", (401, '{"errors":["UNAUTHORIZED"]}')),
        ("/api/nobody", (401, '{"errors":["UNAUTHORIZED"]}')),
        ("/nowhere", (404, '{"errors":["NOT_FOUND"]}')),
        ("/api/hello", (200, "hi")),
    ],
)
async def test_what_is_refused_has_this_banks_shape(bank, http, path, said):
    assert await ask(bank, http, "GET", path) == said


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ({"fault": "reject"}, (400, '{"errors":["REJECTED"]}')),
        ({"fault": "status", "status": 503}, (503, '{"errors":["INTERNAL"]}')),
    ],
)
async def test_a_fault_has_it_too(bank, http, fault, said):
    await control(bank, http, "POST", "/faults", {**fault, "operation": "access"})

    assert await ask(bank, http, "GET", "/api/hello") == said


async def test_secret_headers_are_not_recorded(bank, http):
    await ask(bank, http, "GET", "/api/hello", "k-secret")

    (call,) = (await control(bank, http, "GET", "/calls"))["data"]
    assert call["headers"]["X-Key"] == "***"


async def test_a_bank_far_away_takes_its_time(tmp_path, http):
    """An hour each way: what was received is not answered, and the control port is near."""
    far = SimulatedBank(
        dialect=OTHER, db_path=str(tmp_path / "f.db"), port=0, control_port=0, latency_s=3600
    )
    await far.start()

    async def is_received() -> bool:
        return len((await control(far, http, "GET", "/calls"))["data"]) == 1

    asking = asyncio.create_task(ask(far, http, "GET", "/api/hello"))
    await until(is_received)
    await control(far, http, "GET", "/faults")

    assert not asking.done()
    asking.cancel()
    await far.close()
