"""How a gateway is told of a running simulated bank."""

from __future__ import annotations

from dataclasses import replace

from provider_adapters.testing.bank.dialect import Row
from provider_adapters.testing.bank.kernel.accounts import PayoutKind
from provider_adapters.testing.bank.simulator import BankAddress, Simulator
from tests.unit.provider_adapters.testing.bank.dialect import OTHER


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


def test_a_bank_without_such_rows_takes_no_payouts():
    pays = replace(OTHER, rows=(*OTHER.rows, Row("POST", "/pay", "payout", OTHER.rows[0].run)))

    assert not Simulator(adapter="other", dialect=OTHER).pays
    assert Simulator(adapter="other", dialect=pays).pays


def test_a_bank_has_at_least_one_kind_of_account():
    more = {PayoutKind.IDEM: {"repeat": "same"}, PayoutKind.NONE: {"repeat": "never"}}

    assert Simulator(adapter="other", dialect=OTHER).kinds == {PayoutKind.DUP: {}}
    assert Simulator(adapter="other", dialect=OTHER, repeats=more).kinds == more
