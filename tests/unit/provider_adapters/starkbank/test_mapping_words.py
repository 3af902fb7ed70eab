"""The tables of the bank's words."""

from __future__ import annotations

from gateway.banks.port.answers import REFUSED_BEFORE_EXECUTION
from gateway.banks.port.charges import ChargeStatus
from gateway.banks.port.payout_orders import AccountType
from gateway.banks.port.pix_keys import PixKeyStatus, PixKeyType
from provider_adapters.starkbank import mapping


def test_every_value_of_our_types_has_a_word():
    assert sorted(mapping.KEY_TYPES.values()) == sorted(PixKeyType)
    assert set(mapping.KEY_STATUSES.values()) == set(PixKeyStatus)
    assert set(mapping.ACCOUNT_TYPES) == set(AccountType)
    assert set(mapping.INVOICE_STATUSES.values()) == set(ChargeStatus)


def test_no_code_is_on_two_lists():
    assert mapping.CREDENTIAL_CODES.isdisjoint(mapping.REJECTIONS)
    assert mapping.NOT_FOUND.isdisjoint(mapping.REJECTIONS)


def test_every_refusal_before_execution_has_a_code():
    assert all(code for _, code in mapping.REFUSED_BEFORE)
    assert set(mapping.REFUSED_BEFORE.values()) <= REFUSED_BEFORE_EXECUTION
