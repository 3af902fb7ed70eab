"""The tables: each word is the bank's own, and of its right kind."""

from __future__ import annotations

from gateway.banks.port.providers import NotFound, Reason
from provider_adapters.apipix import words
from provider_adapters.apipix.efi import payouts


def test_every_refusal_before_execution_has_a_code():
    assert all(code for _, code in words.REFUSED_BEFORE)
    assert set(words.REFUSED_BEFORE.values()) == {Reason.CREDENTIALS_REFUSED, Reason.RATE_LIMITED}


def test_every_rejection_has_a_code_and_a_client_error_status():
    listed = [*words.REFUND_REJECTIONS, *payouts.REJECTIONS]

    assert all(code and 400 <= status < 500 for status, code in listed)


def test_no_answer_is_on_two_lists():
    for table in (payouts.REJECTIONS, words.REFUND_REJECTIONS):
        assert not set(table) & set(words.REFUSED_BEFORE)
    assert not set(words.REFUND_REJECTIONS) & words.REFUND_KNOWN
    assert payouts.DUPLICATE not in payouts.REJECTIONS


def test_absence_requires_the_bank_s_own_code():
    absent = [pair for pair, (kind, _) in words.ERRORS.items() if kind is NotFound]

    assert all(code for _, code in absent)
