"""Whose account is it, and is it shown to this person?"""

import pytest

from gateway.core import errors
from gateway.core.account import Account
from gateway.core.calls import Call, RawRequest
from gateway.core.company_scope import CompanyScope, scope_of
from gateway.core.sessions import SignedInUser
from gateway.core.storage import StoreUnavailable
from policies.authorization.user import VisibleAccount
from tests.unit.refusals import refused
from tests.world.people import ACCOUNT, COMPANY, OTHER_COMPANY, SISTER, account, call, somebody

FOREIGN = "0b7d7e4a-9e0e-4a3c-8f5e-3c1f0a9b2c03"
NOTHING = "00000000-0000-0000-0000-000000000000"
STORED = {
    ACCOUNT: account(),
    SISTER: account(SISTER, active=False, verified=False),
    FOREIGN: account(FOREIGN, company_id=OTHER_COMPANY),
}


async def find(wanted: tuple[str, CompanyScope]) -> Account | None:
    account_id, scope = wanted
    found = STORED.get(account_id)
    return found if found and scope.includes(found.company_id) else None


def asking(account_id: str, who: SignedInUser | None) -> Call:
    scope = scope_of(who.companies) if who else None
    return call(RawRequest(path={"account_id": account_id}), person=who, scope=scope)


@pytest.mark.parametrize("companies", [frozenset(), frozenset({COMPANY})], ids=["all", "its own"])
@pytest.mark.parametrize("account_id", [ACCOUNT, SISTER])
async def test_a_visible_account_is_filled_in(account_id: str, companies: frozenset[str]):
    """In any state, and with its id in any letter case."""
    asked = asking(account_id.upper(), somebody(companies=companies))

    await VisibleAccount(find)(asked)

    assert asked.account == STORED[account_id]


@pytest.mark.parametrize("account_id", [FOREIGN, NOTHING])
async def test_an_absent_account_and_one_out_of_scope_get_the_same_refusal(account_id: str):
    asked = asking(account_id, somebody(companies=frozenset({COMPANY})))

    with refused(errors.ACCOUNT_NOT_FOUND) as refusal:
        await VisibleAccount(find)(asked)
    assert (refusal.value.reason, refusal.value.headers) == ("not_visible", {})
    assert asked.account is None


async def test_a_user_without_a_company_limit_finds_every_account():
    asked = asking(FOREIGN, somebody())

    await VisibleAccount(find)(asked)

    assert asked.account == STORED[FOREIGN]


async def test_an_unauthenticated_user_finds_no_account():
    with refused(errors.ACCOUNT_NOT_FOUND):
        await VisibleAccount(find)(asking(ACCOUNT, None))


async def test_an_unavailable_store_is_not_reported_as_an_account_not_found():
    async def fail(_wanted: tuple[str, CompanyScope]) -> Account | None:
        raise StoreUnavailable

    with refused(errors.AUTH_UNAVAILABLE) as refusal:
        await VisibleAccount(fail)(asking(ACCOUNT, somebody()))
    assert refusal.value.headers == {"Retry-After": "2"}
