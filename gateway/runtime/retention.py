"""What the back office has done in the background: looks, ends, and forgetting."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from gateway.domain.backoffice.callbacks import Callbacks
from gateway.domain.backoffice.request_log import RequestLog
from gateway.domain.kernel.clocks import Now
from gateway.operations.backoffice.approvals import Approvals
from gateway.operations.backoffice.callbacks import CallbackLooks
from gateway.runtime.gauges.store_gauges import AuditFigure, Figures
from gateway.runtime.periodic_task import Turning
from gateway.runtime.request_log_writer import RequestKeeper

KEPT: Final = timedelta(days=30)
"""How long the request log goes back."""
CALLBACKS_KEPT: Final = timedelta(days=90)

_SOON_S: Final = 1.0
_SCRAPE_S: Final = 15.0
"""No figure is older than a scrape or two."""
_MINUTE_S: Final = 60.0
_HOUR_S: Final = 3600.0


@dataclass(frozen=True, slots=True)
class Forgetting:
    """Forgets what was kept for long enough."""

    requests: RequestLog
    callbacks: Callbacks
    now: Now

    async def turn(self) -> int:
        """Forget; return how many things."""
        now = self.now()
        forgotten = await self.requests.forget(now - KEPT)
        return forgotten + await self.callbacks.forget(now - CALLBACKS_KEPT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chores:
    """
    What there is to do.

    Attributes:
        bell: Set when a callback has come.
    """

    looks: CallbackLooks
    bell: asyncio.Event
    keeper: RequestKeeper
    approvals: Approvals
    forgetting: Forgetting
    figures: Figures
    audit: AuditFigure

    def turnings(self) -> Sequence[Turning]:
        """Return what does it; each is started and stopped by whoever runs the process."""
        return (
            Turning("callbacks", self.looks.turn, _SOON_S, self.bell),
            Turning("request log", self.keeper.turn, _SOON_S, last=True),
            Turning("figures", self.figures.turn, _SCRAPE_S),
            Turning("audit", self.audit.turn, _HOUR_S),
            Turning("approvals", self.approvals.expire, _MINUTE_S),
            Turning("forgetting", self.forgetting.turn, _HOUR_S),
        )
