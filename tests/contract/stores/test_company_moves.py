"""A company between two PostgreSQL databases: what moves, what stays, what is refused."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Boolean, Column, Date, LargeBinary, Table, Text, insert, select, text, update

from gateway.app.failpoints import OF_A_MOVE
from gateway.app.services import Services
from gateway.app.store import Store, prepare
from gateway.cells.moving import Move, PatienceOver, Side, Step
from gateway.cells.ownership import OWNED, STAYING, Owned
from gateway.companies.service import add_company
from gateway.core.access import Staff
from gateway.core.account import Environment
from gateway.core.audit_context import RuleViolation
from gateway.core.company_scope import StopScope
from gateway.core.storage import StoreUnavailable
from gateway.payouts.model import PayoutState
from gateway.store.tables import columns
from gateway.store.tables.backoffice import approvals, batches
from gateway.store.tables.columns import reference_digest
from gateway.store.tables.core import audit, charges, companies, company_moves, payouts, stops
from gateway.store.tables.figures import closed_hours, payout_hours
from tests.servers.postgres import PostgresServer
from tests.world import archive
from tests.world.registers import Clock, Registers
from tests.world.stops import plant, sample
from tests.world.store import open_store
from tests.world.stores import samples
from tests.world.stores.patience import LONG
from tests.world.stores.samples import ACCOUNT, CLIENT, COMPANY, NOW

OTHER = "5f0c8f6e-3d57-4a6d-9f53-0d4d5a0f7a99"
OTHERS_ACCOUNT = "0b7d7e4a-9e0e-4a3c-8f5e-3c1f0a9b2c99"
HOUR = NOW.replace(minute=0, second=0, microsecond=0)
COUNTED = {"payout_events.number", "events.number"}
KEYS = {"sealing": frozenset({"s1"}), "pepper": frozenset({"p1"})}


class Ended(Exception):
    """Represents the end of the process."""


@dataclass(slots=True)
class Pair:
    """Two stores, and what a move between them asked for."""

    north: Store
    south: Store
    steps: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def side(self, cell: str, /, **changed: Any) -> Side:
        """Build a side of the move."""
        office = Registers(getattr(self, cell), Clock(NOW))
        side = Side(
            name=cell,
            environment=Environment.SANDBOX,
            database=office.store.database,
            stops=replace(Services(office.kernel).stops, new_id=lambda: str(uuid.uuid4())),
            staff=Staff(office.acting),
            keys=KEYS,
            known_keys=KEYS,
            providers={"sandbox": "sandbox"},
        )
        return replace(side, **changed)

    def move(self, passed: Callable[[str], None] = lambda _: None, **changed: Any) -> Move:
        """Build a move from north to south."""

        async def hold(company: str) -> None:
            self.asked.append(f"hold {company}")

        async def switch() -> None:
            self.asked.append("switch")

        async def wait() -> None:
            raise PatienceOver

        async def settle() -> None:
            self.asked.append("settle")

        def say(step: Step) -> None:
            self.steps.append(step.step)

        made = Move(
            company=COMPANY,
            source=self.side("north"),
            target=self.side("south"),
            others={},
            hold=hold,
            switch=switch,
            say=say,
            wait=wait,
            settle=settle,
            passed=passed,
        )
        return replace(made, **changed)


@pytest.fixture
async def pair(postgres_server: PostgresServer, migrated_database: str) -> AsyncIterator[Pair]:
    """North with two companies, south with none."""
    names = [f"cell_{uuid.uuid4().hex}" for _ in range(2)]
    urls = [await postgres_server.create(each, template=migrated_database) for each in names]
    opened = [open_store(each, LONG) for each in urls]
    for store in opened:
        await prepare(store, Environment.SANDBOX, migrate=False, now=samples.now)
    await fill(opened[0])
    yield Pair(*opened)
    for store, name in zip(opened, names, strict=True):
        await store.close()
        await postgres_server.drop(name)


async def fill(store: Store) -> None:
    """Store a row of the company in each table that moves, and one of another company."""
    await add_company(store.database, samples.company(OTHER), samples.event())
    others = samples.account(OTHERS_ACCOUNT, company_id=OTHER)
    await store.accounts.add(others, samples.event())
    await fill_company(store)
    await store.payouts.add(samples.payout("others", account_id=OTHERS_ACCOUNT), samples.attempt())


async def fill_company(store: Store) -> None:
    """Store a row of the company in each table that moves; events stay where they are."""
    async with store.database.writing() as connection:
        for owned in OWNED:
            known = owned.stays and await rows(store, owned)
            if not known:
                await connection.execute(insert(owned.table), row(owned.table))


def row(table: Table) -> dict[str, object]:
    """Return a row that has a value in every column but those that a database writes."""
    return {
        each.name: value(each)
        for each in table.columns
        if each.computed is None and f"{table.name}.{each.name}" not in COUNTED
    }


def value(column: Column[Any]) -> object:
    """Return a value of a column: of the company where it names one."""
    named = {
        "company_id": COMPANY,
        "account_id": ACCOUNT,
        "client_id": CLIENT,
        "reference_sha256": reference_digest("moved"),
        "reference": "moved",
        "scope": "account",
        "subject": ACCOUNT,
        "state": "paid",
        "position": 1,
        "review": False,
        "provider": "sandbox",
        "ends_at": NOW - timedelta(days=1),
        "made_until": None,
        "permissions": "balance:read",
        "outcome": "moved",
        "delivery_id": "an-id",
        "batch_id": "an-id",
    }
    if column.name == "id":
        return {"companies": COMPANY, "accounts": ACCOUNT}.get(column.table.name, "an-id")
    if column.name in named:
        return named[column.name]
    values: tuple[tuple[type, object], ...] = (
        (Text, "ção"),
        (columns.Words, ("ção", "de")),
        (LargeBinary, b"\x00\xff"),
        (Boolean, True),
        (Date, NOW.date()),
        (columns.Instant, NOW),
    )
    return next((each for kind, each in values if isinstance(column.type, kind)), 7)


async def rows(store: Store, owned: Owned) -> list[tuple[object, ...]]:
    """Return the rows of the company, without numbers that the database gives."""
    wanted = text(f"SELECT * FROM {owned.table.name} WHERE {owned.where}".replace("$1", ":id"))  # noqa: S608 - names of ours
    found = await store.database.rows(wanted, {"id": COMPANY})
    return sorted(tuple(each._mapping[name] for name in owned.columns) for each in found)


async def everything(store: Store) -> Mapping[str, list[tuple[object, ...]]]:
    """Return the company's rows by table."""
    return {each.table.name: await rows(store, each) for each in OWNED}


async def acts(store: Store, subject: str) -> list[str]:
    """Return what the audit log says was done to a subject."""
    wanted = select(audit.c.action).where(audit.c.subject == subject).order_by(audit.c.number)
    return [each.action for each in await store.database.rows(wanted)]


async def test_all_rows_of_the_company_and_no_others_move(pair: Pair):
    before = await everything(pair.north)
    assert all(before.values())

    await pair.move().run()

    after = await everything(pair.south)
    moved = await stop_of(pair.south)
    after["payout_stops"] = [each for each in after["payout_stops"] if each[0] != moved]
    assert after == before
    left = await everything(pair.north)
    assert {name for name, found in left.items() if found} == set()
    assert await pair.north.payouts.find(OTHERS_ACCOUNT, "others") is not None
    assert await pair.south.payouts.find(OTHERS_ACCOUNT, "others") is None
    assert pair.asked == ["settle", f"hold {COMPANY}", "switch"]
    assert pair.steps == ["stop", "copy", "compare", "leave", "switch", "resume"]


async def stop_of(store: Store) -> str:
    """Return the id of the move's own stop; it is lifted."""
    wanted = select(stops).where(stops.c.reason == "moves from cell north to cell south")
    found = await store.database.rows(wanted)
    assert [each.lifted_at is not None for each in found] == [True]
    return str(found[0].id)


async def test_a_move_is_in_both_audit_logs_and_names_changed_records(pair: Pair):
    await pair.move().run()

    company, account = f"company:{COMPANY}", f"account:{ACCOUNT}"
    assert await acts(pair.north, company) == ["payouts.stopped", "company.left"]
    assert await acts(pair.south, company) == [
        *("company.arrived", "payouts.stopped", "company.moved"),
    ]
    assert await acts(pair.north, account) == ["account.left"]
    assert await acts(pair.south, account) == ["account.arrived"]
    assert await acts(pair.south, f"credential:{CLIENT}") == ["credential.arrived"]
    for store in (pair.north, pair.south):
        wanted = select(audit.c.companies).where(audit.c.subject.in_([company, account]))
        assert {each.companies for each in await store.database.rows(wanted)} == {COMPANY}


@pytest.mark.parametrize("point", OF_A_MOVE)
async def test_a_move_interrupted_at_any_point_can_be_repeated(pair: Pair, point: str):
    """Twice at each point; events, which cannot be deleted, are stored once."""
    before = await everything(pair.north)

    def end(passed: str) -> None:
        if passed == point:
            raise Ended

    for _ in range(2):
        with suppress(Ended):
            await pair.move(end).run()
        where = [bool((await everything(each))["payouts"]) for each in (pair.north, pair.south)]
        assert where == {"after_stop": [True, False], "after_copy": [True, True]}.get(
            point, [False, True]
        )
    await pair.move().run()

    after = await everything(pair.south)
    moved = await stop_of(pair.south)
    after["payout_stops"] = [each for each in after["payout_stops"] if each[0] != moved]
    assert after == before
    assert not any((await everything(pair.north)).values())


async def test_a_company_whose_move_failed_is_still_served_by_its_cell(pair: Pair):
    """The map held it, and then leads to the source again."""

    async def refuse(_company: str) -> None:
        problem = "HAProxy does not answer"
        raise RuleViolation(problem)

    with pytest.raises(RuleViolation, match="does not answer"):
        await pair.move(hold=refuse).run()

    assert pair.asked == ["settle", "switch"]
    assert (await everything(pair.north))["payouts"]


async def test_a_payout_during_the_copy_is_stored_in_neither_cell(pair: Pair):
    """Even if the process has cached the account: it is gone once the lock is released."""
    late: list[asyncio.Task[object]] = []

    def pay(passed: str) -> None:
        if passed == "after_copy":
            paying = pair.north.payouts.add(samples.payout("late"), samples.attempt())
            late.append(asyncio.ensure_future(paying))

    await pair.move(pay).run()

    with pytest.raises(StoreUnavailable):
        await late[0]
    for store in (pair.north, pair.south):
        assert await store.payouts.find(ACCOUNT, "late") is None
    with pytest.raises(StoreUnavailable):
        await pair.north.payouts.add(samples.payout("later"), samples.attempt())


OPEN: Mapping[str, tuple[Table, Mapping[str, object]]] = {
    **{
        each.value: (payouts, {"state": each.value})
        for each in (PayoutState.SENDING, PayoutState.UNKNOWN, PayoutState.ACCEPTED)
    },
    "held": (payouts, {"state": "held"}),
    "in review": (payouts, {"review": True}),
    "orders of people": (approvals, {"state": "waiting", "ends_at": NOW + timedelta(hours=1)}),
    "files of payouts": (batches, {"state": "held"}),
    "charges that are being made": (charges, {"made_until": NOW + timedelta(seconds=30)}),
}


@pytest.mark.parametrize("what", OPEN)
async def test_a_move_waits_for_open_work(pair: Pair, what: str):
    """The stop is kept, so that a repeated move has less to wait for."""
    table, changed = OPEN[what]
    await pair.north.database.write(
        update(table).where(table.c.account_id == ACCOUNT).values(changed)
    )

    with pytest.raises(PatienceOver):
        await pair.move().run()

    assert pair.steps == ["stop", "wait"]
    assert not any((await everything(pair.south)).values())
    plan = {each.step: each.what for each in await pair.move().plan()}
    assert plan["wait"] == f"until none is under way (now: 1 {what})"
    wanted = select(stops).where(stops.c.subject == COMPANY, stops.c.lifted_at.is_(None))
    assert len(await pair.north.database.rows(wanted)) == 1


async def test_an_unsent_payout_moves_with_its_company(pair: Pair):
    """No call is under way for it: it is repeated in the other cell."""
    not_sent = update(payouts).where(payouts.c.account_id == ACCOUNT).values(state="not_sent")
    await pair.north.database.write(not_sent)

    await pair.move().run()

    assert (await everything(pair.south))["payouts"]


REFUSED: Mapping[str, tuple[Mapping[str, object], str]] = {
    "key": ({"known_keys": {**KEYS, "pepper": frozenset()}}, "lacks the pepper key p1 of north"),
    "provider": ({"providers": {}}, "has no provider sandbox of adapter sandbox"),
    "environment": ({"environment": Environment.PRODUCTION}, "one cell is production"),
    "itself": ({"name": "north"}, "between two cells"),
}


@pytest.mark.parametrize("what", REFUSED)
async def test_an_incompatible_target_is_refused(pair: Pair, what: str):
    changed, said = REFUSED[what]

    for act in (Move.run, Move.plan):
        with pytest.raises(RuleViolation, match=said):
            await act(pair.move(target=pair.side("south", **changed)))

    assert not pair.steps


async def test_a_company_that_another_cell_holds_is_refused(pair: Pair):
    """A third cell is found by name, the two cells of the move by their journals."""
    with pytest.raises(RuleViolation, match="east has the company, too"):
        await pair.move(others={"east": pair.north.database}).run()
    await add_company(pair.south.database, samples.company(), samples.event())
    with pytest.raises(RuleViolation, match="by no such move"):
        await pair.move().run()
    with pytest.raises(RuleViolation, match="neither cell"):
        await replace(pair.move(), company=str(uuid.uuid4())).run()


async def test_a_company_under_a_stop_of_everything_moves_to_the_same_stop_alone(pair: Pair):
    """A move must not make a stopped company pay again."""
    whole = sample(scope=StopScope.EVERYTHING, subject="")
    await plant(pair.north, whole)
    with pytest.raises(RuleViolation, match="north has a stop of everything that south lacks"):
        await pair.move().run()

    await plant(pair.south, whole)
    await pair.move().run()

    assert (await everything(pair.south))["payouts"]


async def test_a_company_restored_in_its_former_cell_is_removed_again(pair: Pair):
    """The rows in the target are the valid ones, and are not changed."""
    await pair.move().run()
    await fill_company(pair.north)
    before = await everything(pair.south)

    assert [each.step for each in await pair.move().plan()] == ["compare", "leave", "switch"]
    assert [each.step for each in await pair.move().run()] == ["done"]

    assert not any((await everything(pair.north)).values())
    assert await everything(pair.south) == before
    assert await acts(pair.north, f"company:{COMPANY}") == [
        *("payouts.stopped", "company.left", "company.left"),
    ]


async def pay_plain(store: Store) -> None:
    """Store a payout that ended."""
    await store.payouts.add(samples.payout("plain"), samples.attempt())
    ended = samples.change(PayoutState.SENDING, PayoutState.PAID, reference="plain")
    assert await store.payouts.record(ended)


async def test_payouts_archived_by_the_target_are_not_missing(pair: Pair, tmp_path: Path):
    """A restore brings the payout back to the source; in the target only its row is left."""
    await pay_plain(pair.north)
    await pair.move().run()
    later = NOW + timedelta(days=300)
    async with pair.south.database.writing() as connection:  # under a stop nothing leaves
        await connection.execute(update(stops).values(lifted_at=NOW))
    await archive.write(pair.south.database, tmp_path, lambda: later)
    gone = await pair.south.payouts.find(ACCOUNT, "plain")
    assert gone is not None
    assert gone.archived
    await fill_company(pair.north)
    await pay_plain(pair.north)

    assert [each.step for each in await pair.move().run()] == ["done"]

    assert not any((await everything(pair.north)).values())


async def test_a_restored_company_with_other_payouts_stays(pair: Pair):
    """They exist in no other cell, so people have to decide."""
    await pair.move().run()
    await fill_company(pair.north)
    await pair.north.payouts.add(samples.payout("unknown-there"), samples.attempt())

    with pytest.raises(RuleViolation, match="south lacks 1 payouts that north has"):
        await pair.move().run()

    assert await pair.north.payouts.find(ACCOUNT, "unknown-there") is not None


async def test_a_company_that_is_still_arriving_is_not_moved_on(pair: Pair):
    await pair.north.database.write(insert(company_moves), journal("arriving"))

    with pytest.raises(RuleViolation, match="still moving from west to north"):
        await pair.move().run()


def journal(state: str) -> dict[str, object]:
    return {
        "company_id": COMPANY,
        "source": "west",
        "target": "north",
        "state": state,
        "digest": "",
        "began_at": NOW,
        "ended_at": None,
    }


async def test_a_copy_with_changed_payouts_is_not_replaced(pair: Pair):
    """A payout was made from the copy by hand, so people have to decide."""

    def end(passed: str) -> None:
        if passed == "after_copy":
            raise Ended

    with pytest.raises(Ended):
        await pair.move(end).run()
    await pair.south.payouts.add(samples.payout("by-hand"), samples.attempt())

    with pytest.raises(RuleViolation, match="payouts of the company changed in south"):
        await pair.move().run()

    assert await pair.south.payouts.find(ACCOUNT, "by-hand") is not None


async def test_a_copy_that_differs_changes_nothing(pair: Pair):
    """The target's table has an unknown trigger."""
    async with pair.south.database.writing() as connection:
        for statement in (
            (
                "CREATE FUNCTION lower() RETURNS trigger LANGUAGE plpgsql AS"
                " $$ BEGIN NEW.centavos = 1; RETURN NEW; END $$"
            ),
            "CREATE TRIGGER lower BEFORE INSERT ON payouts FOR EACH ROW EXECUTE FUNCTION lower()",
        ):
            await connection.execute(text(statement))

    with pytest.raises(RuleViolation, match="after the copy payouts differ"):
        await pair.move().run()

    assert (await everything(pair.north))["payouts"]
    assert not any((await everything(pair.south)).values())
    assert pair.asked == ["switch"]


async def test_a_company_moves_back(pair: Pair):
    """Events left behind are not duplicated."""
    before = await everything(pair.north)
    await pair.move().run()

    back = pair.move(source=pair.side("south"), target=pair.side("north"))
    await back.run()

    after = await everything(pair.north)
    after["payout_stops"] = [each for each in after["payout_stops"] if each[5] == NOW]
    assert {**after, "payout_stops": []} == {**before, "payout_stops": []}
    assert [each.step for each in await back.plan()] == ["done"]


@pytest.mark.parametrize(("here", "there"), [(True, True), (True, False), (False, True)])
async def test_hourly_sums_move_between_cells_without_double_counting(
    pair: Pair, here: bool, there: bool
):
    """Sums of hours closed in both cells move; others are counted from payouts."""
    sums = {**row(payout_hours), "hour": HOUR}
    if here:
        await pair.north.database.write(insert(closed_hours), {"hour": HOUR})
        await pair.north.database.write(insert(payout_hours), sums)
    if there:
        await pair.south.database.write(insert(closed_hours), {"hour": HOUR})

    await pair.move().run()

    assert await pair.north.database.rows(select(payout_hours)) == []
    kept = await pair.south.database.rows(select(payout_hours))
    closed = await pair.south.database.rows(select(closed_hours))
    assert (len(kept), len(closed)) == ((1, 1) if here and there else (0, 0))


async def test_a_move_leaves_a_journal_and_old_events_behind(pair: Pair):
    """Events are left until their month is dropped; the company can no longer be found."""
    await pair.move().run()

    wanted = text("SELECT count(*) AS events FROM payout_events WHERE account_id = :account")
    found = await pair.north.database.rows(wanted, {"account": ACCOUNT})
    assert found[0].events == 1
    assert "audit" in STAYING
    journal = await pair.north.database.first(select(company_moves))
    assert journal is not None
    assert (journal.source, journal.target, journal.state) == ("north", "south", "left")
    assert (
        await pair.north.database.first(select(companies).where(companies.c.id == COMPANY)) is None
    )
