"""Writes of one moment share a transaction, and each is answered as if it had been alone."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from functools import partial
from sqlite3 import SQLITE_DENY, SQLITE_INSERT, SQLITE_OK
from typing import Any

import pytest
from sqlalchemy import Connection, event, make_url, text
from sqlalchemy.ext.asyncio.engine import AsyncEngine

from gateway.app.store import Store
from gateway.core.storage import StoreUnavailable
from gateway.payouts.model import Change, Payout, PayoutState
from gateway.store.kernel.poolers import Pooler, pooler_of
from gateway.store.kernel.prepared import BulkRow, PreparedExecution, Values, _Prepared
from tests.contract.stores.databases import both
from tests.world.store import open_store
from tests.world.stores.patience import LONG
from tests.world.stores.samples import ACCOUNT, NOW, attempt, change, payout
from tests.world.waiting import until

pytestmark = both

SENDING, UNKNOWN, NOT_SENT = PayoutState.SENDING, PayoutState.UNKNOWN, PayoutState.NOT_SENT
ACCEPTED, PAID, REJECTED = PayoutState.ACCEPTED, PayoutState.PAID, PayoutState.REJECTED
NOBODY = "00000000-0000-4000-8000-000000000000"


class Commits:
    """
    Counts the transactions of a store that end well or are undone, and can spoil them.

    A statement of payouts that stands alone is one: to ask for it is to ask for its commit.
    """

    def __init__(self, store: Store) -> None:
        self.engine = store.database.writer.sync_engine
        self.done = self.undone = 0
        self.asked: list[str] = []
        self._after = False
        self._loses: type[OSError] | None = None
        self._by_sqlalchemy = self.engine.dialect.do_commit
        self._run = PreparedExecution.run
        self.engine.dialect.do_commit = partial(self._commit, self._by_sqlalchemy)
        PreparedExecution.run = self._ask  # type: ignore[method-assign]
        event.listen(self.engine, "rollback", self._rollback)

    def lose(self, problem: type[OSError], *, after: bool) -> None:
        """Have every commit from now on fail, before it is done or after."""
        self._after, self._loses = after, problem

    def restore(self) -> None:
        self.engine.dialect.do_commit = self._by_sqlalchemy
        PreparedExecution.run = self._run  # type: ignore[method-assign]
        event.remove(self.engine, "rollback", self._rollback)

    def _commit(self, real: Callable[[Any], None], connection: object) -> None:
        with self._counted():
            real(connection)

    @property
    def _ask(self) -> Callable[..., Coroutine[object, object, object]]:
        async def ask(asked: PreparedExecution, text: str, given: Values, *, finds: bool) -> object:
            self.asked.append(text)
            if "payout_events" not in text:
                return await self._run(asked, text, given, finds=finds)
            with self._counted():
                return await self._run(asked, text, given, finds=finds)

        return ask

    @contextmanager
    def _counted(self) -> Iterator[None]:
        if self._loses and not self._after:
            raise self._loses
        yield
        self.done += 1
        if self._loses:
            raise self._loses

    def _rollback(self, connection: Connection) -> None:
        driver: Any = connection.connection.driver_connection
        self.undone += self.engine.dialect.name == "sqlite" and driver.in_transaction


def watching(store: Store, *poolers: Pooler) -> None:
    """Skip behind a pooler: the driver or its sessions are being watched."""
    found = pooler_of(make_url(store.url))
    if found in poolers:
        pytest.skip(f"nothing to watch behind a pooler of {found}s")


@pytest.fixture
async def commits(store: Store) -> AsyncIterator[Commits]:
    watching(store, "session")
    async with store.database.writing():
        pass  # from now on it has the dialect that it shares, see ``tests.world.statements``
    counted = Commits(store)
    yield counted
    counted.restore()


async def added(store: Store, *payouts: Payout) -> list[object]:
    """Add all at once; return the result or the error of each."""
    return await asyncio.gather(
        *(store.payouts.add(each, attempt()) for each in payouts), return_exceptions=True
    )


async def recorded(store: Store, *changes: Change) -> list[object]:
    return await asyncio.gather(
        *(store.payouts.record(each) for each in changes), return_exceptions=True
    )


@asynccontextmanager
async def failing_at_attempts(store: Store) -> AsyncIterator[None]:
    """Have a transaction fail when it comes to its first attempt, as with a store that is gone."""
    watching(store, "session", "transaction")
    engine = store.database.writer

    ask = _Prepared.values

    def lost(prepared: _Prepared, row: BulkRow) -> Values:
        if "payout_attempts" in prepared.text:
            raise ConnectionResetError
        return ask(prepared, row)

    def refused(action: int, table: str | None, *_rest: object) -> int:
        return SQLITE_DENY if (action, table) == (SQLITE_INSERT, "payout_attempts") else SQLITE_OK

    if engine.dialect.name == "sqlite":
        await authorized(engine, refused)
        yield
        await authorized(engine, None)
    else:
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(_Prepared, "values", lost)
            yield


async def authorized(engine: AsyncEngine, judge: Callable[..., int] | None) -> None:
    """Let SQLite ask this judge before it does anything."""
    async with engine.connect() as connection:
        driver = (await connection.get_raw_connection()).driver_connection
        await driver.set_authorizer(judge)


async def found(store: Store, reference: str) -> PayoutState | None:
    """The state of a payout."""
    row = await store.payouts.find(ACCOUNT, reference)
    return None if row is None else row.state


async def test_simultaneous_writes_share_one_transaction(store: Store, commits: Commits) -> None:
    names = [f"o-{number}" for number in range(40)]
    told = await added(store, *map(payout, names))
    done = await recorded(store, *(change(SENDING, ACCEPTED, reference=name) for name in names))

    assert told == [None] * 40
    assert done == [True] * 40
    assert commits.done == 2
    for name in names:
        row = await store.payouts.find(ACCOUNT, name)
        assert row == replace(payout(name), state=ACCEPTED, updated_at=change(SENDING, PAID).at)
        (only,) = await store.payouts.attempts(ACCOUNT, name)
        assert only.outcome is ACCEPTED


@pytest.mark.parametrize(
    "wrong",
    [
        replace(payout("wrong"), provider_key=payout("there").provider_key),
        replace(payout("wrong"), account_id=NOBODY),
        replace(payout("wrong"), description="\ud800"),
        replace(payout("wrong"), created_at=NOW.replace(tzinfo=None)),
    ],
    ids=["provider key of another", "no such account", "no text", "no zone"],
)
async def test_a_row_the_database_refuses_fails_alone(store: Store, wrong: Payout) -> None:
    await store.payouts.add(payout("there"), attempt())

    told = await added(store, payout(), wrong, payout("order-2"))

    assert told[0] is told[2] is None
    assert isinstance(told[1], StoreUnavailable)
    assert await store.payouts.find(wrong.account_id, "wrong") is None
    assert await store.payouts.attempts(wrong.account_id, "wrong") == []


async def test_an_attempt_that_cannot_be_stored_fails_alone(store: Store) -> None:
    told = await asyncio.gather(
        store.payouts.add(payout(), replace(attempt(), trace_id="\ud800")),
        store.payouts.add(payout("order-2"), attempt()),
        return_exceptions=True,
    )

    assert isinstance(told[0], StoreUnavailable)
    assert told[1] is None
    assert [await found(store, each) for each in ("order-1", "order-2")] == [None, SENDING]


async def test_a_refused_intent_does_not_fail_another_payout_s_outcome(store: Store) -> None:
    await store.payouts.add(payout(), attempt())

    told = await asyncio.gather(
        store.payouts.add(replace(payout("wrong"), account_id=NOBODY), attempt()),
        store.payouts.record(change(SENDING, ACCEPTED)),
        return_exceptions=True,
    )

    assert isinstance(told[0], StoreUnavailable)
    assert told[1] is True
    assert await found(store, "order-1") is ACCEPTED


@pytest.mark.parametrize("number", [1, 3])
async def test_batches_of_payouts_and_outcomes_take_one_round_trip_each(
    store: Store, commits: Commits, number: int
) -> None:
    """A transaction would take three more: BEGIN, a second statement, and COMMIT."""
    if not store.database.commits_statements:
        pytest.skip("a file is no server")
    names = [f"o-{each}" for each in range(number)]
    await added(store, *map(payout, names))
    await recorded(store, *(change(SENDING, ACCEPTED, reference=name) for name in names))

    assert len(commits.asked) == commits.done == 2


@pytest.mark.parametrize("after", [False, True], ids=["not done", "done"])
@pytest.mark.parametrize("lost", [ConnectionResetError, TimeoutError], ids=["cut", "late"])
async def test_a_lost_commit_fails_every_caller_and_is_not_retried(
    store: Store, commits: Commits, lost: type[OSError], after: bool
) -> None:
    """Whether it was made is unknown, and a second try could find its own row."""
    commits.lose(lost, after=after)

    told = await added(store, payout(), payout("order-2"))

    assert all(isinstance(each, StoreUnavailable) for each in told)
    assert commits.done == after
    stored = SENDING if after else None
    assert [await found(store, each) for each in ("order-1", "order-2")] == [stored, stored]


@pytest.mark.parametrize("after", [False, True], ids=["not done", "done"])
@pytest.mark.parametrize("lost", [ConnectionResetError, TimeoutError], ids=["cut", "late"])
async def test_steps_whose_commit_is_lost_are_not_retried(
    store: Store, commits: Commits, lost: type[OSError], after: bool
) -> None:
    """A second try could find its own step, and report that another came first."""
    await added(store, payout(), payout("order-2"))
    before = commits.done
    commits.lose(lost, after=after)

    told = await recorded(store, change(SENDING, PAID), change(SENDING, PAID, reference="order-2"))

    assert all(isinstance(each, StoreUnavailable) for each in told)
    assert commits.done == before + after
    stands = PAID if after else SENDING
    assert [await found(store, each) for each in ("order-1", "order-2")] == [stands, stands]


async def test_a_store_failure_during_a_batch_fails_all_of_it_without_a_retry(
    store: Store, commits: Commits
) -> None:
    """A failure that no single row can cause is not tried row by row."""
    async with failing_at_attempts(store):
        told = await added(store, payout(), payout("order-2"), payout("order-3"))

    assert all(isinstance(each, StoreUnavailable) for each in told)
    # One statement that stands alone was not sent: there is nothing to undo.
    assert (commits.done, commits.undone) == (0, not store.database.commits_statements)
    assert await found(store, "order-1") is None
    assert await added(store, payout(), payout("order-2")) == [None, None]


async def test_batches_of_two_nodes_in_opposite_order_never_deadlock(
    store: Store,
) -> None:
    """A deadlock would cost a second, and one of them its work."""
    watching(store, "transaction")  # whose sessions outlive our connections
    before = await rings(store, await sessions(store))
    first, second = open_store(store.url, LONG), open_store(store.url, LONG)
    there = await sessions(store)
    for turn in range(10):
        names = [f"{turn}-{number}" for number in range(12)]
        one, other = await asyncio.gather(
            added(first, *map(payout, names)), added(second, *map(payout, reversed(names)))
        )
        done, late = await asyncio.gather(
            recorded(first, *(change(SENDING, PAID, reference=name) for name in names)),
            recorded(
                second, *(change(SENDING, REJECTED, reference=name) for name in reversed(names))
            ),
        )

        wins = [
            (mine is None) + (theirs is None) for mine, theirs in zip(one, other[::-1], strict=True)
        ]
        assert wins == [1] * 12
        assert [mine + theirs for mine, theirs in zip(done, late[::-1], strict=True)] == [1] * 12
    await asyncio.gather(first.close(), second.close())
    assert await rings(store, there) == before


async def sessions(store: Store) -> int:
    if store.url.startswith("sqlite"):
        return 0
    async with store.database.reading() as connection:
        counted = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
        return int((await connection.execute(text(counted))).scalar_one())


async def rings(store: Store, there: int) -> int:
    """Count the rings of waiting transactions that the server has broken; a file has none."""
    if store.url.startswith("sqlite"):
        return 0

    async def ended() -> bool:
        return await sessions(store) <= there

    # A session adds what it has counted when it ends.
    await until(ended)
    async with store.database.reading() as connection:
        counted = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
        return int((await connection.execute(text(counted))).scalar_one())
