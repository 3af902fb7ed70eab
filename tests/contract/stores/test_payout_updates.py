"""
Steps of a payout write its row and no index of it, and the tables that serve as indexes follow.

PostgreSQL writes a new entry into every index of a row whose update changes a column of any.
"""

from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from datetime import timedelta

from sqlalchemy import Table, delete, insert, select, text

from gateway.app.store import Store
from gateway.payouts.model import PayoutState
from gateway.payouts.schedule import Checked, DueAccount
from gateway.store.tables.columns import reference_digest
from gateway.store.tables.core import bank_names, payouts, payouts_by_people, planned_checks
from tests.contract.stores.databases import both, server_alone
from tests.world.stores.due import claim_due, claim_of
from tests.world.stores.samples import ACCOUNT, NOW, attempt, change, held, of, payout

SENDING, ACCEPTED, PAID = PayoutState.SENDING, PayoutState.ACCEPTED, PayoutState.PAID
UNKNOWN, NOT_SENT = PayoutState.UNKNOWN, PayoutState.NOT_SENT
LATER = NOW + timedelta(seconds=10)

READ_BY_INDEXES = text(
    "SELECT DISTINCT attname FROM pg_depend JOIN pg_index ON indexrelid = objid"
    " JOIN pg_attribute ON attrelid = refobjid AND attnum = refobjsubid"
    " WHERE classid = 'pg_class'::regclass AND refobjid = 'payouts'::regclass"
    " AND indrelid = 'payouts'::regclass"
)
"""Columns of indexes and of their conditions."""
NUMBER_OF_INDEXES = text("SELECT count(*) FROM pg_index WHERE indrelid = 'payouts'::regclass")


async def only_row(store: Store) -> Mapping[str, object]:
    [row] = await store.database.rows(select(payouts))
    found: Mapping[str, object] = row._asdict()
    return found


async def life(store: Store) -> AsyncIterator[None]:
    """Store a payout, and settle it after a look, as nearly every one is."""
    await store.payouts.add(payout(), attempt())
    yield
    accepted = of(change(SENDING, ACCEPTED), provider_id="p-1")
    assert await store.payouts.record(accepted)
    yield
    [claimed] = await claim_due(store, "one", LATER, LATER + timedelta(seconds=60))
    yield
    paid = of(change(ACCEPTED, PAID), provider_id="p-1", e2e_id="E1", settled_at=LATER)
    assert await store.payouts.record(paid)
    yield
    assert await store.follow_ups.checked(
        Checked(
            account_id=ACCOUNT,
            reference=claimed.reference,
            attempt=1,
            state=PAID,
            owner="one",
            at=LATER,
            next_check_at=None,
            review=False,
        )
    )
    yield


async def rows(store: Store, of: Table) -> list[tuple[object, ...]]:
    columns = (of.c[name] for name in ("account_id", "reference_sha256", "provider"))
    asked = select(*columns, of.c.next_check_at)
    return sorted(map(tuple, await store.database.rows(asked)))


async def planned(store: Store) -> list[tuple[object, ...]]:
    """Return what the table of planned checks has, and demand that payouts say the same."""
    found, own = await rows(store, planned_checks), await rows(store, payouts)
    assert found == [each for each in own if each[-1] is not None]
    return found


@server_alone
async def test_an_ordinary_payout_s_changes_touch_no_indexed_column(store: Store) -> None:
    async with store.database.reading() as connection:
        indexed = set((await connection.execute(READ_BY_INDEXES)).scalars())
    steps = life(store)
    await anext(steps)
    before, changed = await only_row(store), set[str]()

    async for _ in steps:
        after = await only_row(store)
        changed |= {name for name, value in after.items() if value != before[name]}
        before = after

    assert {"account_id", "created_at", "exception"} <= indexed
    assert {"state", "next_check_at", "check_owner", "e2e_id", "provider_id"} <= changed
    assert indexed & changed == set()


@server_alone
async def test_no_more_than_ten_indexes_are_written_with_a_payout(store: Store) -> None:
    """Each costs every payout; docs/scale.md names what needs them."""
    async with store.database.reading() as connection:
        counted = (await connection.execute(NUMBER_OF_INDEXES)).scalar_one()

    assert counted <= 10


@both
async def test_a_payout_has_a_planned_check_until_it_ends(store: Store) -> None:
    counted = [len(await planned(store)) async for _ in life(store)]

    assert counted == [1, 1, 1, 0, 0]


@both
async def test_a_payout_sent_again_is_planned_at_its_new_bank(store: Store) -> None:
    await store.payouts.add(payout(), attempt())
    await store.payouts.record(change(SENDING, NOT_SENT))
    await store.payouts.claim(payout(), replace(attempt(2), provider="other"))

    [[*_, provider, at]] = await planned(store)

    assert (provider, at) == ("other", attempt(2).lease_until)


@both
async def test_a_payout_in_review_has_no_planned_check_until_it_moves(store: Store) -> None:
    await store.payouts.add(payout(), attempt())
    await store.payouts.record(change(SENDING, UNKNOWN))
    await claim_due(store, "one", LATER, LATER + timedelta(seconds=60))
    stuck = Checked(
        account_id=ACCOUNT,
        reference="order-1",
        attempt=1,
        state=UNKNOWN,
        owner="one",
        at=LATER,
        next_check_at=None,
        review=True,
    )
    await store.follow_ups.checked(stuck)
    reviewed = await planned(store)

    await store.payouts.record(change(UNKNOWN, ACCEPTED))

    assert (reviewed, len(await planned(store))) == ([], 1)


@both
async def test_a_planned_check_older_than_its_payout_is_not_due(store: Store) -> None:
    """A claim waiting for a concurrent step reads it like this when the step settles the payout."""
    await store.payouts.add(payout(), attempt())
    [before] = await rows(store, planned_checks)
    paid = of(change(SENDING, PAID), settled_at=LATER)
    assert await store.payouts.record(paid)
    async with store.database.writing() as connection:
        names = ("account_id", "reference_sha256", "provider", "next_check_at")
        await connection.execute(insert(planned_checks), dict(zip(names, before, strict=True)))
    late = LATER + timedelta(days=1)

    claimed = await store.follow_ups.claim_due(
        claim_of(
            [DueAccount(provider="sandbox", account_id=ACCOUNT, due_at=LATER)], "one", late, late
        )
    )

    assert (claimed, await store.follow_ups.backlog(late)) == ([], [])


@both
async def test_the_next_check_of_a_held_payout_is_the_end_of_its_hold(store: Store) -> None:
    waiting = held(payout())
    await store.payouts.add(waiting, None)

    [[*_, at]] = await planned(store)

    assert at == waiting.held_until


@both
async def test_each_bank_id_of_a_payout_is_stored_once(store: Store) -> None:
    """Some banks name a payout by its end-to-end id, and repeat it in every answer."""
    await store.payouts.add(payout(), attempt())
    for step in (change(SENDING, ACCEPTED), change(ACCEPTED, PAID)):
        assert await store.payouts.record(of(step, provider_id="E1", e2e_id="E1"))

    found = await store.database.rows(select(bank_names.c.name))

    assert [each.name for each in found] == ["E1"]


@both
async def test_the_index_of_payouts_by_people_holds_only_their_orders(store: Store) -> None:
    await store.payouts.add(payout(), attempt())
    of_person = replace(payout("order-2"), client_id="user:ana")
    await store.payouts.add(of_person, attempt())

    index = payouts_by_people.c
    found = await store.database.rows(
        select(index.account_id, index.created_at, index.reference_sha256)
    )

    assert [tuple(each) for each in found] == [(ACCOUNT, NOW, reference_digest("order-2"))]


@both
async def test_deleting_a_payout_deletes_it_in_every_index(store: Store) -> None:
    """As when its company moves to another cell."""
    await store.payouts.add(replace(payout(), client_id="user:ana"), None)
    accepted = of(change(SENDING, ACCEPTED), attempt=payout().attempt, provider_id="p-1")
    assert await store.payouts.record(accepted)
    async with store.database.writing() as connection:
        await connection.execute(delete(payouts))

    indexes = (planned_checks, bank_names, payouts_by_people)
    left = [await store.database.rows(select(each)) for each in indexes]

    assert left == [[], [], []]
