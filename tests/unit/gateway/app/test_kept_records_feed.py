"""Following the audit log: reported changes are dropped, and without the log nothing is trusted."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from gateway.app.kept_records import EVERY_S, PATIENCE_S, VALID_S, ChangeFeed, KeptRecords
from gateway.core.change_feed import Act, CacheValidity, Mark, News
from gateway.core.storage import StoreUnavailable
from tests.world import registers
from tests.world.standing import Clock
from tests.world.stores.kept_records import Watch, keep

REVOKED = Act("credential.revoked", "credential:cli_1")
START = Mark(7, b"h7")


@dataclass
class Log:
    """An audit log that is read a piece at a time, or not at all."""

    kept: KeptRecords
    clock: Clock
    watch: Watch
    pieces: list[News | None] = field(default_factory=list)
    marks: list[Mark | None] = field(default_factory=list)
    is_down: bool = False
    slow_s: float = 0.0

    def __post_init__(self) -> None:
        self.feed = ChangeFeed(self.read, self.kept, self.clock.monotonic)

    async def read(self, mark: Mark | None) -> News | None:
        self.marks.append(mark)
        self.clock.passes(self.slow_s)
        if self.is_down:
            raise StoreUnavailable
        if mark is None or not self.pieces:
            return News((), mark or START, is_all=True)
        return self.pieces.pop(0)

    def is_believed(self) -> bool:
        return self.clock.up_s < self.kept.validity.until


@pytest.fixture
async def log(tmp_path: Path) -> AsyncIterator[Log]:
    async with registers.opened(tmp_path) as office:
        watch = Watch()
        yield Log(keep(office, watch), Clock(), watch)


async def test_the_feed_starts_at_the_newest_event(log: Log):
    """Earlier changes are contained in every later read."""
    assert not log.is_believed()

    await log.feed.run_once()
    await log.feed.run_once()

    assert log.marks == [None, START]
    assert log.is_believed()


async def test_reported_changes_are_dropped_before_validity_is_extended(log: Log):
    """Also when it takes several batches."""
    await log.feed.run_once()
    await log.kept.credentials.find("cli_1")
    log.kept.validity.until = 0.0
    believed: list[float] = []
    watching = log.watch.count

    def count(event: str, label: str) -> None:
        believed.append(log.kept.validity.until)
        watching(event, label)

    log.watch.count = count  # type: ignore[method-assign] # to see the order
    object.__setattr__(log.kept, "count", count)
    log.pieces = [
        News([Act("user.changed", "user:1")], Mark(8, b"h8"), is_all=False),
        News([REVOKED], Mark(9, b"h9"), is_all=True),
    ]

    await log.feed.run_once()

    assert log.watch.forgotten() == ["feed.credential"]
    assert believed == [0.0]
    assert log.marks == [None, START, Mark(8, b"h8")]
    assert log.is_believed()


async def test_four_seconds_without_the_feed_invalidate_the_cache(log: Log):
    await log.feed.run_once()
    log.is_down = True

    believed = []
    for _ in range(4):
        log.clock.passes(1)
        await log.feed.run_once()
        believed.append(log.is_believed())
    log.is_down = False
    await log.feed.run_once()

    assert believed == [True, True, True, False]
    assert log.is_believed()


async def test_a_feed_that_gets_no_turn_loses_its_validity(log: Log):
    """Killed or stalled: the validity ends by itself."""
    await log.feed.run_once()

    log.clock.passes(VALID_S)

    assert not log.is_believed()


async def test_validity_starts_before_the_feed_is_read(log: Log):
    """A change during the read may be missing in its result."""
    log.slow_s = 1.0
    await log.feed.run_once()

    log.clock.passes(VALID_S - 1.0)

    assert not log.is_believed()


async def test_a_restarted_log_drops_every_record(log: Log, caplog: pytest.LogCaptureFixture):
    """After a restore of the store: its numbers are assigned a second time."""
    await log.feed.run_once()
    await log.kept.credentials.find("cli_1")
    log.pieces = [None]

    await log.feed.run_once()

    assert log.marks == [None, START, None]
    assert log.watch.forgotten() == ["restart.credential"]
    assert "change_feed_restarted" in caplog.text


async def test_the_loss_and_return_of_the_feed_are_logged_once(
    log: Log, caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.INFO)
    for is_down in (False, True, True, True, False, False):
        log.is_down = is_down
        await log.feed.run_once()

    assert [record.getMessage().partition(":")[0] for record in caplog.records] == [
        *("change_feed_lost", "change_feed_back")
    ]


async def test_the_age_of_a_stopped_feed_grows(log: Log):
    await log.feed.run_once()
    fresh = log.feed.age_s(), log.feed.is_believed()
    log.clock.passes(5)

    assert fresh == (0.0, True)
    assert (log.feed.age_s(), log.feed.is_believed()) == (5.0, False)


def test_the_feed_s_intervals_keep_changes_within_five_seconds():
    """Usually within a second, and within five when the feed stalls; a slow turn is tolerated."""
    assert EVERY_S < 1
    assert 2 * (PATIENCE_S + EVERY_S) <= VALID_S < 5
    assert CacheValidity().until < 0
