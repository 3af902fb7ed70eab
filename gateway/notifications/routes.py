"""Chats in the back office."""

from __future__ import annotations

from gateway.http.route import OK
from gateway.http.routing import ABSENT, CHANGED, REFUSED, Routes
from gateway.notifications.searches import CHATS
from gateway.notifications.service import Chats


def routes(chats: Chats) -> Routes:
    """Return the routes."""
    office, one = Routes(), "/chats/{chat_id}"
    office.get("/chats", "chats", chats.page, takes={"wanted": CHATS})
    office.post("/chats", "chat_add", chats.add, raises=REFUSED)
    office.post(f"{one}/try", "chat_try", chats.send_test, status=OK, raises=CHANGED)
    office.delete(one, "chat_remove", chats.remove, raises=ABSENT)
    return office
