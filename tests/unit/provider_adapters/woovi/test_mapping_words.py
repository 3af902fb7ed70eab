"""Each listed word of the bank, and that nothing dangerous is listed by a bare status."""

from __future__ import annotations

import re

from gateway.banks.port.payout_orders import AccountType, FailureCode
from gateway.banks.port.pix_keys import PixKeyType
from gateway.banks.port.provider_callbacks import CallbackKind
from provider_adapters.woovi import mapping
from tests.world.tables import cases

CODE = re.compile(r"[0-9A-Za-z][0-9A-Za-z_.:\-]{0,63}")


def test_every_key_and_account_type_can_be_paid():
    assert set(mapping.PAYOUT_KEY_TYPES) == set(PixKeyType)
    assert set(mapping.ACCOUNT_TYPES) == set(AccountType)


def test_a_random_key_has_different_words_in_payouts_and_registrations():
    assert mapping.PAYOUT_KEY_TYPES[PixKeyType.EVP] == "RANDOM"
    assert mapping.NEW_KEY_TYPES[PixKeyType.EVP] == "EVP"


@cases("listed", [mapping.REFUSED_BEFORE, mapping.DUPLICATES, mapping.REJECTIONS, mapping.ERRORS])
def test_every_listed_refusal_has_a_status_and_a_code(listed):
    """A bare status is said by a proxy, too."""
    assert all(status >= 400 and code for status, code in listed)


def test_no_answer_is_on_two_payout_lists():
    lists = [set(mapping.REFUSED_BEFORE), set(mapping.DUPLICATES), set(mapping.REJECTIONS)]

    assert sum(map(len, lists)) == len(set().union(*lists))


def test_error_codes_can_be_stored_as_evidence():
    assert all(CODE.fullmatch(code) for code in (*mapping.SAID.values(), *mapping.FAILURES))


def test_an_unknown_account_does_not_mean_not_found():
    for text in ("Company not found", "Company bank account not found", "Account not found"):
        assert text not in mapping.SAID


def test_the_bank_s_own_lack_of_funds_is_not_insufficient_funds():
    assert "AM04" not in mapping.FAILURES
    assert mapping.FAILURES["NOT_ENOUGH_BALANCE"] is FailureCode.INSUFFICIENT_FUNDS


def test_registered_events_cover_payouts_and_paid_charges():
    assert {mapping.EVENTS[event] for event in mapping.REGISTERED} == {
        CallbackKind.PAYOUT, CallbackKind.CHARGE
    }  # fmt: skip
    payouts = {event for event, kind in mapping.EVENTS.items() if kind is CallbackKind.PAYOUT}
    assert payouts < set(mapping.REGISTERED)
