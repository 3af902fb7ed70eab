"""The customers' port of a bank in another dress: its shapes, also for faults."""

from __future__ import annotations

import pytest

from tests.unit.provider_adapters.simulated_bank.test_dialect import ask, bank, control, http

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
