"""Callbacks: what banks told us unasked, and what came of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from gateway.domain.accounts.credentials import Action
from gateway.domain.backoffice.callbacks import CallbackState
from gateway.domain.bank.provider_callbacks import CallbackKind
from gateway.domain.identity.rights import Area, Right
from gateway.http.panel.pages.calls import RowCalls
from gateway.http.panel.pages.page import Page, Result, Shown
from gateway.http.panel.pages.visit import Visit

_READ: Final = Right(Area.WEBHOOK, Action.READ)
_FIND: Final = Right(Area.PAYOUT, Action.READ)
"""The subject of most callbacks is the key of a payout, which the search leads to."""
_LIMIT: Final = 25
_MOST: Final = 4000
"""Characters of a body that are shown: more than any bank sends of one event."""
_HIDDEN: Final = re.compile(
    # an address for mail: first, and from its very beginning, so that no text is read twice
    r"(?<![\w.+-])[\w.+-]++@[\w-]+\.[\w.-]+"
    r"|(?<!\d)\d{3}\.?\d{3}\.?\d{3}-?\d{2}(?!\d)"  # a CPF, or as many digits
    r"|(?<!\d)\+?55\d{10,11}(?!\d)",  # a telephone number
    re.ASCII,
)


@dataclass(frozen=True, slots=True)
class CallbackPages:
    """The callbacks that were proven."""

    rows: RowCalls

    async def list(self, visit: Visit) -> Result:
        """Show a page of callbacks, newest first."""
        asked = {name: visit.query(name) for name in ("provider", "kind", "state", "page")}
        found = await self.rows.ask(
            visit, "backoffice.webhooks", query={**asked, "limit": str(_LIMIT)}
        )
        data = found.data
        return Shown(
            template="operations/callbacks.html",
            part="operations/_callbacks.html",
            data={
                "asked": asked,
                "callbacks": [
                    {**each, "body": redacted(each["body"][:_MOST])} for each in data["data"]
                ],
                "kinds": [each.value for each in CallbackKind],
                "states": [each.value for each in CallbackState],
                "may_find": visit.may(_FIND),
                **_places(visit, data["meta"]),
            },
        )


def redacted(body: str) -> str:
    """Hide what names a person in a bank's own words: tax and telephone numbers, mail."""
    return _HIDDEN.sub("•••", body)


def _places(visit: Visit, meta: Any) -> dict[str, object]:  # noqa: ANN401 - a document
    """Return where the page lies, and the addresses of those beside it."""
    page, total = meta["page"], meta["total"]
    first, last = (page - 1) * meta["limit"] + 1, min(page * meta["limit"], total)
    return {
        "first": first,
        "last": last,
        "total": total,
        "newer": visit.with_query(page=str(page - 1)) if page > 1 else "",
        "older": visit.with_query(page=str(page + 1)) if last < total else "",
    }


def pages(rows: RowCalls) -> Sequence[Page]:
    """Return the page of callbacks."""
    return (
        Page(
            path="/callbacks",
            name="callbacks",
            summary="Show the callbacks of banks, newest first.",
            shows=CallbackPages(rows).list,
            needs=_READ,
        ),
    )
