"""What a client takes from outside, so that tests can make it stand still."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from gateway.domain.kernel.clocks import Monotonic, Now


def utc_now() -> datetime:
    """Read the wall clock."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """
    Clocks, chance and waiting.

    Attributes:
        chance: Numbers from 0 up to 1; spreads pauses, keeps no secret.
        pause: Waits that many seconds.
        certified: Told when our certificate for the bank ends, whenever one was read.
        passing: A test's; see ``wire.halves``.
    """

    clock: Monotonic = time.monotonic
    now: Now = utc_now
    chance: Callable[[], float] = random.random
    pause: Callable[[float], Awaitable[None]] = asyncio.sleep
    certified: Callable[[datetime], None] | None = None
    passing: Callable[[str], None] | None = None
