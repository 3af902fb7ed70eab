"""Whether the bank behind an account accepts us."""

from __future__ import annotations

import pytest

from gateway.http.backoffice.administration.bank_connections import connection
from gateway.operations.backoffice.bank_connections import SENTENCES, Connected
from tests.unit.gateway.http.backoffice.surface import OFFICE, line


def test_the_row_is_the_one_decided():
    assert line("account_provider_test") == ("POST", "/provider/test", "provider:write", 200)


@pytest.mark.parametrize("came", Connected)
def test_each_outcome_has_its_sentence(came: Connected):
    shown = connection(came, OFFICE)

    assert (shown["works"], shown["outcome"]) == (came is Connected.WORKS, came.value)
    assert shown["message"] == SENTENCES[came]
