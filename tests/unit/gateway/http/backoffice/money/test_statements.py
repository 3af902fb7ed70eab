"""The statement of an account."""

from __future__ import annotations

from gateway.domain.bank.providers import Unavailable
from gateway.domain.kernel.storage import StoreUnavailable
from tests.unit.gateway.http.backoffice.surface import becomes, line


def test_the_row_is_the_one_decided():
    assert line("statement") == ("GET", "/transactions", "transaction:read", 200)


def test_a_failure_has_the_rows_own_code():
    assert becomes("statement", Unavailable("a")) == "statement_unavailable"
    assert becomes("statement", StoreUnavailable()) == "store_unavailable"
