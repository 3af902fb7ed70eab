"""What a client takes from outside."""

from __future__ import annotations

import asyncio
import random
import time
from datetime import UTC

from gateway.net.common.runtime import Runtime, chance, utc_now


def test_the_wall_clock_is_aware_utc():
    assert utc_now().tzinfo is UTC


def test_the_clock_and_the_sleep_are_real_by_default():
    runtime = Runtime()

    assert (runtime.clock, runtime.sleep) == (time.monotonic, asyncio.sleep)
    assert 0 <= runtime.random() < 1


def test_chance_is_of_the_system_and_moves_nothing_that_others_share():
    """A property that is tested beside a running loop sees every draw of the shared generator."""
    shared = random.getstate()

    drawn = {chance() for _ in range(100)}

    assert random.getstate() == shared
    assert len(drawn) == 100
    assert all(0 <= each < 1 for each in drawn)
