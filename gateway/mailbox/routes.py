"""The sandbox's mail in the back office."""

from __future__ import annotations

from gateway.http.routing import Routes
from gateway.mailbox.service import Mailbox


def routes(mailbox: Mailbox) -> Routes:
    """Return the routes."""
    office = Routes()
    office.get("/mailbox", "mailbox", mailbox.latest)
    return office
