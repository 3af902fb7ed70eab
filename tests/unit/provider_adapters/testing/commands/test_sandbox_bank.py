"""``pixgate sandbox-bank``: which gateway it tells of what happens."""

from __future__ import annotations

from pathlib import Path

import pytest

from gateway.config.settings import Settings
from gateway.config.upstream import Provider
from gateway.operations.kernel.audit_context import RuleViolation
from provider_adapters.testing.commands.sandbox_bank import told_gateway

FILE = Path("config.yaml")
SETTINGS = Settings(providers={"one": Provider(adapter="sandbox")})


def test_the_gateway_is_told_below_its_address_without_a_slash():
    assert told_gateway(FILE, SETTINGS, "http://127.0.0.1:8080/")() == "http://127.0.0.1:8080"


def test_what_is_no_address_is_told():
    cases = [
        "",
        "8080",
        "127.0.0.1:8080",
        "ftp://127.0.0.1",
        "http://",
        "http://a:x",
        "http://a/callbacks",
    ]

    for address in cases:
        with pytest.raises(RuleViolation, match="no address of a gateway"):
            told_gateway(FILE, SETTINGS, address)


def test_a_gateway_without_the_sandbox_bank_is_told_nothing():
    with pytest.raises(RuleViolation, match="no provider of the adapter sandbox"):
        told_gateway(FILE, Settings(), "http://127.0.0.1:8080")


def test_production_has_no_sandbox_bank(shell):
    shell.environ["PIXGATE_ENVIRONMENT"] = "production"

    assert "neither a demo nor a sandbox bank" in shell.fails("sandbox-bank")
