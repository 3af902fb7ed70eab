"""How a gateway is told of a running simulated bank."""

from __future__ import annotations

from provider_adapters.simulated_bank.simulator import BankAddress, Simulator
from tests.unit.provider_adapters.simulated_bank.test_dialect import OTHER


def test_a_provider_has_the_adapters_own_settings_and_trusts_the_banks_authority():
    simulator = Simulator(
        adapter="other", dialect=OTHER, settings=lambda at: {"host": at.url, "profile": "x"}
    )
    at = BankAddress(url="https://127.0.0.1:1", control_url="http://127.0.0.1:2")

    assert simulator.provider(at) == {
        "adapter": "other",
        "settings": {"host": "https://127.0.0.1:1", "profile": "x"},
    }


def test_without_more_an_adapter_is_told_the_address():
    at = BankAddress(
        url="https://127.0.0.1:1", control_url="http://127.0.0.1:2", authority_file="/ca.pem"
    )

    assert Simulator(adapter="other", dialect=OTHER).provider(at) == {
        "adapter": "other",
        "settings": {"base_url": "https://127.0.0.1:1"},
        "tls": {"ca": "/ca.pem"},
    }
