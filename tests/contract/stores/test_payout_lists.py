"""Lists of payouts by each filter hold what a plain reading of all payouts finds, in its order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from random import Random
from typing import Any

import pytest

from gateway.app.store import Store
from gateway.banks.port.payout_orders import (
    AccountType,
    BankDestination,
    PayoutMethod,
    PixDestination,
)
from gateway.banks.port.providers import PixReturn
from gateway.core.company_scope import EVERY_COMPANY
from gateway.core.money import Money, Sum, sum_of
from gateway.core.terms import folded, search_term
from gateway.payouts.model import Payout, PayoutState
from gateway.payouts.search import PayoutDirectory, PayoutFilterBody, PayoutOrder, PayoutQuery
from gateway.store.tables.columns import reference_digest
from tests.contract.stores.databases import both
from tests.world.stores.samples import ACCOUNT, CLIENT, NOW, SISTER, attempt, payout

OTHER = "cli_other"
UNDER_WAY = [PayoutState.SENDING, PayoutState.ACCEPTED]
FILTERS: list[dict[str, Any]] = [
    {},
    *({"client_id": each} for each in (CLIENT, OTHER, "cli_nobody")),
    *({"method": each} for each in PayoutMethod),
    *({"text": each} for each in ("joao", "silva maria", "PED-1", "ped-37", "nobody", "10,01")),
    {"client_id": OTHER, "text": "joão"},
    {"client_id": "cli_nobody", "text": "joão"},
    {"method": PayoutMethod.PIX, "text": "ped", "account_id": SISTER},
    {"least": Money(1001), "most": Money(1002)},
    {"least": Money(1003)},
    {"most": Money(100)},
    {"least": Money(9_999)},
    {"least": Money(1002), "text": "maria"},
    {"states": UNDER_WAY, "unresolved": False},
    {"states": UNDER_WAY, "client_id": OTHER, "review": False},
]


def some() -> Iterator[tuple[Payout, int]]:
    """Make sixty payouts, several of one instant, each with what came back of it in centavos."""
    chance = Random(7)
    to = payout().destination
    assert isinstance(to, PixDestination)
    for number in range(60):
        account_id, at = chance.choice((ACCOUNT, SISTER)), NOW - timedelta(hours=number // 3)
        name = chance.choice(("Maria da Silva", "JOÃO Conceição", "Mercado Central"))
        made = payout(f"ped-{number}", account_id=account_id, created_at=at)
        state = chance.choice([PayoutState.PAID, *PayoutState])
        back = chance.choice((0, 0, 100)) if state is PayoutState.PAID else 0
        made = replace(
            made,
            value=Money(chance.randint(1000, 1005)),
            destination=chance.choice(
                [
                    replace(to, name=name),
                    BankDestination(
                        name=name,
                        tax_number=to.tax_number,
                        bank_number="001",
                        branch="1",
                        account="2",
                        account_type=AccountType.CHECKING,
                    ),
                ]
            ),
            client_id=chance.choice((CLIENT, OTHER)),
            state=state,
        )
        is_pix = isinstance(made.destination, PixDestination)
        yield replace(made, method=list(PayoutMethod)[not is_pix]), back


def fits(about: Payout, back: int, wanted: PayoutFilterBody, query: PayoutQuery) -> bool:
    text = search_term(wanted.text or "")
    amounts = (about.value.centavos, back) if back else (about.value.centavos,)
    least = text.centavos or (wanted.least.centavos if wanted.least else 0)
    most = text.centavos or (wanted.most.centavos if wanted.most else 10**9)
    said = (folded(about.reference), folded(about.destination.name))
    return all(
        (
            query.start is None or about.created_at >= query.start,
            query.end is None or about.created_at < query.end,
            wanted.client_id in {None, about.client_id},
            wanted.account_id in {None, about.account_id},
            wanted.method in {None, about.method},
            any(least <= each <= most for each in amounts),
            text.centavos is not None
            or any(all(word in each for word in text.words) for each in said),
        )
    )


def stands(about: Payout, wanted: PayoutFilterBody) -> bool:
    """Read what a filter says of the state; it does not concern the counts."""
    proven = wanted.unresolved is None or about.state is not PayoutState.UNKNOWN
    return proven and (not wanted.states or about.state in wanted.states)


@both
@pytest.mark.parametrize("order", PayoutOrder)
async def test_rows_order_and_sums_match_a_plain_query(store: Store, order: PayoutOrder) -> None:
    kept = list(some())
    for about, back in kept:
        await store.payouts.add(about, attempt(started_at=about.created_at))
        if back:
            part = PixReturn(id=f"D{about.reference:0>31}", value=Money(back), at=NOW)
            await store.payouts.note_returns(about, [part])
    directory = PayoutDirectory(store.database)
    for filters in FILTERS:
        wanted = PayoutFilterBody(**filters, order=order)
        for start, end in ((None, None), (NOW - timedelta(hours=12), NOW - timedelta(hours=2))):
            query = PayoutQuery(wanted=wanted, start=start, end=end, limit=100)
            ordered = [each for each in kept if fits(*each, wanted, query)]
            expected = sorted(
                (each for each, _ in ordered if stands(each, wanted)),
                key=lambda one: (one.created_at, one.account_id, reference_digest(one.reference)),
                reverse=order is PayoutOrder.NEWEST,
            )

            page, _ = await directory.page(query, EVERY_COMPANY)
            first, after = await directory.page(replace(query, limit=3), EVERY_COMPANY)
            rest, _ = await directory.page(replace(query, after=after), EVERY_COMPANY)
            counts = await directory.counts(query, EVERY_COMPANY)

            found = [each.payout.reference for each in page]
            assert found == [each.reference for each in expected], (filters, start)
            if after is not None:
                assert [each.payout.reference for each in (*first, *rest)] == found, filters
            assert sum(each.count for each in counts.by_state) == len(ordered), filters
            total = Sum(sum(each.value.centavos for each, _ in ordered))
            assert sum_of(each.value for each in counts.by_state) == total, filters
