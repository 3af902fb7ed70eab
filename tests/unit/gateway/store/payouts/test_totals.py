"""What is remembered of days costs little, and never keeps anybody waiting."""

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import event

from gateway.domain.kernel.windows import Window
from gateway.store.engine import Store, open_store
from gateway.store.payouts.totals import WORTH, PayoutTotals
from tests.world.stores.samples import ACCOUNT, attempt, payout

DAY = datetime(2026, 3, 10, tzinfo=UTC)
WINDOW = Window(DAY.date(), DAY.date())


def statements(store: Store) -> list[str]:
    """What is asked of the store from now on."""
    asked: list[str] = []

    def note(_connection, _cursor, statement: str, *_rest: object) -> None:
        asked.append(statement)

    for engine in (store.database.reader, store.database.writer):
        event.listen(engine.sync_engine, "before_cursor_execute", note)
    return asked


@pytest.mark.parametrize(("walked", "asks"), [(WORTH - 1, False), (WORTH, True)])
async def test_a_short_walk_is_not_remembered(store: Store, walked: int, asks: bool) -> None:
    asked = statements(store)
    kept = PayoutTotals(store.database, lambda: DAY + timedelta(days=2))

    kept.walked(ACCOUNT, WINDOW, walked)
    await kept.close()

    assert bool(asked) is asks


async def test_what_is_remembered_is_not_announced_again(store: Store) -> None:
    kept = PayoutTotals(store.database, lambda: DAY + timedelta(days=2))
    await store.payouts.add(payout(created_at=DAY), attempt())
    await kept.remember(ACCOUNT, WINDOW)
    asked = statements(store)

    await kept.remember(ACCOUNT, WINDOW)

    assert [each.split()[0] for each in asked] == ["SELECT", "SELECT"]


async def test_a_store_that_is_away_fails_nobody(tmp_path_factory: pytest.TempPathFactory) -> None:
    """The answer was given before; whoever asks next tries again."""
    away = open_store(f"sqlite:///{tmp_path_factory.mktemp('away')}/store.db")
    kept = PayoutTotals(away.database, lambda: DAY)

    kept.walked(ACCOUNT, WINDOW, WORTH)
    await kept.close()

    assert kept._task is not None
    assert kept._task.exception() is None
    await away.close()
