"""The bank's lists: items are skipped, and each page says whether there are more."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeVar

import msgspec
from gateway.banks.port.providers import Page
from provider_adapters.kit.paging import number_of, skipped, unrepeated

Item = TypeVar("Item")

LARGEST_PAGE: Final = 100
"""Items in a page at most. TODO: the bank's, with its source."""


class Listing(msgspec.Struct, frozen=True, kw_only=True):
    """What every list says beside its items."""

    more: bool


def query(cursor: str | None, limit: int) -> dict[str, str]:
    """Ask for a page."""
    return {
        "skip": str(number_of(cursor)),
        "limit": str(min(max(limit, 1), LARGEST_PAGE)),
    }


def page(
    items: Sequence[Item], cursor: str | None, listing: Listing, name: Callable[[Item], str]
) -> Page[Item]:
    """Make a page of what came, newest first; ``name`` tells an item from every other."""
    return unrepeated(skipped(items, cursor, more=listing.more), cursor, name)
