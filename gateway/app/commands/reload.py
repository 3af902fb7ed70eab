"""SIGHUP: reads the configuration again and applies the settings that can change at runtime."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from gateway.app.assembly import Gateway, refuse_contradictions
from gateway.config.reading import ConfigError
from gateway.config.reloading import Reloading, reloaded
from gateway.config.settings import Settings
from gateway.core.audit_context import RuleViolation
from gateway.process.periodic_task import PeriodicTask, Schedule
from gateway.telemetry.metrics import series

_log = logging.getLogger("gateway")

_UNUSABLE = (ConfigError, RuleViolation, OSError, ValueError)


class Reload:
    """
    Reads the configuration again on request.

    A configuration that cannot be used changes nothing. Requests in flight keep their settings.

    Attributes:
        asked: Set to request a reload; several requests at once are one reload.
        settings: In force now.
    """

    def __init__(self, gateway: Gateway, read: Callable[[], Settings]) -> None:
        """Read with ``read``, which raises the errors of reading a configuration."""
        self.asked = asyncio.Event()
        self.settings = gateway.kernel.settings
        self._part = gateway.role.part
        self._takers = gateway.kernel.reloads
        self._read = read
        self._now = gateway.kernel.now
        self._values = gateway.telemetry.values
        self._show(successful=True)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Handle requests for the length of the block."""
        task = PeriodicTask("reload", self.run_once, Schedule(every_s=0.0))
        task.start()
        try:
            yield
        finally:
            await task.stop()

    async def run_once(self) -> None:
        """Wait for a request, then reload."""
        await self.asked.wait()
        self.asked.clear()
        try:
            fresh = await asyncio.to_thread(self._read)
            refuse_contradictions(fresh, self._part)
        except _UNUSABLE as problem:
            _log.error("SIGHUP: nothing was reloaded: %s", problem)
            self._show(successful=False)
            return
        self._take(reloaded(self.settings, fresh))
        self._show(successful=True)

    def _show(self, *, successful: bool) -> None:
        """Export when a configuration was last read, and whether it was usable."""
        self._values.child(series.RELOAD_AT).set(self._now().timestamp())
        self._values.child(series.RELOAD_SUCCESSFUL).set(successful)

    def _take(self, found: Reloading) -> None:
        """Apply a reload, and log the settings applied, at the more verbose of both levels."""
        self.settings = found.settings
        was_heard = _log.isEnabledFor(logging.WARNING)
        if was_heard:
            _say(found)
        if found.taken:
            for take in self._takers:
                take(found.settings)
        if not was_heard:
            _say(found)


def _say(found: Reloading) -> None:
    """Log the applied settings, and settings that need a restart."""
    if found.taken:
        _log.warning("SIGHUP: reloaded %s", ", ".join(found.taken))
    if found.left:
        _log.warning("SIGHUP: changed, and needs a restart: %s", ", ".join(found.left))
    if not (found.taken or found.left):
        _log.warning("SIGHUP: the configuration has not changed")
