"""One field that finds everything: one hit opens itself, several are listed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gateway.http.panel.pages.calls import RowCalls
from gateway.http.panel.pages.page import Page, Redirect, Result, Shown
from gateway.http.panel.pages.visit import Visit, address
from gateway.http.panel.screens.money.payouts import READS


@dataclass(frozen=True, slots=True)
class SearchPages:
    """The search; what was typed may be a tax number, so the form is sent and not an address."""

    rows: RowCalls

    async def page(self, visit: Visit) -> Result:
        """Show the field, and what an address asks for that holds no tax number."""
        text = visit.form["q"] or visit.query("q")
        if not text or visit.problem is not None:
            return Shown(template="money/search.html", data={"text": text, "found": None})
        return await self._find(visit, text)

    async def find(self, visit: Visit) -> Result:
        """Find what was typed; an empty field shows the page again."""
        return await self.page(visit)

    async def _find(self, visit: Visit, text: str) -> Result:
        found = (await self.rows.ask(visit, "backoffice.search", body={"text": text})).data
        hits = list(_addresses(found))
        if len(hits) == 1:
            return Redirect(hits[0])
        if not hits and await self._is_trace(visit, text):
            return Redirect(address("/panel/trace/{trace_id}", trace_id=text))
        return Shown(template="money/search.html", data={"text": text, "found": found})

    async def _is_trace(self, visit: Visit, text: str) -> bool:
        """Say whether something is under this trace id: a refused request has no payout."""
        told = await self.rows.section(visit, "backoffice.trace", {"trace_id": text})
        return told.problem is None


def _addresses(found: Mapping[str, Any]) -> Sequence[str]:
    """Return where each hit is."""
    payout = "/panel/accounts/{account_id}/payouts/{reference}"
    return [
        *(
            address(payout, account_id=each["account_id"], reference=each["reference"])
            for each in found["payouts"]
        ),
        *(address("/panel/accounts/{id}", id=each["id"]) for each in found["accounts"]),
        *(address("/panel/credentials/{id}", id=each["id"]) for each in found["credentials"]),
    ]


def pages(rows: RowCalls) -> Sequence[Page]:
    """Return the page and its form."""
    shows = SearchPages(rows)
    return (
        Page(
            path="/search",
            name="search",
            summary="Find a payout, an account or a credential.",
            needs=READS,
            shows=shows.page,
        ),
        Page(
            path="/search",
            name="search_find",
            summary="Find what was typed.",
            needs=READS,
            shows=shows.page,
            does=shows.find,
        ),
    )
