"""Lists of payouts by how they stand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest

from gateway.domain import identity_errors
from gateway.domain.payout_status import PayoutSearch, PayoutStatus
from gateway.domain.payouts import Payout, PayoutState
from gateway.domain.windows import Paging, Search, Window
from gateway.operations.payout_lists import PayoutLists
from tests.contract.stores.samples import payout
from tests.unit.people import caller
from tests.unit.refusals import refused
from tests.unit.standing import NOON

DAY = Window(NOON.date(), NOON.date())
MANY = 1201


@dataclass
class Shelf:
    """Payouts in their order; counts how often it is asked."""

    payouts: Sequence[Payout]
    asked: int = 0

    async def search(self, _account_id: str, search: Search) -> tuple[Sequence[Payout], int]:
        self.asked += 1
        paging = search.paging
        page = self.payouts[paging.offset : paging.offset + paging.limit]
        return page, len(self.payouts)


def standing(number: int, state: PayoutState) -> Payout:
    return replace(payout(), reference=f"p-{number}", state=state)


STATES = [PayoutState.PAID, PayoutState.UNKNOWN, PayoutState.REJECTED]
SHELF = [standing(number, STATES[number % 3]) for number in range(MANY)]


def lists(shelf: Shelf, most: int = 20_000) -> PayoutLists:
    return PayoutLists(shelf, most)  # type: ignore[arg-type]


def wanted(status: PayoutStatus | None, page: int = 1, limit: int = 25) -> PayoutSearch:
    return PayoutSearch(Search(DAY, Paging(page, limit)), status)


async def test_every_status_is_one_page_of_the_store():
    shelf = Shelf(SHELF)

    found = await lists(shelf).search(caller(), wanted(None))

    assert (list(found.payouts), found.total, shelf.asked) == (SHELF[:25], MANY, 1)


@pytest.mark.parametrize(
    ("status", "first"),
    [(PayoutStatus.PAID, 0), (PayoutStatus.PROCESSING, 1), (PayoutStatus.FAILED, 2)],
)
async def test_one_status_is_looked_for_in_the_whole_window(status: PayoutStatus, first: int):
    """In the store's order, with the true total, on whatever page."""
    chosen = SHELF[first::3]

    pages = [await lists(Shelf(SHELF)).search(caller(), wanted(status, n, 100)) for n in (1, 5)]

    assert [list(page.payouts) for page in pages] == [chosen[:100], chosen[400:500]]
    assert [page.total for page in pages] == [len(chosen)] * 2


async def test_what_moved_to_the_next_page_meanwhile_is_shown_once():
    """A payout created between two pages shifts all others by one."""

    class Growing(Shelf):
        async def search(self, account_id: str, search: Search) -> tuple[Sequence[Payout], int]:
            answer = await super().search(account_id, search)
            self.payouts = [standing(MANY + self.asked, PayoutState.PAID), *self.payouts]
            return answer

    found = await lists(Growing(SHELF)).search(caller(), wanted(PayoutStatus.PAID, 1, 1000))

    references = [each.reference for each in found.payouts]
    assert len(references) == len(set(references)) == len(SHELF[::3])


async def test_too_many_are_not_looked_through():
    with refused(identity_errors.NOT_POSSIBLE) as refusal:
        await lists(Shelf(SHELF), most=MANY - 1).search(caller(), wanted(PayoutStatus.PAID))
    assert "fewer days" in refusal.value.detail
