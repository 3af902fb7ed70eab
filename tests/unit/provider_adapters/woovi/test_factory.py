"""The Woovi provider's settings: which hosts, and what the bank allows."""

from __future__ import annotations

from gateway.banks.port.capabilities import PortCall
from gateway.core.account import Environment
from provider_adapters.kit.factory import AdapterContext
from provider_adapters.woovi.factory import LIMITS, WooviFactory
from tests.world.banks.witness import Witness

SANDBOX, PRODUCTION = Environment.SANDBOX, Environment.PRODUCTION


def made(settings: dict[str, object], environment: Environment = SANDBOX):
    context = AdapterContext(name="bank", environment=environment, observer=Witness())
    return WooviFactory()(settings, context)


def test_the_bank_s_rate_limit_applies_unless_it_is_lifted():
    assert LIMITS.rates["*"] is not None
    assert made({}).client.admission.bank_limits is not None
    lifted = made({"limits": {"account_limits": {"rates": {"*": None}}}})
    assert lifted.client.admission.bank_limits is None


def test_undocumented_capabilities_are_not_declared():
    declared = WooviFactory.capabilities

    assert declared.absent_after is None
    assert declared.entry_fields == frozenset()
    assert not declared.alphanumeric_cnpj
    assert PortCall.LIST_BLOCKS not in declared.calls
