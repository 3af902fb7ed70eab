"""Calls that wait for events: woken by one look for all, counted by credential, ended by a stop."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import cast

import pytest

from gateway.core.errors import ServiceError
from gateway.core.waiting import unmeasured_wait
from gateway.events.store import EventRecords
from gateway.events.waiting import Waits
from tests.world.leaping import leaping

ONE, OTHER = "account-1", "account-2"


class Feeds:
    """How far feeds reach, and each look at them."""

    def __init__(self) -> None:
        self.reach: dict[str, int] = {}
        self.looks: list[set[str]] = []

    async def ends(self, account_ids: Collection[str]) -> Mapping[str, int]:
        self.looks.append(set(account_ids))
        return {each: self.reach[each] for each in account_ids if each in self.reach}


def waits_on(feeds: Feeds) -> Waits:
    return Waits(cast("EventRecords", feeds), time.monotonic)


async def wait(waits: Waits, account_id: str = ONE, position: int = 0, for_s: float = 25) -> bool:
    return await waits.news(account_id, position, time.monotonic() + for_s)


@leaping
async def test_calls_are_woken_by_events_behind_their_position():
    feeds = Feeds()
    waits = waits_on(feeds)
    behind, there = asyncio.create_task(wait(waits)), asyncio.create_task(wait(waits, position=1))
    other = asyncio.create_task(wait(waits, OTHER))
    await asyncio.sleep(0)
    feeds.reach[ONE] = 1

    await waits.turn()
    await asyncio.sleep(0.1)

    assert behind.done()
    assert behind.result() is True
    assert not there.done()
    assert not other.done()
    assert feeds.looks == [{ONE, OTHER}]
    assert await there is False
    assert await other is False


@leaping
async def test_a_wait_ends_at_its_time():
    waits, began = waits_on(Feeds()), time.monotonic()

    assert await wait(waits, for_s=7) is False

    assert round(time.monotonic() - began) == 7
    assert await wait(waits, for_s=0) is False


@leaping
async def test_the_store_is_not_read_while_no_call_waits():
    feeds = Feeds()
    waits = waits_on(feeds)
    await wait(waits, for_s=1)

    await waits.turn()

    assert feeds.looks == []


@leaping
async def test_a_stop_ends_all_waits_and_lets_nobody_wait_again():
    waits, began = waits_on(Feeds()), time.monotonic()
    held = [asyncio.create_task(wait(waits, each)) for each in (ONE, OTHER)]
    await asyncio.sleep(0)

    waits.end()

    assert [await each for each in held] == [False, False]
    assert await wait(waits) is False
    assert round(time.monotonic() - began) == 0


@leaping
async def test_four_calls_of_a_credential_wait_and_the_next_gets_retry_after():
    waits = waits_on(Feeds())
    with waits.place("cli_a", 25), waits.place("cli_a", 7), waits.place("cli_a", 25):
        with waits.place("cli_a", 25):
            with pytest.raises(ServiceError) as refused, waits.place("cli_a", 25):
                pass
            with waits.place("cli_b", 25):
                pass

        with waits.place("cli_a", 25) as until:
            assert round(until - time.monotonic()) == 25

    assert refused.value.error.code == "SVC.GTW.005"
    assert refused.value.headers == {"Retry-After": "7"}


@leaping
async def test_a_call_waits_in_the_block_that_its_request_gives():
    waits, steps = waits_on(Feeds()), list[str]()

    @contextmanager
    def standing() -> Iterator[None]:
        steps.append("waits")
        try:
            yield
        finally:
            steps.append("back")

    unmeasured_wait.set(standing)

    assert await wait(waits, for_s=1) is False

    assert steps == ["waits", "back"]
