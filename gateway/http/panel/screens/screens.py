"""Every page of the panel, by the part it belongs to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from gateway.http.panel.pages.calls import RowCalls
from gateway.http.panel.pages.page import Page
from gateway.http.panel.screens.money import (
    new_payout,
    payout,
    payouts,
    search,
    unresolved,
)

_PARTS: Final[Sequence[Callable[[RowCalls], Sequence[Page]]]] = (
    payouts.pages,
    new_payout.pages,
    payout.pages,
    unresolved.pages,
    search.pages,
)


def member_pages(rows: RowCalls) -> Sequence[Page]:
    """Return the pages behind the sign-in."""
    return [page for part in _PARTS for page in part(rows)]
