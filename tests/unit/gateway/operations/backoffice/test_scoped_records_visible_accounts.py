"""Accounts as a person is shown them."""

from __future__ import annotations

from functools import partial

from gateway.companies.service import find_company
from gateway.domain.backoffice.lists import OwnedAccount
from gateway.domain.kernel.company_scope import EVERY_COMPANY, CompanyScope
from gateway.domain.kernel.windows import Paging
from gateway.operations.accounts.accounts import AccountOrder
from gateway.operations.backoffice.scoped_records import AccountSearch, VisibleAccounts
from tests.world.registers import Registers

ALL = AccountSearch(Paging(1, 25))


async def made(office: Registers, company: str, *names: str) -> list[OwnedAccount]:
    """Make a company with accounts."""
    owner = await office.company(company)
    orders = [
        AccountOrder(company_id=owner.id, name=name, tax_number="11222333000181") for name in names
    ]
    return [OwnedAccount(await office.accounts.create(each), company) for each in orders]


def reading(office: Registers) -> VisibleAccounts:
    return VisibleAccounts(office.store.office.scoped, partial(find_company, office.store.database))


async def test_all_are_shown_to_who_is_limited_to_nothing(office: Registers):
    """Oldest first, each with its owner."""
    wanted = [*await made(office, "Padaria", "A", "B"), *await made(office, "Outra", "C")]

    found = await reading(office).search(EVERY_COMPANY, ALL)

    assert (list(found.items), found.total) == (wanted, 3)


async def test_others_are_neither_shown_nor_counted(office: Registers):
    mine, _ = await made(office, "Padaria", "A"), await made(office, "Outra", "B")
    scope = CompanyScope(frozenset({mine[0].account.company_id}))

    found = await reading(office).search(scope, ALL)

    assert (list(found.items), found.total) == (mine, 1)


async def test_asking_for_another_company_shows_nothing(office: Registers):
    (mine,), (other,) = await made(office, "Padaria", "A"), await made(office, "Outra", "B")
    scope = CompanyScope(frozenset({mine.account.company_id}))
    search = AccountSearch(Paging(1, 25), other.account.company_id)

    assert (await reading(office).search(scope, search)).total == 0
    assert (await reading(office).search(EVERY_COMPANY, search)).items == [other]


async def test_a_page_is_cut_out_of_what_is_shown(office: Registers):
    wanted = await made(office, "Padaria", "A", "B", "C")

    found = await reading(office).search(EVERY_COMPANY, AccountSearch(Paging(2, 2)))

    assert (list(found.items), found.total) == (wanted[2:], 3)


async def test_one_is_read_with_its_owner(office: Registers):
    (wanted,) = await made(office, "Padaria", "A")

    assert await reading(office).read(wanted.account, None) == wanted
