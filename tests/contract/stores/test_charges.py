"""Charges on record, on both databases."""

from __future__ import annotations

import asyncio
import dataclasses
from datetime import UTC, datetime

import pytest
from msgspec.structs import replace

from gateway.app.store import Store
from gateway.charges.model import (
    ChargeRecord,
    ChargeSearch,
    ChargeState,
    ChargeSums,
    SeenCharge,
)
from gateway.core.company_scope import EVERY_COMPANY, CompanyScope
from gateway.core.money import Money, Sum
from gateway.core.windows import Keyset, PageStart
from tests.contract.stores.databases import both
from tests.world.stores.charges import SECOND, charge, records
from tests.world.stores.samples import ACCOUNT, COMPANY, NOW, SISTER


def seen(state: ChargeState | None, number: int = 1, e2e_id: str = "", at: int = 60) -> SeenCharge:
    return SeenCharge(
        account_id=ACCOUNT,
        reference=f"cob-{number}",
        state=state,
        at=NOW + at * SECOND,
        paid_at=NOW if e2e_id else None,
        e2e_id=e2e_id,
    )


async def found(store: Store, **wanted: object) -> list[ChargeRecord]:
    plain: dict[str, object] = {"page": Keyset(100)}
    scope, now = wanted.pop("scope", EVERY_COMPANY), wanted.pop("now", NOW)
    search = ChargeSearch(**{**plain, **wanted})  # type: ignore[arg-type]
    return list(await records(store).search(search, scope, now))  # type: ignore[arg-type]


async def one(store: Store) -> ChargeRecord:
    (only,) = await found(store)
    return only


@both
async def test_a_stored_charge_is_read_back_unchanged(store: Store):
    stored = charge(expires_at=NOW + SECOND, paid_at=NOW, e2e_id="E1", centavos=None)

    assert await records(store).begin(stored)

    assert await one(store) == stored


@both
async def test_a_reference_of_an_account_has_one_record_and_one_holder(store: Store):
    """The first one holds it until it ends or its time is over, also if the clock is set back."""
    begins = records(store).begin

    def order(number: int, at: int = 0, until: int = 30, **changed: object) -> ChargeRecord:
        begun, ends = NOW + at * SECOND, NOW + until * SECOND
        times = {"created_at": begun, "made_until": ends}
        return charge(number, **{"reference": "c", **times, **changed})

    first = await begins(order(1))
    held = [await begins(order(2)), await begins(order(3, at=29, until=59))]
    others = await begins(order(4, account_id=SISTER)), await begins(order(5, reference="d"))
    lapsed = await begins(order(6, at=30, until=60))
    await records(store).discard(order(1))
    still_held = await begins(order(7, at=31, until=61))
    await records(store).discard(order(6, at=30, until=60))
    discarded = await begins(order(8, at=31, until=61))
    await records(store).renew(order(8, at=31, until=61))
    renewed = await begins(order(9, at=32, until=3600))
    put_back = await begins(order(10, at=32, until=62))

    assert (first, held, others) == (True, [False, False], (True, True))
    assert (lapsed, still_held, discarded, renewed, put_back) == (True, False, True, True, True)
    assert len(await found(store, reference="c")) == 2


@both
async def test_of_many_concurrent_orders_of_a_reference_one_holds_it(store: Store):
    """Whether there is no record, or one whose holder has expired."""
    held = []

    for at in (0, 30):
        begun, ends = NOW + at * SECOND, NOW + (at + 30) * SECOND
        orders = [
            charge(at + number, reference="c", created_at=begun, made_until=ends)
            for number in range(1, 9)
        ]
        held.append(sum(await asyncio.gather(*map(records(store).begin, orders))))

    assert held == [1, 1]


async def test_a_charge_created_again_keeps_its_id(store: Store):
    await records(store).begin(charge(state=ChargeState.CANCELED))

    await records(store).renew(charge(2, reference="cob-1"))

    assert await one(store) == charge(2, id=charge().id, reference="cob-1")


@both
async def test_a_charge_dropped_meanwhile_is_stored_again(store: Store):
    await records(store).renew(charge())

    assert await one(store) == charge()


@both
@pytest.mark.parametrize(
    ("state", "left"), [(ChargeState.UNKNOWN, 0), (ChargeState.ACTIVE, 1), (ChargeState.PAID, 1)]
)
async def test_only_unknown_charges_are_dropped(store: Store, state: ChargeState, left: int):
    await records(store).begin(charge(state=state))

    await records(store).discard(charge())

    assert len(await found(store)) == left


STATES = (ChargeState.UNKNOWN, ChargeState.ACTIVE, ChargeState.PAID, ChargeState.CANCELED)
_EARLIER = -60


@both
@pytest.mark.parametrize("told", STATES[1:])
@pytest.mark.parametrize("before", STATES)
async def test_a_later_answer_of_the_bank_corrects_the_record(
    store: Store, before: ChargeState, told: ChargeState
):
    """In every direction: a charge that seemed paid may become active again."""
    await records(store).begin(charge(state=before, updated_at=NOW))

    await records(store).note([seen(told)])

    assert (await one(store)).state is told


@pytest.mark.parametrize("told", STATES[1:])
@pytest.mark.parametrize("before", STATES)
async def test_an_answer_older_than_the_record_changes_no_final_charge(
    store: Store, before: ChargeState, told: ChargeState
):
    """It was requested earlier than the recorded answer, and a paid charge stays paid."""
    await records(store).begin(charge(state=before, updated_at=NOW))

    await records(store).note([seen(told, at=_EARLIER)])

    over = before in {ChargeState.PAID, ChargeState.CANCELED} and told is not ChargeState.PAID
    assert (await one(store)).state is (before if over else told)


async def test_an_answer_counts_after_the_clock_was_set_back(store: Store):
    await records(store).begin(charge(state=ChargeState.PAID, updated_at=NOW + 3600 * SECOND))

    await records(store).note([seen(ChargeState.ACTIVE)])

    assert (await one(store)).state is ChargeState.ACTIVE


@both
@pytest.mark.parametrize("told", [ChargeState.ACTIVE, ChargeState.CANCELED, None])
async def test_a_charge_found_unpaid_after_all_has_no_payment(
    store: Store, told: ChargeState | None
):
    """An unpaid transaction does not contain the state; the charge names the requested payer."""
    paid = charge(state=ChargeState.PAID, paid_at=NOW, e2e_id="E1", payer_name="Somebody")
    await records(store).begin(paid)

    await records(store).note([dataclasses.replace(seen(told), payer_name="Ana")])

    known = await one(store)
    assert known.state is (told or ChargeState.ACTIVE)
    assert (known.paid_at, known.e2e_id, known.payer_name) == (None, "", "Ana")


@pytest.mark.parametrize("before", [each for each in STATES if each is not ChargeState.PAID])
async def test_an_unpaid_transaction_changes_no_state(store: Store, before: ChargeState):
    await records(store).begin(charge(state=before, payer_name="Ana"))

    await records(store).note([seen(None)])

    known = await one(store)
    assert (known.state, known.payer_name) == (before, "Ana")


def listed(centavos: int, e2e_id: str = "E1", paid: int = 0, at: int = 60) -> SeenCharge:
    return dataclasses.replace(
        seen(ChargeState.PAID, e2e_id=e2e_id, at=at),
        paid_at=NOW + paid * SECOND,
        paid=Money(centavos),
        is_listed=True,
    )


@both
@pytest.mark.parametrize(
    ("asked", "came", "pays"),
    [
        (10_000, 1, False),
        (10_000, 9_999, False),
        (10_000, 10_000, True),
        (10_000, 10_001, True),
        (None, 1, True),
    ],
)
async def test_a_listed_payment_of_at_least_the_amount_pays_its_charge(
    store: Store, asked: int | None, came: int, *, pays: bool
):
    """The reference alone may be any text of the payer."""
    await records(store).begin(charge(centavos=asked))

    await records(store).note([listed(came)])

    known = await one(store)
    assert (known.state is ChargeState.PAID, known.e2e_id) == (pays, "E1" if pays else "")


async def test_the_newest_listed_payment_that_covers_a_charge_is_kept(store: Store):
    """They are listed newest first: neither a smaller nor an older one replaces it."""
    await records(store).begin(charge(centavos=10_000))

    await records(store).note([listed(1, "E3"), listed(10_000, "E2"), listed(20_000, "E1")])

    assert (await one(store)).e2e_id == "E2"


@both
async def test_the_bank_s_state_of_a_charge_outranks_an_earlier_payment(store: Store):
    """Even if that payment is listed again; a later payment counts."""
    minutes = 60
    await records(store).begin(charge(centavos=100))
    await records(store).note([listed(100)])
    await records(store).note([seen(ChargeState.ACTIVE, at=10 * minutes)])

    await records(store).note([listed(100, at=11 * minutes)])
    still = (await one(store)).state
    await records(store).note([listed(100, "E2", paid=12 * minutes, at=13 * minutes)])
    after = await one(store)

    assert (still, after.state, after.e2e_id) == (ChargeState.ACTIVE, ChargeState.PAID, "E2")


async def test_a_paid_charge_gets_its_missing_payment_from_the_list(store: Store):
    await records(store).begin(charge(centavos=100))
    await records(store).note([seen(ChargeState.PAID, at=3600)])

    await records(store).note([listed(1, "E1"), listed(100, "E2")])

    assert (await one(store)).e2e_id == "E2"


async def test_a_payment_on_the_last_calendar_day_is_noted(store: Store):
    await records(store).begin(charge(centavos=100))
    last = datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)

    await records(store).note([dataclasses.replace(listed(100), paid_at=last)])

    assert (await one(store)).paid_at == last


@both
async def test_a_payment_is_stored_with_its_id(store: Store):
    await records(store).begin(charge())

    await records(store).note([seen(ChargeState.PAID, e2e_id="E1")])
    await records(store).note([seen(ChargeState.PAID)])

    known = await one(store)
    assert (known.state, known.e2e_id, known.paid_at) == (ChargeState.PAID, "E1", NOW)


async def test_a_payment_that_is_reported_twice_changes_nothing(store: Store):
    await records(store).begin(charge())

    for at in (60, 120):
        await records(store).note([seen(ChargeState.PAID, e2e_id="E1", at=at)])

    assert (await one(store)).updated_at == NOW + 60 * SECOND


async def test_a_reusable_charge_stays_active_and_shows_its_last_payment(store: Store):
    await records(store).begin(charge(reusable=True, centavos=100))

    for e2e_id in ("E1", "E2"):
        await records(store).note([seen(ChargeState.PAID, e2e_id=e2e_id), seen(None)])
    told = await one(store)
    newest_first = [listed(1, "E5", 30), listed(100, "E4", 20), listed(100, "E3", 10)]
    await records(store).note(newest_first)
    found = await one(store)

    assert (told.state, told.e2e_id) == (ChargeState.ACTIVE, "E2")
    assert (found.state, found.e2e_id) == (ChargeState.ACTIVE, "E4")


async def test_a_cancelled_reusable_charge_keeps_its_state_and_payment(store: Store):
    await records(store).begin(charge(reusable=True))
    await records(store).note([seen(ChargeState.PAID, e2e_id="E1")])

    await records(store).note([seen(ChargeState.CANCELED), seen(ChargeState.PAID, e2e_id="E2")])

    known = await one(store)
    assert (known.state, known.e2e_id) == (ChargeState.CANCELED, "E2")


async def test_foreign_charges_are_not_recorded(store: Store):
    await records(store).note([seen(ChargeState.PAID, e2e_id="E1")])

    assert await found(store) == []


@both
async def test_pages_follow_each_other_newest_first(store: Store):
    """Two of the same instant are on different pages, and none is shown twice."""
    for number in (1, 2, 3, 4, 5):
        await records(store).begin(charge(number, created_at=NOW + (number // 2) * SECOND))
    references, after = [], None

    for _ in range(3):
        page = await found(store, page=Keyset(2, after))
        references += [each.reference for each in page[:2]]
        last = page[:2][-1]
        after = PageStart(last.created_at, last.id)

    assert references == [f"cob-{number}" for number in (5, 4, 3, 2, 1)]
    assert await found(store, page=Keyset(2, after)) == []


@both
async def test_charges_are_filtered_by_state_account_reference_and_time(store: Store):
    await records(store).begin(charge(1))
    await records(store).begin(charge(2, account_id=SISTER, state=ChargeState.PAID))
    await records(store).begin(charge(3, expires_at=NOW))
    await records(store).begin(charge(4, expires_at=NOW + SECOND))

    async def numbers(**wanted: object) -> list[str]:
        return [each.reference[-1] for each in await found(store, **wanted)]

    assert await numbers(state=ChargeState.ACTIVE) == ["4", "1"]
    assert await numbers(state=ChargeState.EXPIRED) == ["3"]
    assert await numbers(state=ChargeState.PAID) == ["2"]
    assert await numbers(account_id=SISTER) == ["2"]
    assert await numbers(reference="cob-3") == ["3"]
    assert await numbers(since=NOW + 2 * SECOND, until=NOW + 4 * SECOND) == ["3", "2"]


@both
async def test_charges_of_another_company_are_not_found(store: Store):
    await records(store).begin(charge())

    theirs, others = (CompanyScope(frozenset({each})) for each in (COMPANY, "other"))

    assert len(await found(store, scope=theirs)) == 1
    assert await found(store, scope=others) == []


@both
async def test_the_charge_of_a_payment_is_found_by_its_id_within_the_account(store: Store):
    paid = charge(state=ChargeState.PAID, e2e_id="E1")
    await records(store).begin(paid)
    await records(store).begin(replace(charge(2), e2e_id=""))

    assert await records(store).paid_by(ACCOUNT, ["E1", "E2", ""]) == [paid]
    assert await records(store).paid_by(SISTER, ["E1"]) == []
    assert await records(store).paid_by(ACCOUNT, [""]) == []


@both
async def test_a_search_text_matches_reference_payer_or_amount(store: Store):
    await records(store).begin(charge(1, reference="Fatura-1", centavos=123_456))
    await records(store).begin(charge(2, reference="fatura-2", payer_name="Ana"))
    paid = seen(ChargeState.PAID, number=2, e2e_id="E1")
    await records(store).note(
        [dataclasses.replace(paid, reference="fatura-2", payer_name="JOÃO Conceição")]
    )

    async def references(text: str) -> list[str]:
        return [each.reference for each in await found(store, text=text)]

    assert await references("FATURA-") == ["fatura-2", "Fatura-1"]
    assert await references("joao conc") == ["fatura-2"]
    assert await references("R$ 1.234,56") == ["Fatura-1"]
    assert await references("25,00") == []
    assert await references("ana") == await references("%") == []


@both
@pytest.mark.parametrize("is_listed", [False, True], ids=["of the charge", "from the list"])
async def test_an_open_charge_is_found_by_the_amount_paid(store: Store, is_listed: bool):
    """A later answer corrects the amount, and an unpaid charge has none."""
    await records(store).begin(charge(centavos=None))
    paid = dataclasses.replace(seen(ChargeState.PAID, e2e_id="E1"), paid=Money(2_500))

    await records(store).note([dataclasses.replace(paid, is_listed=is_listed)])
    listed_by = [each.paid_value for each in await found(store, text="25,00")]
    await records(store).note([dataclasses.replace(paid, paid=Money(2_600))])
    corrected = [each.paid_value for each in await found(store, text="26,00")]
    await records(store).note([dataclasses.replace(paid, paid=None)])
    untold = await one(store)
    await records(store).note([seen(ChargeState.ACTIVE, at=120)])

    assert (listed_by, corrected) == ([Money(2_500)], [Money(2_600)])
    assert untold.paid_value == Money(2_600)
    assert (await one(store)).paid_value is None


@both
async def test_search_results_are_summed(store: Store):
    await records(store).begin(charge(1, centavos=100))
    await records(store).begin(charge(2, centavos=250))
    await records(store).begin(charge(3, centavos=None))
    wanted = ChargeSearch(page=Keyset(limit=1))

    assert await records(store).sums(wanted, EVERY_COMPANY, NOW) == ChargeSums(
        3, Sum(350), complete=True
    )
    nobody = CompanyScope(frozenset())
    assert await records(store).sums(wanted, nobody, NOW) == ChargeSums(0, Sum(0), complete=True)
