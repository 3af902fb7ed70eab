"""What banks are called, by their numbers."""

from __future__ import annotations

from collections.abc import Mapping

from gateway.http.panel.pages.calls import RowCalls
from gateway.http.panel.pages.visit import Visit


async def bank_named(rows: RowCalls, visit: Visit, number: str) -> Mapping[str, str] | None:
    """Return the bank that one of its numbers names; None for one not listed."""
    if not number:
        return None
    found = await rows.section(visit, "backoffice.bank_numbers")
    listed = found.data["data"] if found.data else ()
    return next((each for each in listed if number in {each["compe"], each["ispb"]}), None)
