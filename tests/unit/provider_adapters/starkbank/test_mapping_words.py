"""The tables of the bank's words."""

from __future__ import annotations

from gateway.banks.port.answers import REFUSED_BEFORE_EXECUTION
from gateway.banks.port.charges import ChargeStatus
from gateway.banks.port.payout_orders import AccountType
from gateway.banks.port.pix_keys import PixKeyStatus, PixKeyType
from provider_adapters.starkbank import mapping


def test_every_member_has_a_word():
    assert sorted(mapping.KEY_TYPES.values()) == sorted(PixKeyType)
    assert set(mapping.KEY_STATUSES.values()) == set(PixKeyStatus)
    assert set(mapping.ACCOUNT_TYPES) == set(AccountType)
    assert set(mapping.INVOICE_STATUSES.values()) == set(ChargeStatus)


def test_no_word_means_two_things():
    assert mapping.CREDENTIAL_CODES.isdisjoint(mapping.REJECTIONS)
    assert mapping.NOT_FOUND.isdisjoint(mapping.REJECTIONS)


def test_what_is_refused_before_execution_is_never_a_bare_status():
    assert all(code for _, code in mapping.REFUSED_BEFORE)
    assert set(mapping.REFUSED_BEFORE.values()) <= REFUSED_BEFORE_EXECUTION
