"""Finding payouts within the companies that a person sees."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, field, replace

import pytest

from gateway.core.access import Staff
from gateway.core.company_scope import CompanyScope
from gateway.payouts.documents import FoundPayout, OpenWork
from gateway.payouts.model import PayoutState
from gateway.payouts.search import PayoutFilterBody, PayoutPlace, PayoutQuery, PayoutsBody
from gateway.reports.files import ROWS_A_PAGE
from tests.unit.standing_payouts import company_and_accounts, stand
from tests.world.registers import NOON, Registers
from tests.world.stores.samples import ACCOUNT, attempt, payout


def everywhere(office: Registers) -> Staff:
    return Staff(office.acting)


def nowhere(office: Registers) -> Staff:
    return Staff(office.acting, CompanyScope(frozenset()))


async def test_waiting_work_is_counted_within_the_scope(office: Registers):
    await company_and_accounts(office.store)
    await stand(office.store, payout(), PayoutState.UNKNOWN)

    everything = await office.payouts.open_work(everywhere(office))
    nothing = await office.payouts.open_work(nowhere(office))

    assert everything == OpenWork(unresolved=1, review=0, approvals=0, stops=0)
    assert nothing.unresolved == 0


async def test_a_search_shows_and_counts_payouts_in_scope(office: Registers):
    await company_and_accounts(office.store)
    await office.store.payouts.add(payout(), attempt())
    everything = await office.payouts.search(everywhere(office), PayoutsBody(days=90))
    nothing = await office.payouts.search(nowhere(office), PayoutsBody(days=90))

    assert (len(everything.payouts), len(everything.counts.by_state)) == (1, 1)
    assert (list(nothing.payouts), list(nothing.counts.by_state)) == ([], [])


@pytest.mark.parametrize("count", [0, 1, ROWS_A_PAGE, ROWS_A_PAGE + 1, 3 * ROWS_A_PAGE])
async def test_an_export_has_every_payout_of_the_search_once(office: Registers, count: int):
    """Within the scope and the days of the first page, in the order of the list."""
    pages = Pages(count)
    who = Staff(office.acting, CompanyScope(frozenset({"mine"})))

    file = await replace(office.payouts, directory=pages).export(who, PayoutFilterBody())  # type: ignore[arg-type]

    rest = [] if file.rest is None else [piece async for piece in file.rest]
    text = b"".join([file.first, *rest]).decode("utf-8-sig")
    lines = csv.DictReader(io.StringIO(text, newline=""), delimiter=";")
    assert [line["Referência"] for line in lines] == [f"o-{number}" for number in range(count)]
    assert {scope for _, scope in pages.asked} == {who.scope}
    assert len({query.start for query, _ in pages.asked}) == 1


@dataclass
class Pages:
    """So many payouts; notes what was asked."""

    count: int
    asked: list[tuple[PayoutQuery, CompanyScope]] = field(default_factory=list)

    async def page(
        self, query: PayoutQuery, scope: CompanyScope
    ) -> tuple[list[FoundPayout], PayoutPlace | None]:
        self.asked.append((query, scope))
        first = 0 if query.after is None else int.from_bytes(query.after.reference_sha256) + 1
        last = min(first + query.limit, self.count)
        found = [FoundPayout(payout(f"o-{n}"), "Padaria") for n in range(first, last)]
        place = PayoutPlace(NOON, ACCOUNT, max(last - 1, 0).to_bytes(32))
        return found, place if last < self.count else None
