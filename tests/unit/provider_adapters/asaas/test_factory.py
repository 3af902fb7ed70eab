"""The factory: hosts of the environment alone, and what the bank can do."""

from __future__ import annotations

from gateway.banks.port.capabilities import Lookup, Repeat
from provider_adapters.asaas.factory import AsaasFactory
from tests.world.banks.asaas import made


def test_a_payout_is_never_sent_again_and_found_by_the_bank_s_id_alone():
    can = AsaasFactory.capabilities

    assert (can.repeat, can.lookup) == (Repeat.IGNORES, {Lookup.BANK_ID})
    assert (can.absent_after, can.statement_proves("E")) == (None, False)
    assert can.finds("id")
    assert not can.finds()


def test_as_many_calls_at_once_as_the_bank_takes_of_an_account():
    assert made({}).client.admission.bank_limits is not None
    lifted = made({"limits": {"account_limits": {"in_flight": 0}}})

    assert lifted.client.admission.bank_limits is None
