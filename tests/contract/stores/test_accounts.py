"""Accounts: what is stored comes back, sealed bytes included, and each change leaves its event."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import update

from gateway.accounts.model import AccountSearch, NamesRequest
from gateway.accounts.service import Accounts
from gateway.app.store import Store
from gateway.companies.service import add_company
from gateway.core.access import Staff
from gateway.core.account import Account
from gateway.core.audit_context import AuditContext
from gateway.core.company_scope import EVERY_COMPANY, CompanyScope
from gateway.core.storage import AlreadyExists, BankAccountTaken, StoreUnavailable
from gateway.core.windows import Paging
from gateway.store.tables.core import accounts
from tests.contract.stores.databases import both
from tests.contract.stores.lists import OTHER, OURS, THEIRS
from tests.world.stores.samples import (
    ACCOUNT,
    CLIENT,
    COMPANY,
    NOW,
    SISTER,
    account,
    company,
    credential,
    event,
    now,
)


@both
async def test_a_stored_account_is_read_back_unchanged(store: Store) -> None:
    found = await store.accounts.find(ACCOUNT)

    assert found == account()


async def test_an_account_is_found_by_its_exact_id(store: Store) -> None:
    found = await store.accounts.find(ACCOUNT.upper())

    assert found is None


async def test_a_replaced_account_has_the_new_fields(store: Store) -> None:
    closed = replace(account(), active=False, provider="", sealed_credentials=b"")

    done = await store.accounts.replace(closed, event())

    assert done
    assert await store.accounts.find(ACCOUNT) == closed
    assert await store.accounts.find(SISTER) == account(SISTER)


@both
@pytest.mark.parametrize(
    "meanwhile", [{"name": "other"}, {"active": False}, {"sealed_credentials": b"other"}]
)
async def test_an_account_is_replaced_only_if_unchanged_since_it_was_read(
    store: Store, meanwhile: dict[str, object]
) -> None:
    """Of two writers that read the same row only one succeeds, so no change is lost."""
    first = replace(account(), **meanwhile)  # type: ignore[arg-type] - fields by name
    second = replace(account(), tax_number="other")

    done = await store.accounts.replace(first, event(), account())
    again = await store.accounts.replace(second, event(), account())
    then = await store.accounts.replace(second, event(), first)

    assert (done, again, then) == (True, False, True)
    assert await store.accounts.find(ACCOUNT) == second


async def test_an_absent_account_is_not_replaced_and_leaves_no_event(store: Store) -> None:
    before = await store.audit.verify()

    done = await store.accounts.replace(account("nobody"), event())

    assert not done
    assert await store.audit.verify() == before


async def test_an_existing_id_is_refused(store: Store) -> None:
    with pytest.raises(AlreadyExists):
        await store.accounts.add(replace(account(), name="other"), event())

    assert await store.accounts.find(ACCOUNT) == account()


def at_bank(account_id: str, company_id: str, place: str = "conta-1") -> Account:
    held = account(account_id, company_id=company_id)
    return replace(held, provider="sandbox", provider_account=place)


@pytest.fixture
async def theirs(store: Store) -> str:
    await add_company(store.database, company("other"), event())
    return "other"


async def test_a_bank_s_account_belongs_to_one_company(store: Store, theirs: str) -> None:
    await store.accounts.add(at_bank("a", COMPANY), event())
    await store.accounts.add(at_bank("b", COMPANY), event())
    await store.accounts.add(at_bank("c", theirs, "conta-2"), event())
    before = await store.audit.verify()

    with pytest.raises(BankAccountTaken):
        await store.accounts.add(at_bank("d", theirs), event())
    with pytest.raises(BankAccountTaken):
        await store.accounts.replace(at_bank("c", theirs), event())

    assert await store.accounts.find("d") is None
    assert await store.accounts.find("c") == at_bank("c", theirs, "conta-2")
    assert await store.audit.verify() == before


async def test_accounts_without_a_bank_may_share_an_empty_bank_account(
    store: Store, theirs: str
) -> None:
    for account_id, owner in (("a", COMPANY), ("b", theirs)):
        alone = replace(at_bank(account_id, owner), provider="", provider_account="")
        await store.accounts.add(alone, event())

    assert await store.accounts.find("b") is not None


@both
async def test_an_account_that_already_shares_its_bank_account_can_be_changed(
    store: Store, theirs: str
) -> None:
    """Accounts stored before this rule may keep their bank account and be deactivated."""
    await store.accounts.add(at_bank("a", COMPANY), event())
    await store.accounts.add(at_bank("b", theirs, "conta-2"), event())
    async with store.database.writing() as connection:
        await connection.execute(update(accounts).values(provider_account="conta-1"))
    off = replace(at_bank("b", theirs), active=False)

    assert await store.accounts.replace(off, event())
    assert await store.accounts.find("b") == off


@both
async def test_of_two_companies_adding_one_bank_account_at_once_one_succeeds(
    store: Store, theirs: str
) -> None:
    for turn in range(10):
        both = [at_bank(f"{owner}-{turn}", owner, f"conta-{turn}") for owner in (COMPANY, theirs)]

        done = await asyncio.gather(
            *(store.accounts.add(one, event()) for one in both), return_exceptions=True
        )

        assert sorted(map(type, done), key=str) == sorted((BankAccountTaken, type(None)), key=str)


async def test_an_account_of_an_unknown_company_is_not_stored(store: Store) -> None:
    """The database checks the reference, and the transaction is rolled back."""
    before = await store.audit.verify()

    with pytest.raises(StoreUnavailable):
        await store.accounts.add(at_bank("a", "nobody", "conta-2"), event())

    assert await store.accounts.find("a") is None
    assert await store.audit.verify() == before


@both
async def test_accounts_are_listed_in_total_or_by_company(store: Store) -> None:
    other = at_bank("a", "other", "conta-2")
    await add_company(store.database, company("other"), event())
    await store.accounts.add(other, event())

    everyone = await store.accounts.list()
    ours = await store.accounts.list(COMPANY)
    theirs = await store.accounts.list("other")

    assert {each.id for each in everyone} == {ACCOUNT, SISTER, "a"}
    assert [each.id for each in ours] == [ACCOUNT, SISTER]
    assert theirs == [other]


async def test_an_account_is_found_by_its_id_at_the_bank(store: Store) -> None:
    moved = replace(account("b"), provider_account="conta-2")
    elsewhere = replace(account("c"), provider="other")
    for each in (moved, elsewhere):
        await store.accounts.add(each, event())

    assert await store.accounts.find_at("sandbox", "conta-2") == moved
    assert await store.accounts.find_at("other", "conta-1") == elsewhere
    assert await store.accounts.find_at("other", "conta-2") is None
    assert await store.accounts.find_at("sandbox", "CONTA-2") is None


@both
async def test_the_accounts_of_a_provider_are_read_in_batches(store: Store) -> None:
    """The store has two accounts before the test."""
    for name in ("b", "a"):
        await store.accounts.add(replace(account(name), provider_account=f"conta-{name}"), event())
    await store.accounts.add(replace(account("c"), provider="other"), event())

    every = [each.id for each in await store.accounts.some_at("sandbox", 0, 10)]

    assert every == sorted({ACCOUNT, SISTER, "a", "b"})
    assert [each.id for each in await store.accounts.some_at("sandbox", 1, 2)] == every[1:3]
    assert await store.accounts.some_at("sandbox", 4, 2) == []
    assert [each.id for each in await store.accounts.some_at("other", 0, 2)] == ["c"]


@both
async def test_the_oldest_of_several_accounts_with_one_bank_name_is_found(store: Store) -> None:
    older = replace(account("z"), created_at=NOW - timedelta(seconds=1))
    await store.accounts.add(older, event())

    assert await store.accounts.find_at("sandbox", "conta-1") == older


@both
async def test_the_earliest_certificate_expiry_is_found_by_provider(store: Store) -> None:
    """Only active accounts count: the others make no calls."""
    day, ends = timedelta(days=1), NOW + timedelta(days=30)
    rows = (
        ("efi", ends + day, True),
        ("efi", ends, True),
        ("efi", NOW, False),
        ("inter", ends + 2 * day, True),
        ("woovi", None, True),
    )
    for number, (provider, end, active) in enumerate(rows):
        made = replace(
            account(str(UUID(int=number))),
            provider=provider,
            provider_account=str(number),
            certificate_ends_at=end,
            active=active,
        )
        await store.accounts.add(made, event())
        assert await store.accounts.find(made.id) == made

    assert await store.accounts.certificates_end() == {"efi": ends, "inter": ends + 2 * day}


@both
async def test_replacing_an_account_compares_its_certificate_expiry(store: Store) -> None:
    before = account()
    after = replace(before, certificate_ends_at=NOW)

    assert await store.accounts.replace(after, event(), before)
    assert not await store.accounts.replace(before, event(), before)
    assert await store.accounts.replace(before, event(), after)


@both
async def test_several_accounts_are_found_by_id_in_one_read(store: Store) -> None:
    """Existing ones, each once, by exact id."""
    ids = [ACCOUNT, "absent", SISTER, ACCOUNT.upper(), ACCOUNT]

    found = await store.accounts.find_all(ids)

    assert found == {ACCOUNT: account(), SISTER: account(SISTER)}
    assert await store.accounts.find_all(["absent"]) == {}


def service(store: Store) -> Accounts:
    nothing: Any = None
    return Accounts(
        store=store.accounts,
        new_id=nothing,
        seal=nothing,
        read_secrets=nothing,
        providers={},
        listed_banks=nothing,
    )


def within(scope: CompanyScope) -> Staff:
    return Staff(AuditContext("cli", now), scope)


@both
async def test_an_account_is_listed_with_its_company_within_the_scope(store: Store) -> None:
    await add_company(store.database, company(OTHER), event())
    paging = Paging(1, 25)

    ours = await service(store).page(within(OURS), AccountSearch(paging, COMPANY))
    none = await service(store).page(within(OURS), AccountSearch(paging, OTHER))
    theirs = await service(store).page(within(THEIRS), AccountSearch(paging))

    found, *rest = ours.items
    assert (found.account, found.company_name) == (account(), company().name)
    assert ours.total == 1 + len(rest)
    assert [(each.items, each.total) for each in (none, theirs)] == [([], 0), ([], 0)]


@both
async def test_ids_are_resolved_to_names_within_the_scope(store: Store) -> None:
    await add_company(store.database, company(OTHER), event())
    await store.credentials.add(credential(), event())
    ids = NamesRequest([ACCOUNT, COMPANY, CLIENT, OTHER, "no such"])

    every, ours, theirs = [
        {(each.kind.value, each.id) for each in await service(store).names(within(scope), ids)}
        for scope in (EVERY_COMPANY, OURS, THEIRS)
    ]

    own = {("account", ACCOUNT), ("company", COMPANY), ("credential", CLIENT)}
    assert (every, ours, theirs) == (own | {("company", OTHER)}, own, {("company", OTHER)})
