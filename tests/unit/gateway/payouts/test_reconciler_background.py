"""The reconciler in the background: it goes on after failures, and stops at once."""

import asyncio
import logging
from collections.abc import AsyncIterator

import pytest

from gateway.banks.port.providers import Unavailable
from gateway.core.storage import StoreUnavailable
from tests.unit.gateway.payouts.reconciler import ReconcilerWorld, stood
from tests.world.payouts import PAID, UNKNOWN, PayoutWorld
from tests.world.waiting import forever, settle, until


@pytest.fixture
def reconciler_world(payout_world: PayoutWorld) -> ReconcilerWorld:
    payout_world.bank.reads["statement"] = {None: Unavailable("down")}
    return ReconcilerWorld(payout_world)


@pytest.fixture
async def started(reconciler_world: ReconcilerWorld) -> AsyncIterator[ReconcilerWorld]:
    reconciler_world.reconciler.task.start()
    yield reconciler_world
    await reconciler_world.reconciler.task.stop()


async def test_a_run_without_the_store_is_repeated(
    started: ReconcilerWorld, caplog: pytest.LogCaptureFixture
):
    """And reported in one line for each run."""
    started.board.fails = True
    await until(lambda: "the store does not answer" in caplog.text)

    started.board.fails = False
    started.board.waiting = [stood(PAID)]
    await until(lambda: started.board.looks)

    assert len(started.board.looks) == 1
    assert set(started.slept) == {1.0}
    assert "Traceback" not in caplog.text


async def test_starting_the_task_twice_starts_it_once(reconciler_world: ReconcilerWorld):
    reconciler_world.rests = True
    reconciler_world.reconciler.task.start()
    reconciler_world.reconciler.task.start()
    await until(lambda: reconciler_world.slept)
    await settle(50)

    claims = reconciler_world.board.claims
    await reconciler_world.reconciler.task.stop()

    assert claims == 1


async def test_an_unexpected_error_does_not_end_the_task(
    reconciler_world: ReconcilerWorld, caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.ERROR)
    reconciler_world.told = None  # type: ignore[assignment]
    reconciler_world.reconciler.task.start()
    await until(lambda: reconciler_world.board.claims > 1)
    await reconciler_world.reconciler.task.stop()

    assert "failed: unsettled payouts" in caplog.text


async def test_the_task_stops_during_a_failing_run(
    reconciler_world: ReconcilerWorld,
):
    """A failing task group swallows a cancellation that arrives while it ends."""
    asking = asyncio.Event()

    async def ends_slowly() -> int:
        async with asyncio.TaskGroup() as group:
            group.create_task(slowly(asking))
            group.create_task(failing())
        return 0

    reconciler_world.reconciler.task._run_once = ends_slowly
    reconciler_world.reconciler.task.start()
    await asking.wait()

    await reconciler_world.reconciler.task.stop()


async def slowly(asking: asyncio.Event) -> None:
    try:
        await forever()
    except asyncio.CancelledError:
        asking.set()
        await settle()
        raise


async def failing() -> None:
    message = "away"
    raise StoreUnavailable(message)


async def test_stopping_cancels_a_query(reconciler_world: ReconcilerWorld):
    """Its claim expires; nothing is recorded that was not seen."""
    reconciler_world.board.waiting = [stood(UNKNOWN)]
    reconciler_world.payout_world.bank.gate.clear()
    reconciler_world.reconciler.task.start()
    await until(lambda: len(reconciler_world.payout_world.bank.lookups) == 1)

    await reconciler_world.reconciler.task.stop()
    await reconciler_world.reconciler.task.stop()

    assert reconciler_world.board.looks == []
