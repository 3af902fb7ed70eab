"""The codes of people."""

from __future__ import annotations

from gateway.core import errors
from gateway.core.user_errors import CATALOGUE


def test_every_error_has_a_message_and_a_remedy():
    for error in CATALOGUE:
        assert error.message.endswith(".")
        assert error.remedy.endswith(".")
        assert 400 <= error.status < 500 or error.status == 502


def test_error_names_are_in_only_one_catalogue():
    names = {error.name for error in errors.CATALOGUE}

    assert names.isdisjoint(error.name for error in CATALOGUE)


def test_only_refund_errors_have_bank_codes():
    """Identity errors have their own names."""
    lent = {error.name for error in CATALOGUE if error.code.startswith("SVC.")}

    assert lent == {"refund_not_sent", "refund_unknown"}
