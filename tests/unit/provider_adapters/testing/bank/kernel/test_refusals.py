"""Every code has its status."""

from __future__ import annotations

import pytest

from provider_adapters.testing.bank.kernel import refusals
from provider_adapters.testing.bank.kernel.refusals import Code, Refusal
from tests.world.tables import cases


@cases(
    ("code", "status"),
    [
        (Code.REJECTED, 400),
        (Code.INSUFFICIENT_FUNDS, 400),
        (Code.NOT_ALLOWED, 403),
        (Code.LIMIT_EXCEEDED, 403),
        (Code.DUPLICATE, 409),
        (Code.KEY_REUSED, 422),
    ],
)
def test_a_code_has_its_status(code, status):
    assert Refusal(code, "no").status == status


def test_a_status_may_be_another():
    assert Refusal(Code.KEY_NOT_FOUND, "no", status=404).status == 404


def test_what_is_not_there_is_not_found():
    with pytest.raises(Refusal, match="key not found"):
        refusals.found(None, "key")


@cases(
    ("status", "code"),
    [(500, "INTERNAL"), (503, "INTERNAL"), (429, "TOO_MANY_REQUESTS"), (418, "INVALID_REQUEST")],
)
def test_a_failure_is_named_by_its_status(status, code):
    problem = refusals.of_status(status)

    assert (problem.status, problem.code) == (status, code)


def test_of_what_was_executed_no_code_says_that_it_was_refused():
    assert refusals.of_status(429, executed=True).code == Code.INVALID_REQUEST
    assert refusals.of_status(503, executed=True).code == Code.INTERNAL
