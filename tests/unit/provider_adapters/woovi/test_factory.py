"""The Woovi provider's settings: which hosts, and what the bank allows."""

from __future__ import annotations

import pytest

from gateway.banks.port.capabilities import PortCall
from gateway.core.account import Environment
from provider_adapters.checks import check_factory
from provider_adapters.kit.factory import AdapterContext, AdapterRefused
from provider_adapters.woovi.factory import HOSTS, LIMITS, WooviFactory
from tests.world.banks.witness import Witness
from tests.world.tables import cases

SANDBOX, PRODUCTION = Environment.SANDBOX, Environment.PRODUCTION


def made(settings: dict[str, object], environment: Environment = SANDBOX):
    context = AdapterContext(name="bank", environment=environment, observer=Witness())
    return WooviFactory()(settings, context)


def test_the_factory_is_in_order():
    check_factory(WooviFactory(), "woovi")


@cases("environment", list(Environment))
def test_without_an_address_it_is_the_environment_s_own(environment):
    assert made({}, environment).capabilities.hosts.of(environment)


@cases(
    ("host", "environment"), [(host, env) for env in Environment for host in sorted(HOSTS.of(env))]
)
def test_a_host_is_called_in_its_own_environment_alone(host, environment):
    other = PRODUCTION if environment is SANDBOX else SANDBOX

    assert made({"base_url": f"https://{host}"}, environment)
    with pytest.raises(AdapterRefused, match=r"providers\.bank\.settings\.base_url"):
        made({"base_url": f"https://{host}"}, other)


def test_this_machine_is_allowed_in_the_sandbox_alone():
    assert made({"base_url": "http://127.0.0.1:8100"})
    with pytest.raises(AdapterRefused):
        made({"base_url": "http://127.0.0.1:8100"}, PRODUCTION)


@cases("settings", [{"app_id": "x"}, {"base_url": "https://example.com"}])
def test_wrong_settings_are_refused_without_their_value(settings):
    with pytest.raises(AdapterRefused) as refused:
        made(settings)

    assert "example.com" not in str(refused.value)


def test_the_bank_s_limit_holds_unless_it_is_lifted():
    assert LIMITS.rates["*"] is not None
    assert made({}).client.admission.bank_limits is not None
    lifted = made({"limits": {"account_limits": {"rates": {"*": None}}}})
    assert lifted.client.admission.bank_limits is None


def test_what_no_document_states_is_not_declared():
    declared = WooviFactory.capabilities

    assert declared.absent_after is None
    assert declared.entry_fields == frozenset()
    assert not declared.alphanumeric_cnpj
    assert PortCall.LIST_BLOCKS not in declared.calls
