"""
The watch over endpoints: pings of those that wait for one, mail about failures, and pauses.

One worker does it for all.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from gateway.core.clocks import Now
from gateway.deliveries.model import PING, Delivery, new_delivery_id
from gateway.deliveries.schedule import GIVEN_UP_AFTER
from gateway.deliveries.store import DeliveryRecords
from gateway.endpoints.model import Endpoint, EndpointState, PauseCause
from gateway.endpoints.notices import EndpointNews, EndpointNotice
from gateway.endpoints.store import EndpointRecords
from gateway.events.model import new_event_id
from gateway.security.secrets import Random

EVERY_S: Final = 5.0
_HOUR: Final = timedelta(hours=1)
_MAILED_H: Final = (24, 1)
"""Hours of failure that mail tells; the pause is told as 72."""
_PAUSED_H: Final = 72


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointWatch:
    """
    The state of endpoints between deliveries.

    Attributes:
        tell: Mails the company that deliveries fail, or that they are paused; raises nothing.
    """

    records: DeliveryRecords
    endpoints: EndpointRecords
    now: Now
    random: Random
    tell: Callable[[EndpointNotice], Awaitable[None]]

    async def turn(self) -> None:
        """
        Look once; safe to repeat.

        Raises:
            StoreUnavailable: the next turn does the rest.
        """
        for each in await self.records.unpinged():
            await self.records.add_ping(new_ping(each, self.now(), self.random))
        for each in await self.records.failing():
            await self._follow(each)

    async def _follow(self, endpoint: Endpoint) -> None:
        """Pause an endpoint that failed for too long; mail what was not mailed yet."""
        now = self.now()
        failed_for = now - (endpoint.failing_since or now)
        is_paused = endpoint.state is EndpointState.PAUSED
        if not is_paused and failed_for >= GIVEN_UP_AFTER:
            is_paused = await self.endpoints.pause(endpoint, PauseCause.GAVE_UP, now)
        hours = _PAUSED_H if is_paused else _hours(failed_for)
        if hours > endpoint.mailed_h and await self.endpoints.note_mail(endpoint, hours):
            news = EndpointNews.PAUSED if is_paused else EndpointNews.FAILING
            await self.tell(EndpointNotice(news=news, endpoint=endpoint))


def new_ping(endpoint: Endpoint, at: datetime, random: Random) -> Delivery:
    """Make a ping of an endpoint."""
    return Delivery(
        id=new_delivery_id(random),
        endpoint_id=endpoint.id,
        company_id=endpoint.company_id,
        is_ping=True,
        event_id=new_event_id(random),
        type=PING,
        at=at,
        next_at=at,
    )


def _hours(failed_for: timedelta) -> int:
    """Return the hours of a failure to name in a mail; 0 for a short failure."""
    return next((each for each in _MAILED_H if failed_for >= each * _HOUR), 0)
