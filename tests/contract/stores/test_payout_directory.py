"""Payouts of every account: searched, counted and cut into pages by the database."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import text, update

from gateway.app.store import Store
from gateway.banks.port.payout_orders import FailureCode, PayoutMethod, PixDestination
from gateway.banks.port.providers import PixReturn
from gateway.companies.service import add_company
from gateway.core.approvals import ApprovalState
from gateway.core.company_scope import EVERY_COMPANY, CompanyScope
from gateway.core.money import Money, Sum
from gateway.overview.model import HOUR, Span
from gateway.overview.store import OverviewRecords
from gateway.payouts import search as payout_search
from gateway.payouts.documents import FoundPayout, Hit, HitPayouts, Orderer, PayoutCounts
from gateway.payouts.model import (
    Certainty,
    CertaintySought,
    Failure,
    Payout,
    PayoutState,
    certainty_of,
)
from gateway.payouts.search import (
    Named,
    PayoutDirectory,
    PayoutFilterBody,
    PayoutOrder,
    PayoutQuery,
)
from gateway.store.tables import texts
from gateway.store.tables.core import payouts
from tests.contract.stores.databases import both
from tests.world.stores.office import APPROVAL
from tests.world.stores.people import MARIA, user
from tests.world.stores.samples import (
    ACCOUNT,
    CLIENT,
    NOW,
    SISTER,
    account,
    attempt,
    company,
    credential,
    event,
    payout,
)

ONE_DAY = timedelta(days=1)


def of_the_day(**filters: Any) -> PayoutQuery:
    """Ask for payouts of the day before and after."""
    of_query = {name: filters.pop(name) for name in ("start", "end", "limit") if name in filters}
    query = PayoutQuery(
        wanted=PayoutFilterBody(**filters), start=NOW - ONE_DAY, end=NOW + ONE_DAY, limit=25
    )
    return replace(query, **of_query)


async def searched(
    store: Store, query: PayoutQuery, scope: CompanyScope = EVERY_COMPANY
) -> tuple[Sequence[FoundPayout], PayoutCounts]:
    directory = PayoutDirectory(store.database)
    found, _ = await directory.page(query, scope)
    return found, await directory.counts(query, scope)


OTHER = "5f0c8f6e-3d57-4a6d-9f53-0d4d5a0f7aff"
FOREIGN = "0b7d7e4a-9e0e-4a3c-8f5e-3c1f0a9b2cff"
S = PayoutState


async def made(store: Store, reference: str, **fields: Any) -> Payout:
    """Store a payout whose fields are these, with its try."""
    about = replace(payout(reference), **fields)
    await store.payouts.add(about, attempt(started_at=about.created_at))
    return about


@pytest.fixture
async def several(store: Store) -> Store:
    """Seven payouts: each of another kind, one second apart."""
    await add_company(store.database, company(OTHER), event())
    theirs = replace(account(FOREIGN, company_id=OTHER), provider_account="conta-2")
    await store.accounts.add(theirs, event())
    kinds: list[dict[str, Any]] = [
        {"state": S.SENDING},
        {"state": S.UNKNOWN, "value": Money(99)},
        {"state": S.ACCEPTED, "account_id": SISTER, "provider": "other"},
        {"state": S.PAID, "client_id": "cli_other", "value": Money(5000)},
        {"state": S.FAILED, "failure": Failure(FailureCode.INSUFFICIENT_FUNDS)},
        {"state": S.FAILED, "failure": Failure(FailureCode.NOT_SENT)},
        {"state": S.PAID, "account_id": FOREIGN},
    ]
    for number, kind in enumerate(kinds):
        key = f"{number:032}"
        at = NOW + timedelta(seconds=number)
        await made(store, f"order-{number}", created_at=at, provider_key=key, **kind)
    return store


async def numbers(store: Store, query: PayoutQuery) -> list[int]:
    """Return which of the seven are found, newest first."""
    found, _ = await searched(store, query)
    return [int(each.payout.reference.removeprefix("order-")) for each in found]


@both
@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({}, [6, 5, 4, 3, 2, 1, 0]),
        ({"states": [S.SENDING, S.ACCEPTED]}, [2, 0]),
        ({"states": [S.UNKNOWN]}, [1]),
        ({"certainty": CertaintySought.SENT_UNKNOWN}, [1, 0]),
        ({"certainty": CertaintySought.NOT_SENT}, [5]),
        ({"certainty": CertaintySought.CONFIRMED_REJECTED}, [4]),
        ({"certainty": CertaintySought.SETTLED}, [6, 3]),
        ({"least": Money(1051)}, [3]),
        ({"most": Money(99)}, [1]),
        ({"least": Money(99), "most": Money(99)}, [1]),
        ({"provider": "other"}, [2]),
        ({"account_id": FOREIGN}, [6]),
        ({"client_id": "cli_other"}, [3]),
        ({"client_id": CLIENT, "account_id": SISTER}, [2]),
        ({"method": PayoutMethod.BANK_ACCOUNT}, []),
        ({"failure": FailureCode.INSUFFICIENT_FUNDS}, [4]),
        ({"review": False}, [6, 5, 4, 3, 2, 1, 0]),
        ({"review": True}, []),
        ({"unresolved": True}, [1]),
        ({"unresolved": False}, [6, 5, 4, 3, 2, 0]),
        ({"start": NOW + timedelta(seconds=6)}, [6]),
        ({"end": NOW + timedelta(seconds=1)}, [0]),
    ],
    ids=lambda each: "-".join(each) if isinstance(each, dict) else "",
)
async def test_each_filter_finds_its_payouts(
    several: Store, filters: dict[str, Any], found: list[int]
) -> None:
    assert await numbers(several, of_the_day(**filters)) == found


@both
async def test_returned_money_is_found_added_up_and_counted_apart(several: Store) -> None:
    """A returned payout stays paid; lists and counts show the return separately."""
    paid = await several.payouts.find(ACCOUNT, "order-3")
    assert paid is not None
    parts = [
        PixReturn(id=f"D{number:031}", value=Money(centavos), at=NOW)
        for number, centavos in enumerate((1200, 300))
    ]
    await several.payouts.note_returns(paid, parts)

    page, counts = await searched(several, of_the_day())
    directory = PayoutDirectory(several.database)
    named = await directory.named(Named.REFERENCE, "order-", EVERY_COMPANY)

    for found in (page, named):
        back = {each.payout.reference: each.returned for each in found if each.returned.centavos}
        assert back == {"order-3": Sum(1500)}
    assert await numbers(several, of_the_day(returned=True)) == [3]
    assert await numbers(several, of_the_day(returned=False, states=[S.PAID])) == [6]
    counted = [(each.returned, each.count) for each in counts.by_state if each.state is S.PAID]
    assert sorted(counted) == [(False, 1), (True, 1)]
    span = Span(NOW - HOUR, NOW + HOUR)
    everybody = await OverviewRecords(several.database).returned(span, EVERY_COMPANY)
    nobody = await OverviewRecords(several.database).returned(span, CompanyScope(frozenset()))
    assert (everybody, nobody) == ((1, Sum(1500)), (0, Sum(0)))


@both
@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({"text": "777,12"}, [1]),
        ({"text": "777,11"}, [2, 1]),
        ({"least": Money(77711), "most": Money(77711)}, [2, 1]),
        ({"least": Money(77711), "order": PayoutOrder.OLDEST}, [1, 2]),
        ({"text": "12,00"}, [3]),
        ({"text": "3,00"}, [3]),
        ({"text": "15,00"}, [3]),
        ({"least": Money(1400), "most": Money(1600)}, [3]),
        ({"most": Money(400)}, [3]),
        ({"text": "50,00"}, [3]),
        ({"text": "50,00", "most": Money(1500)}, []),
        ({"least": Money(300), "most": Money(5000)}, [3]),
        ({"least": Money(1000), "most": Money(4999)}, [3]),
        ({"text": "order-3", "most": Money(400)}, [3]),
        ({"text": "order-1", "most": Money(400)}, []),
        ({"text": "777,11", "states": [S.PAID]}, [1]),
    ],
)
async def test_an_amount_matches_the_order_the_move_or_a_return(
    store: Store, filters: dict[str, Any], found: list[int]
) -> None:
    """Each return, and their sum; each payout is found and counted once."""
    await made(store, "order-1", value=Money(77712), state=S.PAID, provider_key="1" * 32)
    later = NOW + timedelta(seconds=1)
    await made(store, "order-2", value=Money(77711), created_at=later, provider_key="2" * 32)
    paid = await made(store, "order-3", value=Money(5000), state=S.PAID, provider_key="3" * 32)
    parts = [
        PixReturn(id=f"D{number:031}", value=Money(centavos), at=NOW)
        for number, centavos in enumerate((1200, 300))
    ]
    await store.payouts.note_returns(paid, parts)
    async with store.database.writing() as connection:
        for reference, centavos in (("order-1", 77711), ("order-3", 4998)):
            moved = update(payouts).where(payouts.c.reference == reference)
            await connection.execute(moved.values(moved_centavos=centavos))
    query = of_the_day(**filters)

    pages = list[int]()
    after = None
    while not pages or after is not None:
        directory = PayoutDirectory(store.database)
        asked = replace(query, after=after, limit=1)
        page, after = await directory.page(asked, EVERY_COMPANY)
        pages += [int(each.payout.reference[-1]) for each in page]
        if not page:
            break
    _, counts = await searched(store, query)

    assert await numbers(store, query) == found
    assert pages == found
    if "states" not in filters:
        assert sum(each.count for each in counts.by_state) == len(found)


@both
async def test_counts_add_up_orders_moves_and_returns(several: Store) -> None:
    paid = await several.payouts.find(ACCOUNT, "order-3")
    assert paid is not None
    await several.payouts.note_returns(paid, [PixReturn(id="D" * 32, value=Money(1200), at=NOW)])
    moved = update(payouts).where(payouts.c.reference == "order-3").values(moved_centavos=4999)
    async with several.database.writing() as connection:
        await connection.execute(moved)

    _, counts = await searched(several, of_the_day(client_id="cli_other"))

    [counted] = counts.by_state
    sums = (counted.value, counted.moved, counted.returned_value)
    assert sums == (Sum(5000), Sum(4999), Sum(1200))


@both
@pytest.mark.parametrize("word", Certainty)
async def test_certainty_is_the_same_in_the_store_as_in_the_domain(
    several: Store, word: Certainty
) -> None:
    found, counts = await searched(several, of_the_day())
    alike = [each for each in found if certainty_of(each.payout) is word]

    (sought,) = [each for each in CertaintySought if each.words == {word}]
    chosen, _ = await searched(several, of_the_day(certainty=sought))

    assert list(chosen) == alike
    assert sum(each.count for each in counts.by_state if each.certainty is word) == len(alike)


async def test_a_count_above_the_maximum_is_marked_incomplete(
    several: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert payout_search.COUNTED_AT_MOST == 10_000
    monkeypatch.setattr(payout_search, "COUNTED_AT_MOST", 6)

    _, counts = await searched(several, of_the_day(limit=1))

    assert not counts.complete


PLANNED = {
    "list": "SELECT * FROM payouts ORDER BY created_at DESC LIMIT 26",
    "client": "SELECT * FROM payouts WHERE client_id = 'a' ORDER BY created_at DESC LIMIT 26",
    "method": "SELECT * FROM payouts WHERE method = 'pix' ORDER BY created_at DESC LIMIT 26",
    "unresolved": (
        "SELECT * FROM payouts WHERE payouts.exception = 'unresolved' ORDER BY created_at LIMIT 26"
    ),
    "failed": "SELECT * FROM payouts WHERE exception = 'OTHER' ORDER BY created_at LIMIT 26",
    "moved": "SELECT * FROM payouts WHERE exception = 'moved' AND moved_centavos = 5",
    "returned": "SELECT * FROM payout_returns WHERE centavos = 5",
}
INDEXES = {
    "list": "ix_payouts_created_at",
    "client": "ix_payouts_client_id_created_at",
    "method": "ix_payouts_method_created_at",
    "unresolved": "ix_payouts_exception_created_at",
    "failed": "ix_payouts_exception_created_at",
    "moved": "ix_payouts_exception_created_at",
    "returned": "ix_payout_returns_centavos",
}


@both
@pytest.mark.parametrize("name", PLANNED)
async def test_each_list_has_an_index(store: Store, name: str) -> None:
    """With empty statistics PostgreSQL chooses any index, so only one is left to it."""
    explained = "EXPLAIN QUERY PLAN "
    async with store.database.writing() as connection:
        await connection.execute(text("SAVEPOINT before"))
        if connection.dialect.name == "postgresql":
            await connection.execute(text("SET LOCAL enable_seqscan = off"))
            if name != "list":
                await connection.execute(text(f"DROP INDEX {INDEXES['list']}"))
            explained = "EXPLAIN "
        rows = await connection.execute(text(explained + PLANNED[name]))
        plan = " ".join(str(row) for row in rows)
        await connection.execute(text("ROLLBACK TO before"))

    assert INDEXES[name] in plan


@both
async def test_the_exact_reference_is_listed_before_the_newest_with_its_prefix(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of very many with one prefix only the first are compared: no list is read completely."""
    monkeypatch.setattr(payout_search, "_COMPARED_AT_MOST", 2)
    for place, reference in enumerate(("order", "order-1", "order-2", "order-3", "other")):
        await made(store, reference, created_at=NOW + timedelta(seconds=place))

    directory = PayoutDirectory(store.database)
    found = await directory.named(Named.REFERENCE, "order", EVERY_COMPANY)
    of_others = await directory.named(Named.REFERENCE, "order", CompanyScope(frozenset({OTHER})))

    assert [each.payout.reference for each in found] == ["order", "order-3", "order-2"]
    assert list(of_others) == []


@both
async def test_a_payout_names_its_orderer_and_approver(store: Store):
    """An order refused because a partner had used its reference has approved nothing."""
    await store.identity.users.add(user(), event())
    await store.identity.users.add(user("u2", "joao@example.com"), event())
    of_user = replace(payout("1"), client_id=f"user:{MARIA}")
    of_partner = payout("2")
    for number, each in enumerate((of_user, of_partner)):
        await store.payouts.add(each, attempt())
        order = replace(
            APPROVAL,
            id=f"a{number}",
            reference=each.reference,
            ordered_by=MARIA,
            state=ApprovalState.APPROVED,
            decided_by="u2",
            decided_at=NOW,
        )
        await store.approvals.add(order, event())

    directory = PayoutDirectory(store.database)
    ours, theirs = await directory.people(of_user), await directory.people(of_partner)
    listed, _ = await searched(store, of_the_day())

    maria = Orderer(MARIA, user().name, "maria@example.com")
    assert (ours.ordered_by, ours.approval_id) == (maria, "a0")
    assert ours.approved_by == Orderer("u2", user().name, "joao@example.com")
    assert theirs.ordered_by.id == CLIENT
    assert (theirs.approved_by, theirs.approval_id) == (None, "")
    assert {each.ordered_by for each in listed} == {maria, theirs.ordered_by}


async def test_a_payout_shows_the_name_of_its_credential(store: Store):
    await store.credentials.add(replace(credential(), name="Loja"), event())
    await store.payouts.add(payout(), attempt())

    people = await PayoutDirectory(store.database).people(payout())

    assert people.ordered_by == Orderer(CLIENT, "Loja", "")


@both
async def test_payouts_affected_by_a_failing_bank_are_counted_by_account(store: Store):
    """Payouts without an outcome, under way, or not sent since the bank fails, within the scope."""
    old = NOW - ONE_DAY
    kinds: list[dict[str, Any]] = [
        {"state": S.UNKNOWN},
        {"state": S.ACCEPTED},
        {"state": S.NOT_SENT},
        {"state": S.FAILED, "failure": Failure(FailureCode.NOT_SENT)},
        {"state": S.PAID},
        {"state": S.SENDING, "account_id": SISTER},
    ]
    for number, fields in enumerate(kinds):
        await made(store, str(number), **fields)
    directory, value = PayoutDirectory(store.database), payout("1").value.centavos

    found = await directory.hit("sandbox", old, EVERY_COMPANY)
    later = await directory.hit("sandbox", NOW + ONE_DAY, EVERY_COMPANY)

    assert sorted(found, key=lambda each: (each.account_id, each.hit)) == [
        HitPayouts(ACCOUNT, Hit.NOT_SENT, 2, Sum(2 * value)),
        HitPayouts(ACCOUNT, Hit.UNKNOWN, 1, Sum(value)),
        HitPayouts(ACCOUNT, Hit.WAITING, 1, Sum(value)),
        HitPayouts(SISTER, Hit.WAITING, 1, Sum(value)),
    ]
    assert {each.hit for each in later} == {Hit.UNKNOWN, Hit.WAITING}
    assert await directory.hit("other", old, EVERY_COMPANY) == []
    assert await directory.hit("sandbox", old, CompanyScope(frozenset())) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        *(
            ("joao conceicao", {"ped-01"}),
            ("CONCEIÇÃO", {"ped-01"}),
            ("conceicao  dr", {"ped-01"}),
            ("conceicao ped", set()),
            ("PED-0", {"ped-01", "PED-02"}),
        ),
        *(
            ("R$ 1.234,56", {"PED-02"}),
            ("1234.56", {"PED-02"}),
            ("%", set()),
            ("11144477735", set()),
        ),
    ],
)
async def test_search_text_matches_part_of_name_or_reference_or_amount(
    store: Store, text: str, found: set[str]
):
    other = payout().destination
    assert isinstance(other, PixDestination)
    await made(store, "ped-01", destination=replace(other, name="Dr. JOÃO Conceição"))
    await made(store, "PED-02", value=Money(123_456))
    hidden = CompanyScope(frozenset())

    rows, counts = await searched(store, of_the_day(text=text))
    others, _ = await searched(store, of_the_day(text=text), hidden)

    assert {each.payout.reference for each in rows} == found
    assert sum(each.count for each in counts.by_state) == len(found)
    assert not others


@both
async def test_a_text_search_compares_the_newest_payouts_alone(
    store: Store, monkeypatch: pytest.MonkeyPatch
):
    for number in range(4):
        await made(store, f"ped-{number}", created_at=NOW + timedelta(seconds=number))
    monkeypatch.setattr(texts, "COMPARED_AT_MOST", 2)

    rows, _ = await searched(store, of_the_day(text="ped-"))

    assert [each.payout.reference for each in rows] == ["ped-3", "ped-2"]
