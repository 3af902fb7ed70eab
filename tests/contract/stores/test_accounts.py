"""Accounts: what is stored comes back, sealed bytes included, and each change leaves its event."""

from dataclasses import replace
from datetime import timedelta

import pytest

from gateway.domain.stores import AlreadyExists, StoreUnavailable
from gateway.store.engine import Store
from tests.contract.stores.samples import ACCOUNT, COMPANY, NOW, SISTER, account, company, event


async def test_an_account_comes_back_as_it_was(store: Store) -> None:
    found = await store.accounts.find(ACCOUNT)

    assert found == account()


async def test_an_account_is_found_by_its_exact_id(store: Store) -> None:
    found = await store.accounts.find(ACCOUNT.upper())

    assert found is None


async def test_a_replaced_account_is_the_new_one(store: Store) -> None:
    closed = replace(account(), active=False, provider="", sealed_credentials=b"")

    done = await store.accounts.replace(closed, event())

    assert done
    assert await store.accounts.find(ACCOUNT) == closed
    assert await store.accounts.find(SISTER) == account(SISTER)


@pytest.mark.parametrize(
    "meanwhile", [{"name": "other"}, {"active": False}, {"sealed_credentials": b"other"}]
)
async def test_an_account_is_replaced_as_it_was_seen_alone(
    store: Store, meanwhile: dict[str, object]
) -> None:
    """Of two who read the same, one writes; nothing of the other's is undone."""
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


async def test_a_taken_id_is_refused(store: Store) -> None:
    with pytest.raises(AlreadyExists):
        await store.accounts.add(replace(account(), name="other"), event())

    assert await store.accounts.find(ACCOUNT) == account()


async def test_an_account_of_no_company_is_refused_whole(store: Store) -> None:
    """The database itself keeps references; nothing of the transaction stays."""
    before = await store.audit.verify()

    with pytest.raises(StoreUnavailable):
        await store.accounts.add(account("a", company_id="nobody"), event())

    assert await store.accounts.find("a") is None
    assert await store.audit.verify() == before


async def test_accounts_are_listed_whole_or_by_company(store: Store) -> None:
    other = account("a", company_id="other")
    await store.companies.add(company("other"), event())
    await store.accounts.add(other, event())

    everyone = await store.accounts.list()
    ours = await store.accounts.list(COMPANY)
    theirs = await store.accounts.list("other")

    assert {each.id for each in everyone} == {ACCOUNT, SISTER, "a"}
    assert [each.id for each in ours] == [ACCOUNT, SISTER]
    assert theirs == [other]


async def test_an_account_is_found_by_what_its_bank_calls_it(store: Store) -> None:
    moved = replace(account("b"), provider_account="conta-2")
    elsewhere = replace(account("c"), provider="other")
    for each in (moved, elsewhere):
        await store.accounts.add(each, event())

    assert await store.accounts.find_at("sandbox", "conta-2") == moved
    assert await store.accounts.find_at("other", "conta-1") == elsewhere
    assert await store.accounts.find_at("other", "conta-2") is None
    assert await store.accounts.find_at("sandbox", "CONTA-2") is None


async def test_of_several_a_bank_calls_by_one_name_the_oldest_is_it(store: Store) -> None:
    older = replace(account("z"), created_at=NOW - timedelta(seconds=1))
    await store.accounts.add(older, event())

    assert await store.accounts.find_at("sandbox", "conta-1") == older
