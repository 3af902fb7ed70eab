"""The routes of the sandbox's tools."""

from __future__ import annotations

from gateway.app.surfaces import described_surfaces
from gateway.config.settings import Sandbox, Settings
from gateway.core.account import Environment


def test_production_has_no_sandbox_routes():
    """Whatever the setting says: such a production does not start."""
    settings = Settings(environment=Environment.PRODUCTION, sandbox=Sandbox(open=True))
    names = {
        route.name
        for surface in described_surfaces(settings)
        for gate in surface.gates
        for route in gate.routes
    }

    assert not [name for name in names if "sandbox" in name]
