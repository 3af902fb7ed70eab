"""Which companies are in scope."""

from __future__ import annotations

import pytest

from gateway.core.company_scope import EVERY_COMPANY, CompanyScope, scope_of

OURS = CompanyScope(frozenset({"a", "b"}))
NOTHING = CompanyScope(frozenset())


def test_a_user_without_named_companies_sees_every_company():
    assert scope_of(frozenset()) is EVERY_COMPANY
    assert scope_of(frozenset({"a"})) == CompanyScope(frozenset({"a"}))
    assert (EVERY_COMPANY.everything, OURS.everything, NOTHING.everything) == (True, False, False)


@pytest.mark.parametrize(
    ("scope", "included"), [(EVERY_COMPANY, True), (OURS, True), (NOTHING, False)]
)
def test_a_company_is_in_scope(scope: CompanyScope, included: bool):
    assert scope.includes("a") is included
    assert scope.includes("z") is (scope is EVERY_COMPANY)


def test_a_scope_covers_users_of_its_companies_alone():
    """A user without a limit is covered only by access to every company."""
    cases = [({"a"}, True), ({"a", "b"}, True), ({"a", "z"}, False), (set(), False)]

    for limit, covered in cases:
        assert OURS.covers(limit) is covered
        assert EVERY_COMPANY.covers(limit)
