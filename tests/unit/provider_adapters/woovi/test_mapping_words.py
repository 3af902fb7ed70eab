"""Each listed word of the bank, and that nothing dangerous is listed by a bare status."""

from __future__ import annotations

import re

from gateway.banks.port.payout_orders import AccountType, FailureCode
from gateway.banks.port.pix_keys import PixKeyType
from gateway.banks.port.provider_callbacks import CallbackKind
from provider_adapters.woovi import mapping
from tests.world.tables import cases

CODE = re.compile(r"[0-9A-Za-z][0-9A-Za-z_.:\-]{0,63}")


def test_every_type_of_key_and_of_account_can_be_paid_to():
    assert set(mapping.PAYOUT_KEY_TYPES) == set(PixKeyType)
    assert set(mapping.ACCOUNT_TYPES) == set(AccountType)


def test_a_random_key_has_two_names():
    assert mapping.PAYOUT_KEY_TYPES[PixKeyType.EVP] == "RANDOM"
    assert mapping.NEW_KEY_TYPES[PixKeyType.EVP] == "EVP"


@cases("listed", [mapping.REFUSED_BEFORE, mapping.DUPLICATES, mapping.REJECTIONS, mapping.ERRORS])
def test_every_refusal_is_listed_by_status_and_code(listed):
    """A bare status is said by a proxy, too."""
    assert all(status >= 400 and code for status, code in listed)


def test_no_answer_is_on_two_lists_about_payouts():
    lists = [set(mapping.REFUSED_BEFORE), set(mapping.DUPLICATES), set(mapping.REJECTIONS)]

    assert sum(map(len, lists)) == len(set().union(*lists))


def test_codes_can_be_kept_as_evidence():
    assert all(CODE.fullmatch(code) for code in (*mapping.SAID.values(), *mapping.FAILURES))


def test_absence_of_the_account_is_no_absence_of_what_was_asked_for():
    for text in ("Company not found", "Company bank account not found", "Account not found"):
        assert text not in mapping.SAID


def test_a_lack_of_the_bank_s_own_funds_is_not_ours():
    assert "AM04" not in mapping.FAILURES
    assert mapping.FAILURES["NOT_ENOUGH_BALANCE"] is FailureCode.INSUFFICIENT_FUNDS


def test_callbacks_about_payouts_and_paid_charges_are_registered_for():
    assert {mapping.EVENTS[event] for event in mapping.REGISTERED} == {
        CallbackKind.PAYOUT, CallbackKind.CHARGE
    }  # fmt: skip
    payouts = {event for event, kind in mapping.EVENTS.items() if kind is CallbackKind.PAYOUT}
    assert payouts < set(mapping.REGISTERED)
