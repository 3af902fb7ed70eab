"""The feed of events, an extension of the partners' interface."""

from __future__ import annotations

from typing import Final

from gateway.banks.failures import PARTNER_STORE_FAILS
from gateway.core.permissions import READS_EVENTS
from gateway.core.priority import Priority
from gateway.events.documents import events
from gateway.events.searches import FEED
from gateway.events.service import EventFeed
from gateway.http.routing import Routes

SURFACE: Final = "events"


def partner_routes(feed: EventFeed) -> Routes:
    """Return the routes of partners."""
    partner = Routes(SURFACE, quota="read", priority=Priority.PARTNERS, fails=PARTNER_STORE_FAILS)
    partner.get(
        "/account/{account_id}/events",
        "feed",
        feed.read,
        takes={"wanted": FEED},
        shows=events,
        needs=READS_EVENTS,
        waits=True,
    )
    return partner
