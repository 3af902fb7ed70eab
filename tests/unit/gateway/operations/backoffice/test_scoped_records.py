"""One caller's records: what is outside of their scope is as good as absent."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable
from dataclasses import dataclass

import pytest

from gateway.domain.identity.errors import NOT_FOUND
from gateway.domain.kernel.company_scope import EVERY_COMPANY, CompanyScope
from gateway.domain.kernel.errors import ServiceError
from gateway.operations.backoffice.scoped_records import RecordsInScope
from gateway.operations.kernel.audit_context import RuleViolation
from tests.world.registers import Registers


@dataclass(frozen=True)
class Owned:
    """A company with an account."""

    company: str
    account: str


async def owned(office: Registers, name: str) -> Owned:
    company = await office.company(name)
    account = await office.account(company.id, name=name)
    return Owned(company.id, account.id)


def within(office: Registers, *companies: str) -> RecordsInScope:
    scope = CompanyScope(frozenset(companies)) if companies else EVERY_COMPANY
    return RecordsInScope(office.store.office.scoped, scope)


async def absent(look_up: Awaitable[object]) -> bool:
    with pytest.raises(ServiceError) as refused:
        await look_up
    return refused.value.error is NOT_FOUND


async def test_what_is_not_in_scope_is_absent(office: Registers):
    """The same answer as for what was never there."""
    mine = await owned(office, "Padaria")
    visible, nothing = within(office, mine.company), str(uuid.uuid4())

    assert await absent(visible.user(nothing))


async def test_a_body_that_names_what_is_not_in_scope_breaks_a_rule(office: Registers):
    mine, other = await owned(office, "Padaria"), await owned(office, "Outra")
    visible = within(office, mine.company)

    with pytest.raises(RuleViolation) as payout:
        await visible.require_payout(other.account, "r")

    assert payout.value.reason == "no_row"


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
