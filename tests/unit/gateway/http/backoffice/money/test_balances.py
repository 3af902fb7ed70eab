"""The balance of an account."""

from __future__ import annotations

from gateway.domain.bank.providers import Unavailable
from gateway.domain.kernel.storage import StoreUnavailable
from tests.unit.gateway.http.backoffice.surface import becomes, line


def test_the_row_is_the_one_decided():
    assert line("balance") == ("GET", "/balance", "balance:read", 200)


def test_a_failure_has_the_rows_own_code():
    assert becomes("balance", Unavailable("a")) == "balance_unavailable"
    assert becomes("balance", StoreUnavailable()) == "store_unavailable"
