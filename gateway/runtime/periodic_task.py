"""Work that is done now and then in the background, by one owner who ends it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final

from gateway.domain.kernel.storage import StoreUnavailable

_log = logging.getLogger(__name__)

_LAST_S: Final = 3.0


class Turning:
    """Does the same work again and again, from ``start`` to ``stop``."""

    def __init__(
        self,
        name: str,
        turn: Callable[[], Awaitable[object]],
        every_s: float,
        woken: asyncio.Event | None = None,
        *,
        last: bool = False,
    ) -> None:
        """
        Do nothing yet.

        Args:
            name: What the log calls the work.
            turn: Does it once.
            every_s: The longest between two turns.
            woken: Set by whoever wants the next turn at once.
            last: ``stop`` lets the turn under way end and has it done once more;
                False gives up what is under way.
        """
        self._name = name
        self._turn = turn
        self._every_s = every_s
        self._woken = woken or asyncio.Event()
        self._last = last
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin; begun twice is begun once."""
        if self._task is None:
            self._task = asyncio.create_task(self._run())  # noqa: TID251 - stop() ends it

    async def stop(self) -> None:
        """End; a last turn has a few seconds, since a store that is away keeps no process."""
        task, self._task = self._task, None
        if task is None:
            return
        if self._last:
            self._woken.set()
            await asyncio.wait([task], timeout=_LAST_S)
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task

    async def _run(self) -> None:
        """Turn until stopped."""
        while self._task is not None:
            self._woken.clear()
            await self._turned()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._woken.wait(), self._every_s)
        if self._last:
            await self._turned()

    async def _turned(self) -> None:
        """Turn once; what goes wrong is logged."""
        try:
            await self._turn()
        except StoreUnavailable:
            _log.warning("the store does not answer; later: %s", self._name)
        except Exception:  # noqa: BLE001 - a background loop: the next turn tries again
            _log.exception("failed: %s", self._name)
