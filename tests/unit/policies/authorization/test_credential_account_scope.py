"""Whose account is it, and may this credential see it?"""

from collections.abc import Awaitable, Callable

import pytest

from gateway.core import errors
from gateway.core.account import Account
from gateway.core.calls import Call, RawRequest, Ready
from gateway.core.permissions import Principal
from gateway.core.storage import StoreUnavailable
from policies.authorization.credential import AccountScope
from tests.unit.refusals import refused
from tests.world.people import ACCOUNT, OTHER_COMPANY, SISTER, account, call, principal

Find = Callable[[str], Awaitable[Account | None]]

FOREIGN = "0b7d7e4a-9e0e-4a3c-8f5e-3c1f0a9b2c03"
STORED = {
    ACCOUNT: account(),
    SISTER: account(SISTER, active=False),
    FOREIGN: account(FOREIGN, company_id=OTHER_COMPANY),
}


async def look_up(account_id: str) -> Account | None:
    return STORED.get(account_id)


def have(account_id: str) -> Ready[Account | None]:
    return Ready(STORED.get(account_id))


@pytest.fixture(params=[have, look_up], ids=["at hand", "looked up"])
def find(request: pytest.FixtureRequest) -> Find:
    """The same answers, whether they have to be waited for or not."""
    found: Find = request.param
    return found


async def asks(find: Find, asked: Call) -> None:
    """Ask, and wait where there is something to wait for."""
    waiting = AccountScope(find)(asked)
    if waiting is not None:
        await waiting


def asking(account_id: str, who: Principal | None) -> Call:
    return call(RawRequest(path={"account_id": account_id}), principal=who)


@pytest.mark.parametrize("path", [ACCOUNT, ACCOUNT.upper()])
@pytest.mark.parametrize("scope", [None, ACCOUNT], ids=["company", "account"])
async def test_an_account_in_scope_is_filled_in(find: Find, path: str, scope: str | None):
    asked = asking(path, principal(scope))

    await asks(find, asked)

    assert asked.account == STORED[ACCOUNT]


async def test_a_company_wide_credential_reaches_every_account_of_the_company(find: Find):
    """In any state, which is checked afterwards."""
    asked = asking(SISTER, principal())

    await asks(find, asked)

    assert asked.account == STORED[SISTER]


@pytest.mark.parametrize("scope", [None, ACCOUNT, FOREIGN], ids=["company", "own", "that one"])
@pytest.mark.parametrize("path", [FOREIGN, "00000000-0000-0000-0000-000000000000"])
async def test_an_absent_account_and_a_foreign_one_get_the_same_refusal(
    find: Find, path: str, scope: str | None
):
    with refused(errors.ACCOUNT_NOT_FOUND) as refusal:
        await asks(find, asking(path, principal(scope)))
    assert (refusal.value.reason, refusal.value.headers) == ("not_visible", {})


async def test_another_account_of_the_company_is_refused_with_403(find: Find):
    """404 for another company's, 403 for the own company's other one (contract 5.1)."""
    asked = asking(SISTER, principal(ACCOUNT))

    with refused(errors.SCOPE_DENIED) as refusal:
        await asks(find, asked)
    assert refusal.value.error.status == 403
    assert asked.account is None
    assert asked.out_of_scope is not None


async def test_an_unauthenticated_caller_finds_no_account(find: Find):
    with refused(errors.ACCOUNT_NOT_FOUND):
        await asks(find, asking(ACCOUNT, None))


async def test_an_unavailable_store_is_not_reported_as_an_absent_account():
    async def fail(_account_id: str) -> Account | None:
        raise StoreUnavailable

    with refused(errors.AUTH_UNAVAILABLE) as refusal:
        await asks(fail, asking(ACCOUNT, principal()))
    assert refusal.value.headers == {"Retry-After": "2"}


def test_the_account_scope_declares_its_refusals():
    assert set(AccountScope(look_up).refuses) == {
        errors.ACCOUNT_NOT_FOUND,
        errors.SCOPE_DENIED,
        errors.AUTH_UNAVAILABLE,
    }
