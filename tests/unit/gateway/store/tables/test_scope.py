"""A company scope as conditions; the store contract suite asks them of both databases."""

from __future__ import annotations

import pytest
from sqlalchemy import select
from sqlalchemy.dialects import postgresql

from gateway.core.company_scope import EVERY_COMPANY, CompanyScope
from gateway.store.tables.core import accounts, audit, payouts
from gateway.store.tables.scope import (
    limited_exactly,
    of_account,
    of_company,
    stops_in,
    stops_of,
    users_in,
)


@pytest.mark.parametrize(
    ("ids", "shown"), [(("a",), ["a", "a"]), (("b", "a"), ["a", "b", "a b"]), ((), [])]
)
def test_a_limited_scope_is_stored_as_all_its_companies_together(
    ids: tuple[str, ...], shown: list[str]
):
    """Never the empty text, which stands for access to every company."""
    (asked,) = limited_exactly(audit.c.companies, CompanyScope(frozenset(ids)))

    assert list(asked.compile(dialect=postgresql.dialect()).params.values()) == [shown]


def test_access_to_every_company_adds_no_condition():
    columns = (
        of_company(accounts.c.company_id, EVERY_COMPANY),
        of_account(payouts.c.account_id, EVERY_COMPANY),
        limited_exactly(audit.c.companies, EVERY_COMPANY),
        *(each(EVERY_COMPANY) for each in (stops_in, stops_of, users_in)),
    )

    assert columns == ((),) * 6


def test_a_scope_of_no_company_sees_nothing():
    conditions = of_company(accounts.c.company_id, CompanyScope(frozenset()))

    assert "IN" in str(select(accounts).where(*conditions))
