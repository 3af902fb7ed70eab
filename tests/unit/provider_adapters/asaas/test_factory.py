"""The factory: hosts of the environment alone, and what the bank can do."""

from __future__ import annotations

import pytest

from gateway.banks.port.capabilities import Lookup, PortCall, Repeat, contradictions
from gateway.core.account import Environment
from provider_adapters.asaas.factory import HOSTS, AsaasFactory
from provider_adapters.checks import check_factory
from provider_adapters.kit.factory import AdapterRefused
from tests.world.banks.asaas import made
from tests.world.tables import cases

LACKING = {
    PortCall.LOOK_UP_KEY,
    PortCall.CREATE_REFUND,
    PortCall.FIND_REFUND,
    PortCall.LIST_REFUNDS,
    PortCall.LIST_BLOCKS,
    PortCall.LIST_MISSED_EVENTS,
    PortCall.ACKNOWLEDGE_EVENTS,
}


def test_the_factory_is_one_of_the_port():
    factory = check_factory(AsaasFactory(), "asaas")

    assert list(contradictions(factory.capabilities)) == []
    assert frozenset(PortCall) - factory.capabilities.calls == LACKING


def test_a_payout_is_never_sent_again_and_found_by_the_bank_s_id_alone():
    can = AsaasFactory.capabilities

    assert (can.repeat, can.lookup) == (Repeat.IGNORES, {Lookup.BANK_ID})
    assert (can.absent_after, can.statement_proves("E")) == (None, False)
    assert can.finds("id")
    assert not can.finds()


@cases("environment", list(Environment))
def test_without_an_address_the_bank_s_host_of_the_environment_is_called(environment: Environment):
    (host,) = HOSTS.of(environment)

    made({}, environment)
    made({"base_url": f"https://{host}"}, environment)


@cases("environment", list(Environment))
@cases(
    "address", ["https://api.asaas.com", "https://api-sandbox.asaas.com", "https://www.asaas.com"]
)
def test_a_host_of_the_other_environment_is_refused(environment: Environment, address: str):
    if address.removeprefix("https://") in HOSTS.of(environment):
        return

    with pytest.raises(AdapterRefused, match=r"providers\.bank\.settings\.base_url") as refused:
        made({"base_url": address}, environment)

    assert "asaas" not in str(refused.value)


def test_a_setting_that_nobody_knows_is_refused():
    with pytest.raises(AdapterRefused):
        made({"api_key": "$aact_prod_in-the-wrong-place"})


def test_as_many_calls_at_once_as_the_bank_takes_of_an_account():
    assert made({}).client.admission.bank_limits is not None
    lifted = made({"limits": {"account_limits": {"in_flight": 0}}})

    assert lifted.client.admission.bank_limits is None
