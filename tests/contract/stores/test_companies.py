"""Companies: what is stored comes back, and each change leaves its event."""

from datetime import timedelta

import pytest

from gateway.domain.kernel.storage import AlreadyExists
from gateway.store.engine import Store
from tests.contract.stores.databases import both
from tests.world.stores.samples import COMPANY, NOW, company, event


@both
async def test_a_company_comes_back_as_it_was(store: Store) -> None:
    """Times keep their microseconds and their zone."""
    found = await store.companies.find(COMPANY)

    assert found == company()


async def test_an_absent_company_is_none(store: Store) -> None:
    found = await store.companies.find("nobody")

    assert found is None


async def test_a_taken_id_changes_nothing_and_leaves_no_event(store: Store) -> None:
    before = await store.audit.verify()

    with pytest.raises(AlreadyExists):
        await store.companies.add(company(created_at=NOW + timedelta(days=1)), event())

    assert await store.companies.find(COMPANY) == company()
    assert await store.audit.verify() == before


@both
async def test_companies_are_listed_oldest_first(store: Store) -> None:
    older = company("a", created_at=NOW - timedelta(microseconds=1))
    newer = company("0", created_at=NOW + timedelta(microseconds=1))
    await store.companies.add(newer, event())
    await store.companies.add(older, event())

    listed = await store.companies.list()

    assert listed == [older, company(), newer]
