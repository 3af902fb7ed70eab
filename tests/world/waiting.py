"""
Waiting for a condition, in tests of sockets, threads and processes.

No limit here: pytest's own (``timeout`` in pyproject.toml) ends a test that waits for what never
comes, and shows where. A test that waits for a clock alone is ``@leaping`` instead.
"""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Callable
from typing import Any

_PAUSE_S = 0.005


async def until(condition: Callable[[], Any]) -> Any:
    """Wait until ``condition`` returns, or its awaitable gives, something true; return that."""
    while True:
        found = condition()
        if inspect.isawaitable(found):
            found = await found
        if found:
            return found
        await asyncio.sleep(_PAUSE_S)


def block_until(condition: Callable[[], object]) -> None:
    """Wait as ``until`` does, without a loop: for processes and threads."""
    while not condition():
        time.sleep(_PAUSE_S)


async def forever() -> None:
    """Wait until cancelled: a bank that never answers, a caller who never reads."""
    await asyncio.Event().wait()


async def settle(turns: int = 10) -> None:
    """Let other tasks of this loop run: all that need no socket, thread or clock."""
    for _ in range(turns):
        await asyncio.sleep(0)
