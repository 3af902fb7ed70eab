"""Lists of payouts by how they stand, from a store with one payout in every state."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import fields, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from gateway.app.store import Store, prepare
from gateway.companies.service import add_company
from gateway.core.access import Staff
from gateway.core.account import Environment
from gateway.core.audit_context import AuditContext
from gateway.core.windows import Listed, Paging, Search, Window
from gateway.payouts.documents import AccountPayout
from gateway.payouts.model import PayoutSearch, PayoutState, PayoutStatus, status_of
from gateway.payouts.staff import PayoutRecords
from tests.world.people import caller
from tests.world.store import migrated, open_store
from tests.world.stores import samples

MOMENT = timedelta(seconds=1)
DAY = Window(samples.NOW.date(), samples.NOW.date())


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    """Return a store with a payout in every state, each a second younger than the one before."""
    opened = open_store(migrated(tmp_path / "store.db"))
    await prepare(opened, Environment.SANDBOX, migrate=True, now=samples.now)
    await add_company(opened.database, samples.company(), samples.event())
    await opened.accounts.add(replace(samples.account(), id=caller().account.id), samples.event())
    for place, state in enumerate(PayoutState):
        made = samples.payout(
            state.value, account_id=caller().account.id, created_at=samples.NOW + place * MOMENT
        )
        await opened.payouts.add(replace(made, state=state), samples.attempt())
    yield opened
    await opened.close()


async def listed(store: Store, asked: PayoutSearch) -> Listed[AccountPayout]:
    nothing: Any = None
    records = PayoutRecords(
        payouts=store.payouts,
        **dict.fromkeys(
            (each.name for each in fields(PayoutRecords) if each.name != "payouts"), nothing
        ),
    )
    return await records.page(Staff(AuditContext("cli:test", samples.now)), caller().account, asked)


def wanted(status: PayoutStatus | None, page: int = 1, limit: int = 25) -> PayoutSearch:
    return PayoutSearch(Search(DAY, Paging(page, limit)), status)


@pytest.mark.parametrize("status", PayoutStatus)
async def test_a_status_lists_every_state_that_is_shown_as_it(store: Store, status: PayoutStatus):
    """What a caller reads of each payout found is what was asked for, and none is left out."""
    expected = [state.value for state in PayoutState if status_of(state) is status]

    found = await listed(store, wanted(status))

    assert [each.payout.reference for each in found.items] == expected[::-1]
    assert found.total == len(expected)


async def test_without_a_status_every_payout_is_listed(store: Store):
    found = await listed(store, wanted(None))

    assert found.total == len(found.items) == len(PayoutState)


async def test_pages_of_a_status_part_its_list(store: Store):
    """Each with the total of the status, and the paging that was used."""
    whole = await listed(store, wanted(PayoutStatus.PROCESSING))

    pages = [await listed(store, wanted(PayoutStatus.PROCESSING, page, 3)) for page in (1, 2, 3)]

    assert [each for page in pages for each in page.items] == whole.items
    assert [len(page.items) for page in pages] == [3, 1, 0]
    assert {(page.total, page.paging.limit) for page in pages} == {(4, 3)}
