"""Adapters by name, and the capability matrix."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from gateway.banks.port.capabilities import CONTRACT_CALLS, PORT
from gateway.banks.port.providers import ContractCalls
from gateway.core.account import Environment
from provider_adapters import registry
from provider_adapters.checks import check_adapter
from provider_adapters.kit.factory import AdapterContext, AdapterRefused
from provider_adapters.sandbox.adapter import SandboxAdapter
from provider_adapters.sandbox.factory import SandboxSettings
from tests.world.banks.witness import Witness
from tests.world.packages import PACKAGE, Install, install_in
from tests.world.tables import cases

WHOLE = f"{PACKAGE}NOT_ONE = 3\n"


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    made = install_in(tmp_path, monkeypatch)
    return lambda distribution, **points: made(distribution, WHOLE, **points)


@pytest.fixture
def install_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    return install_in(tmp_path, monkeypatch)


def test_the_sandbox_adapter_is_registered():
    context = AdapterContext(name="bank", environment=Environment.SANDBOX, observer=Witness())

    adapter = registry.find("sandbox")({}, context)

    assert isinstance(adapter, SandboxAdapter)
    assert "sandbox" in registry.names()


WITH_HOSTS = sorted(registry.ADAPTERS.keys() - {"sandbox"})
"""The sandbox bank is on this machine."""


def made(adapter: str, environment: Environment = Environment.SANDBOX, **settings: object) -> Any:
    """Make an adapter of ours; API Pix has a profile for each bank."""
    context = AdapterContext(name="bank", environment=environment, observer=Witness())
    profile = {"profile": "efi"} if adapter == "apipix" else {}
    return registry.find(adapter)({**profile, **settings}, context)


@cases("adapter", sorted(registry.ADAPTERS))
def test_each_built_in_adapter_matches_its_factory_s_declaration(adapter: str):
    check_adapter(made(adapter), registry.find(adapter), adapter)


@cases("adapter", sorted(registry.ADAPTERS))
def test_an_unknown_setting_is_refused(adapter: str):
    with pytest.raises(AdapterRefused, match="base_ulr") as refused:
        made(adapter, base_ulr="https://canary.example")

    assert "canary" not in str(refused.value)


@cases("environment", list(Environment))
@cases("adapter", WITH_HOSTS)
def test_a_bank_is_called_only_at_its_hosts_of_the_environment(
    adapter: str, environment: Environment
):
    """The refusal does not repeat the address; loopback is allowed only in the sandbox."""
    hosts = made(adapter, environment).capabilities.hosts
    [other] = set(Environment) - {environment}
    ours, theirs = hosts.of(environment), hosts.of(other)
    here, is_sandbox = "http://127.0.0.1:1", environment is Environment.SANDBOX
    taken = [*(f"https://{host}" for host in ours), *([here] if is_sandbox else [])]
    wrong = [f"https://{host}" for host in (*theirs, "canary.example")]
    wrong += [*(f"http://{host}" for host in ours), *([] if is_sandbox else [here])]

    assert ours
    for url in taken:
        made(adapter, environment, base_url=url)
    for url in wrong:
        with pytest.raises(AdapterRefused, match=r"providers\.bank\.settings\.base_url") as refused:
            made(adapter, environment, base_url=url)
        assert url.partition("//")[2] not in str(refused.value)


def test_the_matrix_shows_the_capabilities_of_each_adapter():
    row = registry.describe()[0]

    assert row == registry.AdapterRow(
        adapter="sandbox", capabilities=SandboxSettings().capabilities()
    )
    assert row.calls == dict.fromkeys(CONTRACT_CALLS, True)


def test_the_nine_contract_calls_match_the_port():
    port = {name for name in vars(ContractCalls) if not name.startswith("_")}

    assert port == set(CONTRACT_CALLS)


def test_another_package_can_provide_an_adapter(install: Install):
    install("otherbank", otherbank="MADE")

    factory = registry.find("otherbank")
    row = registry.describe()[-1]

    assert factory.PORT == PORT
    assert (row.adapter, row.problem) == ("otherbank", "")
    assert row.capabilities == factory.capabilities
    assert [name for name, usable in row.calls.items() if usable] == ["probe", "get_balance"]


PROFILES = """
class Many(Factory):
    profiles = {
        "one": Capabilities(calls=frozenset({PortCall.PROBE})),
        "two": Capabilities(calls=frozenset({PortCall.GET_BALANCE})),
    }
"""


def test_an_adapter_for_several_banks_has_a_row_for_each(install_text: Install):
    """One bank's row must not show the other's capabilities."""
    install_text("manybanks", WHOLE + PROFILES + "MADE = Many()\n")

    rows = registry.describe(["manybanks"])

    assert [row.name for row in rows] == ["manybanks one", "manybanks two"]
    assert [sorted(row.capabilities.calls) for row in rows] == [["probe"], ["get_balance"]]


@pytest.mark.parametrize(
    ("declared", "told"),
    [
        ("Capabilities(calls=frozenset({PortCall.LIST_KEYS}))", "one declares list_keys"),
        ("Capabilities(blocked_known=True)", "one: blocked_known"),
        ("None", "one declares no capabilities"),
    ],
)
def test_an_invalid_profile_is_refused(install_text: Install, declared: str, told: str):
    """A profile may remove declared capabilities, and never add any."""
    wrong = f"class Many(Factory):\n    profiles = {{'one': {declared}}}\n"
    install_text("manybanks", WHOLE + wrong + "MADE = Many()\n")

    (row,) = registry.describe(["manybanks"])

    assert told in row.problem


def test_an_adapter_is_loaded_only_on_demand(install: Install):
    install("lazybank", lazybank="MADE")

    names = registry.names()

    assert "lazybank" in names
    assert "lazybank_module" not in sys.modules


@pytest.mark.parametrize("what", ["MISSING", "NOT_ONE"])
def test_a_broken_adapter_is_reported_and_affects_no_other(install: Install, what: str):
    install("brokenbank", brokenbank=what)

    with pytest.raises(AdapterRefused, match="brokenbank"):
        registry.find("brokenbank")
    rows = {row.adapter: row for row in registry.describe()}

    assert "brokenbank" in rows["brokenbank"].problem
    assert not any(rows["brokenbank"].calls.values())
    assert rows["sandbox"].problem == ""


def test_a_module_that_fails_to_import_is_reported(install: Install, tmp_path: Path):
    install("raisingbank", raisingbank="MADE")
    (tmp_path / "raisingbank_module.py").write_text("raise SystemError('no')")

    with pytest.raises(AdapterRefused, match="does not load"):
        registry.find("raisingbank")


def test_an_adapter_name_registered_twice_is_refused(install: Install):
    """The first one would be chosen by chance; built-in names included."""
    install("one", shared="MADE")
    install("two", shared="MADE")
    install("three", sandbox="MADE")

    for name in ("shared", "sandbox"):
        with pytest.raises(AdapterRefused, match="more than once"):
            registry.find(name)


@cases(("name", "hint"), [("sandbx", "'sandbox'"), ("itau", "not installed")])
def test_an_unknown_adapter_name_is_refused_with_a_hint(name: str, hint: str):
    with pytest.raises(AdapterRefused, match=hint):
        registry.find(name)
