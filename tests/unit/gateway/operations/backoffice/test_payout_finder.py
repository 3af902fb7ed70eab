"""Finding payouts within the companies that a person sees."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from gateway.domain.backoffice.payout_search import OpenWork, PayoutFilter, PayoutQuery
from gateway.domain.kernel.company_scope import EVERY_COMPANY, CompanyScope
from gateway.domain.payouts.payouts import Payout, PayoutState
from tests.unit.gateway.operations.backoffice.payout_finder import DIGESTS, finder_of
from tests.unit.standing_payouts import company_and_accounts, stand
from tests.world.registers import NOON, Registers
from tests.world.stores.samples import NOW, attempt, payout

DAY = PayoutFilter(start=NOW - timedelta(days=1), end=NOW)


E2E = "E0000000020261120134011abcdefghi"


@pytest.fixture
async def known(office: Registers) -> Payout:
    """A payout of which everything is known."""
    await company_and_accounts(office.store)
    row = replace(
        payout("pedido-1042"),
        e2e_id=E2E,
        provider_id="trf_1",
        payee_digest=DIGESTS.digest("52998224725"),
    )
    await office.store.payouts.add(row, replace(attempt(), trace_id="trace-of-it"))
    await office.store.payouts.add(payout("another"), attempt())
    return row


@pytest.mark.parametrize(
    "text",
    [
        *("pedido-1042", "pedido-", "trf_1", "trace-of-it", E2E),
        *("52998224725", "529.982.247-25", "the key"),
    ],
)
async def test_whatever_names_a_payout_finds_it_within_the_scope_alone(
    office: Registers, known: Payout, text: str
):
    finder = finder_of(office)
    asked = known.provider_key if text == "the key" else text

    found = await finder.find(EVERY_COMPANY, asked)
    hidden = await finder.find(CompanyScope(frozenset()), asked)

    assert [each.payout.reference for each in found.payouts] == ["pedido-1042"]
    assert list(hidden.payouts) == []


async def test_an_account_is_found_by_its_id(office: Registers, known: Payout):
    finder = finder_of(office)

    found = await finder.find(EVERY_COMPANY, known.account_id.upper())
    hidden = await finder.find(CompanyScope(frozenset()), known.account_id)

    assert found.account is not None
    assert (found.account.id, hidden.account) == (known.account_id, None)


@pytest.mark.parametrize("text", ["no-such", "cli_no_such", "00000000000", "%", "_", "\U0010ffff"])
async def test_what_names_nothing_finds_nothing(office: Registers, known: Payout, text: str):
    found = await finder_of(office).find(EVERY_COMPANY, text)

    assert (list(found.payouts), found.account, found.credential) == ([], None, None)


async def test_what_waits_is_counted_within_the_scope(office: Registers):
    await company_and_accounts(office.store)
    await stand(office.store, payout(), PayoutState.UNKNOWN)

    everything = await finder_of(office).open_work(EVERY_COMPANY, None)
    nothing = await finder_of(office).open_work(CompanyScope(frozenset()), None)

    assert everything == OpenWork(unresolved=1, review=0, approvals=0, stops=0)
    assert nothing.unresolved == 0


async def test_a_search_shows_and_counts_what_is_in_scope(office: Registers):
    await company_and_accounts(office.store)
    await office.store.payouts.add(payout(), attempt())
    finder, asked = finder_of(office), PayoutQuery(wanted=PayoutFilter(), limit=25)

    everything = await finder.search(EVERY_COMPANY, asked)
    nothing = await finder.search(CompanyScope(frozenset()), asked)

    assert (len(everything.payouts), len(everything.counts.by_state)) == (1, 1)
    assert (list(nothing.payouts), list(nothing.counts.by_state)) == ([], [])


async def test_an_empty_store_has_an_empty_page(office: Registers):
    finder = finder_of(office)

    for scope in (EVERY_COMPANY, CompanyScope(frozenset())):
        found = await finder.search(scope, PayoutQuery(wanted=DAY, limit=25))
        assert (list(found.payouts), list(found.counts.by_state), found.after) == ([], [], None)


@pytest.mark.parametrize(
    ("hours_ago", "days", "found"), [(1, 1, 1), (10, 1, 0), (10, 2, 1), (24 * 8, 7, 0)]
)
async def test_the_last_days_are_local_ones(
    office: Registers, hours_ago: int, days: int, found: int
):
    """It is nine in the morning in Brasilia: ten hours ago was yesterday."""
    await company_and_accounts(office.store)
    row = payout(created_at=NOON - timedelta(hours=hours_ago))
    await office.store.payouts.add(row, attempt())
    finder = finder_of(office)

    page = await finder.search(
        EVERY_COMPANY, PayoutQuery(wanted=PayoutFilter(), limit=25, days=days)
    )

    assert len(page.payouts) == found
