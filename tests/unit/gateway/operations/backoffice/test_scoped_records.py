"""One caller's records: what is outside of their scope is as good as absent."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest

from gateway.domain.backoffice.lists import CredentialSearch
from gateway.domain.identity.errors import NOT_FOUND
from gateway.domain.kernel.company_scope import EVERY_COMPANY, CompanyScope
from gateway.domain.kernel.errors import ServiceError
from gateway.domain.kernel.windows import Paging
from gateway.operations.accounts.credentials import CredentialOrder
from gateway.operations.backoffice.scoped_records import RecordsInScope
from gateway.operations.kernel.audit_context import RuleViolation
from tests.world.registers import Registers

FIRST = Paging(1, 25)


@dataclass(frozen=True)
class Owned:
    """A company with a record of each kind."""

    company: str
    account: str
    credential: str


async def owned(office: Registers, name: str) -> Owned:
    company = await office.company(name)
    account = await office.account(company.id, name=name)
    issued = await office.credentials.issue(
        CredentialOrder(name=name, company_id=company.id, permissions=frozenset())
    )
    return Owned(company.id, account.id, issued.credential.client_id)


def within(office: Registers, *companies: str) -> RecordsInScope:
    scope = CompanyScope(frozenset(companies)) if companies else EVERY_COMPANY
    return RecordsInScope(office.store.office.scoped, scope)


def _credentials(**more: str) -> CredentialSearch:
    return CredentialSearch(paging=FIRST, now=datetime.now(UTC), **more)


async def absent(look_up: Awaitable[object]) -> bool:
    with pytest.raises(ServiceError) as refused:
        await look_up
    return refused.value.error is NOT_FOUND


async def test_what_is_in_scope_is_found_and_listed(office: Registers):
    mine, other = await owned(office, "Padaria"), await owned(office, "Outra")

    for visible, total in ((within(office, mine.company), 1), (within(office), 2)):
        assert (await visible.credential(mine.credential)).client_id == mine.credential
        assert (await visible.credentials(_credentials())).total == total
        await visible.require_account(mine.account)
        visible.require_company(mine.company.upper())
    assert (
        await within(office, mine.company).credentials(_credentials(company_id=other.company))
    ).total == 0


async def test_what_is_not_in_scope_is_absent(office: Registers):
    """The same answer as for what was never there."""
    mine, other = await owned(office, "Padaria"), await owned(office, "Outra")
    visible, nothing = within(office, mine.company), str(uuid.uuid4())

    for name in (other.credential, "cli_nothing"):
        assert await absent(visible.credential(name))
    assert await absent(visible.user(nothing))


async def test_a_body_that_names_what_is_not_in_scope_breaks_a_rule(office: Registers):
    mine, other = await owned(office, "Padaria"), await owned(office, "Outra")
    visible = within(office, mine.company)

    with pytest.raises(RuleViolation) as company:
        visible.require_company(other.company)
    with pytest.raises(RuleViolation) as account:
        await visible.require_account(other.account)
    with pytest.raises(RuleViolation) as payout:
        await visible.require_payout(other.account, "r")

    reasons = [each.value.reason for each in (company, account, payout)]
    assert reasons == ["company_unknown", "account_unknown", "no_row"]


@pytest.mark.parametrize("wanted", [[], ["b"], ["a", "b"]])
def test_nobody_gives_a_wider_limit_than_their_own(office: Registers, wanted: list[str]):
    names = {each: str(uuid.uuid4()) for each in "ab"}
    visible = within(office, names["a"])

    with pytest.raises(RuleViolation) as refused:
        visible.require_companies([names[each] for each in wanted])
    assert refused.value.reason == "company_unknown"
    assert visible.require_companies([names["a"].upper()]) == {names["a"]}


def test_a_limit_names_companies_by_their_ids(office: Registers):
    with pytest.raises(RuleViolation) as refused:
        within(office).require_companies(["our company"])
    assert refused.value.reason == "uuid_form"
