"""Pages of callbacks and their processing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gateway.banks.port.provider_callbacks import CallbackKind
from gateway.callbacks.model import CallbackState, redacted
from gateway.callbacks.searches import SEARCH
from gateway.callbacks.service import Callbacks
from gateway.core.calls import RawRequest
from gateway.core.permissions import Action
from gateway.core.rights import Area, Right
from gateway.http.panel.pages.kit import PageContext, Pages
from gateway.http.panel.pages.page import Page, Result, Shown
from gateway.http.panel.pages.visit import Visit

_FIND: Final = Right(Area.PAYOUT, Action.READ)
"""The subject of most callbacks is the key of a payout, which the search leads to."""
_LIMIT: Final = "25"
_MOST: Final = 4000
"""Characters of a body that are shown: more than any bank sends of one event."""


def pages(callbacks: Callbacks, context: PageContext) -> Sequence[Page]:
    """Return the pages."""
    panel = Pages("/callbacks", context)

    @panel.view("", "callbacks", callbacks.search)
    async def listed(visit: Visit) -> Result:
        """Show the callbacks of banks, newest first."""
        asked = {name: visit.query(name) for name in ("provider", "kind", "state", "page")}
        query = {name: [value] for name, value in asked.items() if value} | {"limit": [_LIMIT]}
        wanted = SEARCH.read(RawRequest(path={}, query=query))
        who = panel.staff(visit)
        found = await callbacks.search(who, wanted)
        return Shown(
            template="operations/callbacks.html",
            part="operations/_callbacks.html",
            data={
                "asked": asked,
                "callbacks": found.items,
                "payouts": await callbacks.payouts(who, found.items),
                "shown": _shown,
                "kinds": [each.value for each in CallbackKind],
                "states": [each.value for each in CallbackState],
                "may_find": visit.may(_FIND),
                "paging": found.paging,
                "total": found.total,
            },
        )

    return panel.pages


def _shown(body: bytes) -> str:
    return redacted(body.decode("utf-8", "replace")[:_MOST])
