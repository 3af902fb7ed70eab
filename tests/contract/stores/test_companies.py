"""Companies: what is stored comes back, and each change leaves its event."""

from dataclasses import replace
from datetime import timedelta

import pytest

from bench.queries import counting
from gateway.app.store import Store
from gateway.companies.service import Companies, add_company, find_company
from gateway.core.access import Staff
from gateway.core.audit_context import AuditContext
from gateway.core.company_scope import EVERY_COMPANY, CompanyScope
from gateway.core.storage import AlreadyExists, StoreUnavailable
from gateway.core.windows import Paging
from tests.contract.stores.databases import both
from tests.contract.stores.lists import OTHER, OURS, THEIRS
from tests.world.stores.samples import COMPANY, NOW, company, event, now

EVERY = Paging(1, 25)


def companies(store: Store) -> Companies:
    return Companies(database=store.database, new_id=lambda: OTHER)


def within(scope: CompanyScope = EVERY_COMPANY) -> Staff:
    return Staff(AuditContext("cli", now), scope)


@both
async def test_a_stored_company_is_read_back_unchanged(store: Store) -> None:
    """Times keep their microseconds and their zone."""
    assert await find_company(store.database, COMPANY) == company()
    assert await find_company(store.database, "nobody") is None


async def test_an_existing_id_changes_nothing_and_adds_no_event(store: Store) -> None:
    before = await store.audit.verify()

    with pytest.raises(AlreadyExists):
        await add_company(store.database, company(created_at=NOW + timedelta(days=1)), event())

    assert await find_company(store.database, COMPANY) == company()
    assert await store.audit.verify() == before


async def test_a_company_is_not_stored_without_its_event(store: Store) -> None:
    """Both are one transaction."""
    with pytest.raises(StoreUnavailable):
        await add_company(store.database, company("new"), replace(event(), actor="\ud800"))

    assert await find_company(store.database, "new") is None


@both
async def test_companies_are_listed_oldest_first(store: Store) -> None:
    """Rows of the same age are sorted by id, so that pages do not overlap."""
    newer = company("0", created_at=NOW + timedelta(microseconds=1))
    for each in (newer, company(OTHER)):
        await add_company(store.database, each, event())

    first = await companies(store).page(within(), Paging(1, 2))
    second = await companies(store).page(within(), Paging(2, 2))
    beyond = await companies(store).page(within(), Paging(3, 2))

    assert [*first.items, *second.items] == [company(), company(OTHER), newer]
    assert (first.total, second.total, beyond.total, beyond.items) == (3, 3, 3, [])
    assert await companies(store).every(within()) == [company(), company(OTHER), newer]


async def test_the_first_page_and_its_total_are_one_statement(store: Store) -> None:
    """Most lists are read only on the first page; an empty page needs no count."""
    with counting(store.database) as sent:
        first = await companies(store).page(within(), Paging(1, 1))
        none = await companies(store).page(within(THEIRS), Paging(1, 1))

    assert (len(first.items), first.total, none.items, none.total) == (1, 1, [], 0)
    assert sent.of_pages.total() == 2


@both
async def test_companies_are_listed_within_the_scope(store: Store) -> None:
    await add_company(store.database, company(OTHER), event())

    for scope, found in (
        (OURS, [company()]),
        (THEIRS, [company(OTHER)]),
        (CompanyScope(frozenset()), []),
    ):
        listed = await companies(store).page(within(scope), EVERY)
        assert (listed.items, listed.total) == (found, len(found))
