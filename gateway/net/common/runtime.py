"""Clocks, randomness and sleep as parameters, so that tests control them."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from gateway.domain.kernel.clocks import Monotonic, Now

Failpoint = Callable[[str], None]
"""Called with the name of a point that a payout passes; it may end the process there."""


def utc_now() -> datetime:
    """Read the wall clock."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime:
    """
    What a client of a bank takes from outside.

    Attributes:
        random: Numbers from 0 up to 1. Spreads pauses; not fit for secrets.
        sleep: Waits that many seconds.
        on_certificate: Called with the end of our certificate's validity, whenever
            a certificate was read.
        failpoint: Only in tests that end the process at a given point.
    """

    clock: Monotonic = time.monotonic
    now: Now = utc_now
    random: Callable[[], float] = random.random
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    on_certificate: Callable[[datetime], None] | None = None
    failpoint: Failpoint | None = None
