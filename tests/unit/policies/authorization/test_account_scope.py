"""Whose account is it, and may this credential see it?"""

import pytest

from gateway.domain import errors
from gateway.domain.accounts import Account, Principal
from gateway.domain.calls import Asked, Call
from gateway.domain.stores import StoreUnavailable
from policies.authorization.account_scope import AccountScope
from tests.unit.people import ACCOUNT, OTHER_COMPANY, SISTER, account, call, principal
from tests.unit.refusals import refused

FOREIGN = "0b7d7e4a-9e0e-4a3c-8f5e-3c1f0a9b2c03"
STORED = {
    ACCOUNT: account(),
    SISTER: account(SISTER, active=False),
    FOREIGN: account(FOREIGN, company_id=OTHER_COMPANY),
}


async def find(account_id: str) -> Account | None:
    return STORED.get(account_id)


def asking(account_id: str, who: Principal | None) -> Call:
    return call(Asked(path={"account_id": account_id}), principal=who)


@pytest.mark.parametrize("path", [ACCOUNT, ACCOUNT.upper()])
@pytest.mark.parametrize("scope", [None, ACCOUNT], ids=["company", "account"])
async def test_an_account_in_scope_is_filled_in(path: str, scope: str | None):
    asked = asking(path, principal(scope))

    await AccountScope(find)(asked)

    assert asked.account == STORED[ACCOUNT]


async def test_a_company_wide_credential_acts_on_every_account_of_the_company():
    """Whatever its state: that is asked afterwards."""
    asked = asking(SISTER, principal())

    await AccountScope(find)(asked)

    assert asked.account == STORED[SISTER]


@pytest.mark.parametrize("scope", [None, ACCOUNT, FOREIGN], ids=["company", "own", "that one"])
@pytest.mark.parametrize("path", [FOREIGN, "00000000-0000-0000-0000-000000000000"])
async def test_absent_and_foreign_accounts_are_told_apart_by_nobody(path: str, scope: str | None):
    with refused(errors.ACCOUNT_NOT_FOUND) as refusal:
        await AccountScope(find)(asking(path, principal(scope)))
    assert (refusal.value.reason, refusal.value.headers) == ("not_visible", {})


async def test_a_sister_account_is_refused():
    """404 for another company's, 403 for the own company's other one (contract 5.1)."""
    asked = asking(SISTER, principal(ACCOUNT))

    with refused(errors.SCOPE_DENIED) as refusal:
        await AccountScope(find)(asked)
    assert refusal.value.error.status == 403
    assert asked.account is None


async def test_nobody_sees_nothing():
    with refused(errors.ACCOUNT_NOT_FOUND):
        await AccountScope(find)(asking(ACCOUNT, None))


async def test_a_store_that_cannot_tell_is_no_absent_account():
    async def fail(_account_id: str) -> Account | None:
        raise StoreUnavailable

    with refused(errors.AUTH_UNAVAILABLE) as refusal:
        await AccountScope(fail)(asking(ACCOUNT, principal()))
    assert refusal.value.headers == {"Retry-After": "2"}


def test_every_refusal_is_declared():
    assert set(AccountScope(find).refuses) == {
        errors.ACCOUNT_NOT_FOUND,
        errors.SCOPE_DENIED,
        errors.AUTH_UNAVAILABLE,
    }
