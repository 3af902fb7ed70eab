"""Which companies' records may this user see?"""

from __future__ import annotations

from gateway.core.company_scope import EVERY_COMPANY, CompanyScope
from gateway.core.user_errors import FORBIDDEN
from policies.authorization.user import DecidesCompanyScope
from tests.unit.refusals import refused
from tests.world.people import COMPANY, call, somebody


def test_a_user_without_companies_has_access_to_every_company():
    asked = call(person=somebody())

    DecidesCompanyScope()(asked)

    assert asked.scope is EVERY_COMPANY


def test_a_user_with_companies_has_access_only_to_these():
    asked = call(person=somebody(companies=frozenset({COMPANY})))

    DecidesCompanyScope()(asked)

    assert asked.scope == CompanyScope(frozenset({COMPANY}))


def test_an_unauthenticated_caller_has_no_company_scope():
    with refused(FORBIDDEN):
        DecidesCompanyScope()(call())
