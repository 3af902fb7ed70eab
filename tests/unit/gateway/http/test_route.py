"""The code of a failure."""

from __future__ import annotations

import pytest

from gateway.banks.port.providers import NotFound, ProviderError, RateLimited
from gateway.core import errors
from gateway.core.catalogue import ErrorCode
from gateway.http.route import code_of


@pytest.mark.parametrize(
    ("problem", "error"),
    [
        (NotFound("a"), errors.PIX_KEY_NOT_FOUND),
        (RateLimited("a"), errors.PIX_KEYS_UNAVAILABLE),
        (ProviderError("a"), errors.PIX_KEYS_UNAVAILABLE),
        (ValueError("a"), None),
    ],
)
def test_the_most_specific_exception_class_decides_the_code(
    problem: Exception, error: ErrorCode | None
):
    """In any order of the table."""
    fails = {ProviderError: errors.PIX_KEYS_UNAVAILABLE, NotFound: errors.PIX_KEY_NOT_FOUND}
    backwards = dict(reversed(fails.items()))

    found = [code_of(problem, each) for each in (fails, backwards)]

    assert found == [error, error]
