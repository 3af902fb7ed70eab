"""Look-ups of the store on the way of a request: bounded in time, and watched."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from gateway.domain.kernel.storage import StoreUnavailable
from gateway.telemetry.ports import Gauge, Show

Key = TypeVar("Key")
Record = TypeVar("Record")


def within(
    seconds: float, load: Callable[[Key], Coroutine[Any, Any, Record | None]]
) -> Callable[[Key], Awaitable[Record | None]]:
    """
    Bound a look-up in time; too slow is ``StoreUnavailable`` like every other failure.

    A look-up that is given up is cancelled and not waited for: a driver may take
    seconds to let go of a server that is silent.
    """
    given_up: set[asyncio.Task[Record | None]] = set()

    def ended(task: asyncio.Task[Record | None]) -> None:
        given_up.discard(task)
        if not task.cancelled():
            task.exception()

    async def bounded(key: Key) -> Record | None:
        task = asyncio.create_task(load(key))  # noqa: TID251 - awaited here, or cancelled and kept
        try:
            done, _ = await asyncio.wait({task}, timeout=seconds)
        finally:
            if not task.done():
                given_up.add(task)
                task.add_done_callback(ended)
                task.cancel()
        if not done:
            raise StoreUnavailable(load.__qualname__)
        return task.result()

    return bounded


def watched(
    load: Callable[[str], Awaitable[Record | None]], show: Show
) -> Callable[[str], Awaitable[Record | None]]:
    """Show whether the credential store answered the last time it was asked."""

    async def watched_load(key: str) -> Record | None:
        try:
            found = await load(key)
        except StoreUnavailable:
            show(Gauge.CREDENTIAL_STORE_UP, 0)
            raise
        show(Gauge.CREDENTIAL_STORE_UP, 1)
        return found

    return watched_load
