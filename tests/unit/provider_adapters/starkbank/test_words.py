"""The tables of the bank's words."""

from __future__ import annotations

from gateway.banks.port.charges import ChargeStatus
from gateway.banks.port.outcomes import REFUSED_BEFORE_EXECUTION
from gateway.banks.port.payout_orders import AccountType
from gateway.banks.port.pix_keys import PixKeyStatus, PixKeyType
from provider_adapters.starkbank import words


def test_every_member_has_a_word():
    assert sorted(words.KEY_TYPES.values()) == sorted(PixKeyType)
    assert set(words.KEY_STATUSES.values()) == set(PixKeyStatus)
    assert set(words.ACCOUNT_TYPES) == set(AccountType)
    assert set(words.INVOICE_STATUSES.values()) == set(ChargeStatus)


def test_no_word_means_two_things():
    assert words.CREDENTIAL_CODES.isdisjoint(words.REJECTIONS)
    assert words.NOT_FOUND.isdisjoint(words.REJECTIONS)


def test_what_is_refused_before_execution_is_never_a_bare_status():
    assert all(code for _, code in words.REFUSED_BEFORE)
    assert set(words.REFUSED_BEFORE.values()) <= REFUSED_BEFORE_EXECUTION
