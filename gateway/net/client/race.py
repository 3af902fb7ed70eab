"""Several ways to a bank at once: the next starts a quarter of a second after the one before."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Final, TypeVar

NEXT_S: Final = 0.25
"""RFC 8305, section 5: "Connection Attempt Delay"; a bank in this country answers in a tenth."""

Found = TypeVar("Found")
Attempt = Callable[[], Coroutine[Any, Any, Found]]


async def first_to_succeed(attempts: Sequence[Attempt[Found]]) -> Found:
    """
    Return what the first attempt that succeeds returns; the others are cancelled.

    The next one starts when the one before has failed, or has taken a quarter of a second.
    What a second one returns in the same instant is dropped: whoever made it must end it.

    Raises:
        Exception: What the last to fail raised, when all have failed.
    """
    waiting = deque(attempts)
    running: set[asyncio.Task[Found]] = set()
    try:
        while True:
            if waiting:
                running.add(asyncio.create_task(waiting.popleft()()))  # noqa: TID251 - ended below
            done, running = await asyncio.wait(
                running,
                timeout=NEXT_S if waiting else None,
                return_when=asyncio.FIRST_COMPLETED,
            )
            good = [task for task in done if task.exception() is None]
            if good:
                return good[0].result()
            if done and not waiting and not running:
                return done.pop().result()
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
