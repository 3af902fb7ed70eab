"""Lists as files: every row of a search, once, in the order of the list."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, field
from typing import Any

import pytest

from gateway.domain.backoffice.payout_search import (
    FoundPayout,
    PayoutFilter,
    PayoutPage,
    PayoutPlace,
    PayoutQuery,
)
from gateway.domain.kernel.company_scope import EVERY_COMPANY, CompanyScope
from gateway.operations.backoffice.downloads.exports import Exports
from gateway.operations.backoffice.downloads.files import ROWS_A_PAGE, DownloadFile, Turns
from gateway.operations.backoffice.payout_finder import PayoutFinder
from tests.world.stores.samples import ACCOUNT, NOW, payout

SCOPE = CompanyScope(frozenset({"mine"}))


@dataclass
class Lists:
    """So many payouts, one a second, the newest first; notes what was asked."""

    count: int
    asked: list[tuple[Any, CompanyScope]] = field(default_factory=list)

    async def page(self, query: PayoutQuery, scope: CompanyScope) -> PayoutPage:
        self.asked.append((query, scope))
        first = 0 if query.after is None else int.from_bytes(query.after.reference_sha256) + 1
        last = min(first + query.limit, self.count)
        found = [FoundPayout(payout(f"o-{n}"), "Padaria") for n in range(first, last)]
        place = PayoutPlace(NOW, ACCOUNT, max(last - 1, 0).to_bytes(32))
        return PayoutPage(payouts=found, after=place if last < self.count else None)


def exports(lists: Any) -> Exports:
    nothing: Any = None
    finder = PayoutFinder(directory=lists, records=nothing, now=lambda: NOW, digests=nothing)
    return Exports(finder, Turns())


async def read(file: DownloadFile, column: str) -> list[str]:
    rest = [] if file.rest is None else [piece async for piece in file.rest]
    text = b"".join([file.first, *rest]).decode("utf-8-sig")
    return [line[column] for line in csv.DictReader(io.StringIO(text, newline=""), delimiter=";")]


QUERY = PayoutQuery(wanted=PayoutFilter(), limit=1, days=7)


@pytest.mark.parametrize("count", [0, 1, ROWS_A_PAGE, ROWS_A_PAGE + 1, 3 * ROWS_A_PAGE])
async def test_every_row_is_there_once_in_its_order(count: int):
    wanted = [f"o-{number}" for number in range(count)]
    made = exports(Lists(count))

    payouts = await made.payouts("maria", EVERY_COMPANY, QUERY)
    assert await read(payouts, "Referência") == wanted


async def test_each_page_is_asked_for_within_the_scope_and_the_filter():
    lists = Lists(2 * ROWS_A_PAGE + 1)
    made = exports(lists)

    await read(await made.payouts("maria", SCOPE, QUERY), "Referência")

    assert {scope for _, scope in lists.asked} == {SCOPE}
    queries = [query for query, _ in lists.asked if isinstance(query, PayoutQuery)]
    starts = {query.wanted.start for query in queries}
    assert len(queries) == 3
    assert len(starts) == 1
    assert None not in starts, "all pages begin on the same day, whatever the clock says meanwhile"
