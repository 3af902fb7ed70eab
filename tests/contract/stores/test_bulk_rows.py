"""Many rows for one statement: each database its own way, and the same comes of it."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest
from sqlalchemy import event, select, text, update
from sqlalchemy.exc import StatementError

from gateway.app.store import Store
from gateway.payouts.rows import payout_row
from gateway.store.tables.core import payouts
from tests.contract.stores.databases import both, server_alone
from tests.world.stores import samples
from tests.world.stores.samples import NOW, payout

KEY, NEW = payouts.c.reference_sha256, "new_description"
TYPES = {name: payouts.c[name].type for name in payout_row(payout())}


@dataclass
class Written:
    store: Store
    texts: list[str] = field(default_factory=list)

    async def add(self, references: Sequence[str]) -> set[bytes]:
        """Insert payouts; the digests of those that are new."""
        database = self.store.database
        adding = database.bulk.insert_rows(database.insert_new(payouts), TYPES).returning(KEY)
        rows = [payout_row(payout(each)) for each in references]
        async with database.writing() as connection:
            done = await connection.execute(adding, database.bulk.bind(rows))
            return set(done.scalars())


@pytest.fixture
def written(store: Store) -> Written:
    """The store, and the texts it is sent from now on."""
    watched = Written(store)
    event.listen(
        store.database.writer.sync_engine,
        "before_cursor_execute",
        lambda _connection, _cursor, sent, *_rest: watched.texts.append(sent),
    )
    return watched


@both
@pytest.mark.parametrize("size", [1, 2, 64])
async def test_every_bulk_row_is_inserted_completely(written: Written, size: int) -> None:
    names = [f"order-{number:02}" for number in range(size)]

    new = await written.add(names)

    assert len(new) == size
    for name in names:
        assert await written.store.payouts.find(samples.ACCOUNT, name) == payout(name)


@both
async def test_an_existing_row_is_kept_and_not_returned(written: Written) -> None:
    await written.add(["order-1"])

    new = await written.add(["order-0", "order-1", "order-2", "order-2"])

    assert new == {payout_row(payout(each))["reference_sha256"] for each in ("order-0", "order-2")}


@both
async def test_rows_are_inserted_in_the_given_order(written: Written, kind: str) -> None:
    """Two batches that use the same order of keys cannot deadlock."""
    names = [f"order-{number * 29 % 64:02}" for number in range(64)]
    if kind == "postgres":  # a new file: in an old one, rows go where a vacuum has made room
        async with written.store.database.writing() as connection:
            await connection.execute(text("TRUNCATE payouts CASCADE"))

    await written.add(names)

    place = "ctid" if kind == "postgres" else "rowid"
    async with written.store.database.reading() as connection:
        lie = select(payouts.c.reference).order_by(text(place))
        assert list((await connection.execute(lie)).scalars()) == names


@both
@pytest.mark.parametrize("size", [1, 3, 64])
async def test_each_bulk_update_reaches_its_own_row(written: Written, size: int) -> None:
    database = written.store.database
    await written.add([f"order-{number}" for number in range(65)])
    places = database.bulk.parameters({"was": KEY.type, NEW: payouts.c.description.type})
    change = update(payouts).where(places["was"] == KEY).values(description=places[NEW])
    rows = [
        {"was": payout_row(payout(f"order-{number}"))["reference_sha256"], NEW: f"new {number}"}
        for number in range(size)
    ]

    async with database.writing() as connection:
        await connection.execute(change, database.bulk.bind(rows))

    async with database.reading() as connection:
        found = dict(
            (await connection.execute(select(payouts.c.reference, payouts.c.description))).all()
        )
    expected = {f"order-{number}": f"new {number}" for number in range(size)}
    assert found == dict.fromkeys(found, payout().description) | expected


@both
async def test_values_in_a_bulk_insert_are_checked(written: Written) -> None:
    """A time without a zone is ambiguous."""
    database = written.store.database
    adding = database.bulk.insert_rows(database.insert_new(payouts), TYPES)
    rows = [payout_row(payout(each)) for each in ("order-1", "order-2")]
    rows[1]["created_at"] = NOW.replace(tzinfo=None)

    async with database.writer.begin() as connection:
        with pytest.raises(StatementError):
            await connection.execute(adding, database.bulk.bind(rows))


@server_alone
async def test_bulk_inserts_of_any_size_have_one_statement_text(written: Written) -> None:
    """A connection keeps prepared statements by their text."""
    for size in (1, 2, 7, 64):
        await written.add([f"{size}-{number}" for number in range(size)])

    assert len({each for each in written.texts if each.startswith("INSERT INTO payouts ")}) == 1
