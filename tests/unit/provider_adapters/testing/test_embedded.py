"""The sandbox bank as the gateway asks for it."""

from __future__ import annotations

import pytest

from gateway.app.sandbox import simulator
from gateway.core.audit_context import RuleViolation
from tests.servers.process import free_port


async def test_an_unreachable_control_port_is_reported():
    control = simulator().ControlPort(lambda: f"http://127.0.0.1:{free_port()}")

    with pytest.raises(RuleViolation, match="does not answer"):
        await control.get("clock")
