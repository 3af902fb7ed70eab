"""The regular check of the store: how often, and what follows from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy.ext.asyncio.engine import AsyncConnection

from gateway.core.storage import StoreUnavailable, WritesRefused
from gateway.telemetry.metrics import series
from tests.unit.gateway.app.checked_store import CheckedStore
from tests.world.metrics import shown


@dataclass
class Trials:
    """Trial writes, which succeed, or fail as a test says."""

    checked: CheckedStore
    problem: StoreUnavailable | None = None
    count: int = 0

    def __post_init__(self) -> None:
        check = self.checked.check
        database = replace(check.store.database, takes_writes=self._takes_writes)
        check.store = replace(check.store, database=database)

    async def _takes_writes(self, _connection: AsyncConnection) -> bool:
        self.count += 1
        if self.problem is not None:
            raise self.problem
        return True

    async def over(self, seconds: int) -> int:
        """Return how many trials there are while the check runs each second."""
        before = self.count
        for _ in range(seconds):
            await self.checked.check.run_once()
            self.checked.elapsed_s += 1
        return self.count - before


@pytest.fixture
async def trials(tmp_path: Path):
    found = Trials(CheckedStore(f"sqlite:///{tmp_path}/store.db"))
    yield found
    await found.checked.store.close()


async def test_a_healthy_store_is_tested_four_times_a_minute(trials: Trials):
    assert await trials.over(60) == 4


async def test_a_refusing_store_is_tested_each_second(trials: Trials):
    """So that payouts are accepted at once when there is room again."""
    trials.problem = WritesRefused()

    assert await trials.over(60) == 60


@pytest.mark.parametrize(
    ("problem", "refused", "writable"),
    [(None, False, 1), (WritesRefused(), True, 0), (StoreUnavailable(), False, 0)],
    ids=["well", "full", "away"],
)
async def test_a_full_or_read_only_store_refuses_payouts(
    trials: Trials, problem: StoreUnavailable | None, refused: bool, writable: int
):
    """A store that does not answer may only be slow: the insert itself decides."""
    trials.problem = problem

    await trials.over(1)

    written = shown(trials.checked.values, series.STORE_WRITABLE)
    assert (trials.checked.writes.are_refused, written) == (refused, writable)


async def test_payouts_continue_when_there_is_room_again(trials: Trials):
    trials.problem = WritesRefused()
    await trials.over(1)
    trials.problem = None
    await trials.over(1)

    assert not trials.checked.writes.are_refused


async def test_a_wrong_clock_is_exported_and_logged(
    postgres_url: str, caplog: pytest.LogCaptureFixture
):
    checked = CheckedStore(postgres_url)
    ahead: list[Callable[[float], bool]] = [lambda s: 6000 < s < 8000, lambda s: abs(s) < 600]
    seen = []
    for hours, expected in zip((2, 0), ahead, strict=True):
        checked.at = datetime.now(UTC) + timedelta(hours=hours)
        checked.elapsed_s += 15
        await checked.check.run_once()
        seen.append(expected(shown(checked.values, series.CLOCK_AHEAD)))
    await checked.store.close()

    assert seen == [True, True]
    words = [each.message.split()[0] for each in caplog.records]
    assert words == ["clock_out_of_step", "clock_in_step"]
