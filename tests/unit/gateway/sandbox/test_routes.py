"""The rows of the sandbox's tools."""

from __future__ import annotations

import pytest

from gateway.app.surfaces import described_surfaces
from gateway.config.settings import Settings
from gateway.core.account import Environment
from gateway.sandbox import model
from provider_adapters.testing.bank.messages import OPERATIONS, FaultKind
from tests.unit.gateway.http.surface import line

NAMES = ("sandbox", "sandbox_pay", "sandbox_top_up", "sandbox_fault", "sandbox_clock")


@pytest.mark.parametrize(
    ("name", "decided"),
    [
        ("sandbox", ("GET", "/sandbox", "qrcode:read", 200)),
        ("sandbox_pay", ("POST", "/sandbox/payments", "qrcode:write", 200)),
        ("sandbox_top_up", ("POST", "/sandbox/top-ups", "qrcode:write", 200)),
        ("sandbox_fault", ("POST", "/sandbox/faults", "stop:write", 200)),
        ("sandbox_faults_clear", ("DELETE", "/sandbox/faults", "stop:write", 200)),
        ("sandbox_clock", ("POST", "/sandbox/clock", "stop:write", 200)),
    ],
)
def test_the_rows_are_those_decided(name: str, decided: tuple[str, str, str, int]):
    assert line(name) == decided


def test_production_has_none_of_them():
    settings = Settings(environment=Environment.PRODUCTION)
    names = {
        row.name
        for surface in described_surfaces(settings)
        for gate in surface.gates
        for row in gate.rows
    }

    assert not [name for name in names if "sandbox" in name]


def test_the_words_are_the_bank_s():
    assert set(model.OPERATIONS) == set(OPERATIONS)
    assert set(model.FAULTS) == {each.value for each in FaultKind}
