"""Who calls, and how operations see them."""

from __future__ import annotations

import pytest

from gateway.domain.accounts.accounts import Account
from gateway.domain.kernel.company_scope import EVERY_COMPANY
from gateway.domain.requests.calls import Caller
from gateway.http.backoffice.callers import (
    admit_office,
    admit_staff,
    as_actor,
    as_caller,
)
from gateway.operations.kernel.audit_context import AuditContext
from tests.unit.gateway.http.backoffice.surface import CLOCK, MARIA, OFFICE, STAFF
from tests.world.people import account, call


def test_somebody_who_signed_in_is_admitted():
    assert admit_staff(CLOCK.now)(call(person=MARIA, scope=EVERY_COMPANY)) == STAFF


def test_somebody_at_an_account_is_admitted_whole():
    assert (
        admit_office(CLOCK.now)(call(person=MARIA, scope=EVERY_COMPANY, account=account()))
        == OFFICE
    )


@pytest.mark.parametrize(
    "half",
    [
        {"person": MARIA},
        {"account": account()},
        {"person": MARIA, "account": account()},
        {"person": MARIA, "scope": EVERY_COMPANY},
        {},
    ],
)
def test_nobody_is_admitted_by_half(half: dict[str, object]):
    """A policy that was forgotten is a mistake, not an open door."""
    with pytest.raises(RuntimeError, match="policy"):
        admit_office(CLOCK.now)(call(**half))


def test_nobody_is_no_staff():
    for half in ({"account": account()}, {"person": MARIA}):
        with pytest.raises(RuntimeError, match="policy"):
            admit_staff(CLOCK.now)(call(**half))


def test_a_person_stands_in_the_place_of_a_partner_and_holds_nothing():
    """Their rights were asked at the gate; a permission of partners they never have."""
    principal = OFFICE.caller.principal

    assert principal.client_id == f"user:{MARIA.user_id}"
    assert (principal.company_id, principal.account_id) == (account().company_id, None)
    assert principal.permissions == frozenset()


async def test_each_operation_is_given_what_it_asks_for():
    async def of_a_partner(who: Caller, taken: str) -> tuple[object, str]:
        return who, taken

    async def of_an_actor(who: AuditContext, where: Account, taken: str) -> tuple[object, ...]:
        return who, where, taken

    assert await as_caller(of_a_partner)(OFFICE, "a") == (OFFICE.caller, "a")
    assert await as_actor(of_an_actor)(OFFICE, "a") == (OFFICE.acting, OFFICE.account, "a")
