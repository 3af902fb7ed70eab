"""The demo made with real parts."""

import pytest

from gateway.config.reading import settings_from
from gateway.operations.kernel.audit_context import RuleViolation
from provider_adapters.testing.commands.demo_factory import sandbox_only, urls_of
from tests.world.shell import CONFIG


def test_addresses_are_those_of_the_configuration():
    settings = settings_from(CONFIG.read_text(), {"PIXGATE_PORT": "18080"})

    assert urls_of(settings) == {
        "base_url": "http://127.0.0.1:18080",
        "ops_url": "http://127.0.0.1:9090",
        "sandbox_bank_url": "http://127.0.0.1:8090",
        "sandbox_control_url": "http://127.0.0.1:8091",
    }


def test_there_is_no_demo_where_real_money_moves():
    with pytest.raises(RuleViolation, match="production"):
        sandbox_only(settings_from("environment: production", {}))
