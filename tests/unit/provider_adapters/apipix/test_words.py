"""The tables: each word is the bank's own, and of its right kind."""

from __future__ import annotations

from gateway.banks.port.providers import NotFound, Reason
from provider_adapters.apipix import words
from provider_adapters.apipix.efi import payouts


def test_no_refusal_before_execution_is_a_bare_status():
    assert all(code for _, code in words.REFUSED_BEFORE)
    assert set(words.REFUSED_BEFORE.values()) == {Reason.CREDENTIALS_REFUSED, Reason.RATE_LIMITED}


def test_no_rejection_is_a_bare_status_or_a_failure_of_the_bank():
    listed = [*words.REFUND_REJECTIONS, *payouts.REJECTIONS]

    assert all(code and 400 <= status < 500 for status, code in listed)


def test_an_answer_means_one_thing():
    for table in (payouts.REJECTIONS, words.REFUND_REJECTIONS):
        assert not set(table) & set(words.REFUSED_BEFORE)
    assert not set(words.REFUND_REJECTIONS) & words.REFUND_KNOWN
    assert payouts.DUPLICATE not in payouts.REJECTIONS


def test_only_the_bank_s_own_code_proves_absence():
    absent = [pair for pair, (kind, _) in words.ERRORS.items() if kind is NotFound]

    assert all(code for _, code in absent)
