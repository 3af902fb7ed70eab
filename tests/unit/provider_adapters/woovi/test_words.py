"""Each listed word of the bank, and that nothing dangerous is listed by a bare status."""

from __future__ import annotations

import re

from gateway.banks.port.payout_orders import AccountType, FailureCode
from gateway.banks.port.pix_keys import PixKeyType
from gateway.banks.port.provider_callbacks import CallbackKind
from provider_adapters.woovi import words
from tests.world.tables import cases

CODE = re.compile(r"[0-9A-Za-z][0-9A-Za-z_.:\-]{0,63}")


def test_every_type_of_key_and_of_account_can_be_paid_to():
    assert set(words.PAYOUT_KEY_TYPES) == set(PixKeyType)
    assert set(words.ACCOUNT_TYPES) == set(AccountType)


def test_a_random_key_has_two_names():
    assert words.PAYOUT_KEY_TYPES[PixKeyType.EVP] == "RANDOM"
    assert words.NEW_KEY_TYPES[PixKeyType.EVP] == "EVP"


@cases("listed", [words.REFUSED_BEFORE, words.DUPLICATES, words.REJECTIONS, words.ERRORS])
def test_every_refusal_is_listed_by_status_and_code(listed):
    """A bare status is said by a proxy, too."""
    assert all(status >= 400 and code for status, code in listed)


def test_no_answer_is_on_two_lists_about_payouts():
    lists = [set(words.REFUSED_BEFORE), set(words.DUPLICATES), set(words.REJECTIONS)]

    assert sum(map(len, lists)) == len(set().union(*lists))


def test_codes_can_be_kept_as_evidence():
    assert all(CODE.fullmatch(code) for code in (*words.SAID.values(), *words.FAILURES))


def test_absence_of_the_account_is_no_absence_of_what_was_asked_for():
    for text in ("Company not found", "Company bank account not found", "Account not found"):
        assert text not in words.SAID


def test_a_lack_of_the_bank_s_own_funds_is_not_ours():
    assert "AM04" not in words.FAILURES
    assert words.FAILURES["NOT_ENOUGH_BALANCE"] is FailureCode.INSUFFICIENT_FUNDS


def test_callbacks_about_payouts_and_paid_charges_are_registered_for():
    assert {words.EVENTS[event] for event in words.REGISTERED} == {
        CallbackKind.PAYOUT, CallbackKind.CHARGE
    }  # fmt: skip
    payouts = {event for event, kind in words.EVENTS.items() if kind is CallbackKind.PAYOUT}
    assert payouts < set(words.REGISTERED)
