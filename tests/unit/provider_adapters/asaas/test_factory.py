"""The factory: hosts of the environment alone, and what the bank can do."""

from __future__ import annotations

from gateway.banks.port.capabilities import Lookup, Repeat
from provider_adapters.asaas.factory import AsaasFactory
from tests.world.banks.asaas import made


def test_capabilities_declare_no_repeat_and_lookup_by_bank_id():
    can = AsaasFactory.capabilities

    assert (can.repeat, can.lookup) == (Repeat.IGNORES, {Lookup.BANK_ID})
    assert (can.absent_after, can.statement_proves("E")) == (None, False)
    assert can.finds("id")
    assert not can.finds()


def test_the_bank_s_limit_of_concurrent_calls_applies_unless_it_is_lifted():
    assert made({}).client.admission.bank_limits is not None
    lifted = made({"limits": {"account_limits": {"in_flight": 0}}})

    assert lifted.client.admission.bank_limits is None
