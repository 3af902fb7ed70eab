"""Which companies' records may this user see?"""

from __future__ import annotations

from gateway.core.company_scope import EVERY_COMPANY, CompanyScope
from gateway.core.user_errors import FORBIDDEN
from policies.authorization.user import DecidesCompanyScope
from tests.unit.refusals import refused
from tests.world.people import COMPANY, call, somebody


def test_a_user_of_no_company_sees_every_one():
    asked = call(person=somebody())

    DecidesCompanyScope()(asked)

    assert asked.scope is EVERY_COMPANY


def test_a_user_of_companies_sees_these():
    asked = call(person=somebody(companies=frozenset({COMPANY})))

    DecidesCompanyScope()(asked)

    assert asked.scope == CompanyScope(frozenset({COMPANY}))


def test_an_anonymous_caller_has_no_scope():
    with refused(FORBIDDEN):
        DecidesCompanyScope()(call())
