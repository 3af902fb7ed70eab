"""What a bank's failures become on routes of users."""

from __future__ import annotations

import pytest

from gateway.banks.failures import REFUND_FAILS, bank_fails
from gateway.banks.port.providers import (
    BadReply,
    NotFound,
    NotSupported,
    OutcomeUnknown,
    Unavailable,
    Unreachable,
)
from gateway.core import errors
from gateway.core.storage import StoreUnavailable
from gateway.http.route import code_of

UNAVAILABLE, ABSENT = errors.CHARGE_UNAVAILABLE, errors.CHARGE_NOT_FOUND


def name(fails: object, problem: Exception) -> str:
    error = code_of(problem, fails)  # type: ignore[arg-type]
    return error.name if error else ""


@pytest.mark.parametrize(
    ("problem", "error"),
    [
        (Unavailable("a"), "charge_unavailable"),
        (Unreachable("a"), "charge_unavailable"),
        (BadReply("a"), "charge_unavailable"),
        (NotFound("a"), "charge_not_found"),
        (NotSupported("a"), "provider_not_configured"),
        (StoreUnavailable(), "store_unavailable"),
        (ValueError(), ""),
    ],
)
def test_a_provider_error_is_mapped_to_the_route_s_code(problem: Exception, error: str):
    assert name(bank_fails(UNAVAILABLE, ABSENT), problem) == error


def test_not_found_is_a_provider_failure_where_nothing_can_be_absent():
    assert name(bank_fails(UNAVAILABLE), NotFound("a")) == "charge_unavailable"


@pytest.mark.parametrize(
    ("problem", "error"),
    [
        (Unreachable("a"), "refund_not_sent"),
        (OutcomeUnknown("a"), "refund_unknown"),
        (Unavailable("a"), "refund_unknown"),
        (BadReply("a"), "refund_unknown"),
        (NotFound("a"), "transaction_not_found"),
        (NotSupported("a"), "provider_not_configured"),
    ],
)
def test_a_refund_is_unknown_unless_it_is_certain_that_it_was_not_sent(
    problem: Exception, error: str
):
    assert name(REFUND_FAILS, problem) == error
