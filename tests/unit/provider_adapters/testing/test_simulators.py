"""Every bank that can be simulated is complete, and has its own port."""

from __future__ import annotations

import msgspec

from provider_adapters import registry
from provider_adapters.testing import simulators
from provider_adapters.testing.bank.dialect import BankAddress
from provider_adapters.testing.bank.messages import OPERATIONS
from tests.world.tables import cases

HERE = BankAddress(
    url="https://127.0.0.1:8100", control_url="http://127.0.0.1:8101", authority_file="/ca.pem"
)


def test_banks_get_consecutive_ports_and_zero_means_a_free_one():
    names = simulators.names()
    taken = [port for name in names for port in simulators.ports(name, 8100)[:2]]
    second = {simulators.ports(name, 8100)[2] for name in names}

    assert taken == list(range(8100, 8100 + 2 * len(names)))
    assert len(second - set(taken)) == len(names)
    assert {simulators.ports(name, 0) for name in names} == {(0, 0, 0)}


def test_banks_with_a_separate_token_host_have_both_addresses():
    here = msgspec.structs.replace(HERE, token_url="https://127.0.0.1:8200")
    banks = {name: simulators.find(name) for name in simulators.names()}

    assert {name for name, bank in banks.items() if bank.dialect.has_token_host} == {"sicoob", "bb"}
    for bank in banks.values():
        told = "https://127.0.0.1:8200" in bank.settings(here).values()
        assert told is bank.dialect.has_token_host


@cases("name", simulators.names())
def test_each_simulator_belongs_to_an_installed_adapter(name):
    found = simulators.find(name)

    assert found.adapter in registry.ADAPTERS
    assert found.provider(HERE)["adapter"] == found.adapter
    assert found.provider(HERE)["tls"] == {"ca": "/ca.pem"}


@cases("name", simulators.names())
def test_every_simulated_route_has_a_known_fault_operation(name):
    rows = simulators.find(name).dialect.rows

    assert rows
    assert {row.operation for row in rows} <= {*OPERATIONS, "account"} - {"*"}
    assert len({(row.method, row.path) for row in rows}) == len(rows)


def test_every_built_in_adapter_has_a_simulator():
    assert {simulators.find(name).adapter for name in simulators.names()} == set(registry.ADAPTERS)
