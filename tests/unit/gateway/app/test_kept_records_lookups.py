"""Looking up credentials and accounts: bounded, and uses remembered."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

import pytest

from gateway.app.kept_records import watched, within
from gateway.core.storage import StoreUnavailable
from tests.world.leaping import leaping

AWAY = StoreUnavailable("ConnectionRefusedError")


@leaping
async def test_a_slow_look_up_is_cancelled():
    stopped: list[str] = []

    async def slow(key: str) -> str | None:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            stopped.append(key)
            raise
        return None

    with pytest.raises(StoreUnavailable, match="slow"):
        await within(0.01, slow)("a")
    await asyncio.sleep(0)

    assert stopped == ["a"]


@leaping
async def test_a_slow_read_that_was_cancelled_is_not_awaited():
    """A driver may take seconds to release a silent server."""
    let_go = asyncio.Event()

    async def stubborn(_key: str) -> str | None:
        try:
            await asyncio.sleep(60)
        finally:
            await let_go.wait()
            raise AWAY

    began = time.monotonic()
    with pytest.raises(StoreUnavailable, match="stubborn"):
        await within(0.01, stubborn)("a")
    took_s = time.monotonic() - began
    let_go.set()
    await asyncio.sleep(0.01)

    assert took_s < 0.1


@leaping
async def test_cancelling_a_caller_cancels_the_look_up():
    started, stopped = asyncio.Event(), asyncio.Event()

    async def slow(_key: str) -> str | None:
        started.set()
        try:
            await asyncio.sleep(60)
        finally:
            stopped.set()
        return None

    caller = asyncio.ensure_future(within(60, slow)("a"))
    await started.wait()
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller

    await stopped.wait()


@leaping
async def test_the_availability_of_the_credential_store_is_exported():
    shown: list[tuple[str, float]] = []

    def show(figure: str, value: float) -> None:
        shown.append((figure, value))

    async def answered(keys: Sequence[str]) -> Sequence[str]:
        return keys

    async def refused(_keys: Sequence[str]) -> Sequence[str]:
        raise AWAY

    async def silent(_keys: Sequence[str]) -> Sequence[str]:
        await asyncio.sleep(60)
        return ()

    await watched(answered, show)(["a"])
    with pytest.raises(StoreUnavailable):
        await watched(refused, show)(["a"])
    await watched(answered, show)(["a"])
    with pytest.raises(StoreUnavailable):
        await within(0.01, watched(silent, show))(["a"])
    await asyncio.sleep(0)

    assert shown == [("credential_store_up", up) for up in (1, 0, 1, 0)]
