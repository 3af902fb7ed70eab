"""Lists of a bank, read completely: banks report no total."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from datetime import datetime
from functools import partial
from typing import TypeVar

from gateway.banks.connections import offered
from gateway.banks.port.capabilities import PortCall
from gateway.banks.port.providers import BadReply, Bank, Page
from gateway.banks.port.refunds import IncomingPayment, Refund
from gateway.core.windows import Listed, Paging, Window

Item = TypeVar("Item")

# A list that never ends is a fault of the bank, not a reason to fill our memory: an account with
# a thousand movements a day has 90,000 in the longest window.
MOST_ITEMS = 100_000
# As many items in pages of twenty, the smallest page that a bank may reasonably have.
_MOST_PAGES = 5_000
_ENDLESS = "endless_list"


async def walked(
    read: Callable[[str | None], Awaitable[Page[Item]]], most_pages: int = _MOST_PAGES
) -> AsyncIterator[Page[Item]]:
    """
    Iterate over a bank's pages by cursor, None first.

    Raises:
        ProviderError: the bank gave no usable answer; ``BadReply`` after ``most_pages``, or
            when the next page is the page before.
    """
    cursor: str | None = None
    for _ in range(most_pages):
        page = await read(cursor)
        yield page
        before, cursor = cursor, page.next_cursor
        if cursor is None:
            return
        if cursor == before:
            break
    raise BadReply(_ENDLESS)


async def every(read: Callable[[str | None], Awaitable[Page[Item]]]) -> list[Item]:
    """
    Read every item of a bank's pages.

    Raises:
        ProviderError: as ``walked``; ``BadReply`` for a list of more than 100,000 items too.
    """
    items: list[Item] = []
    async for page in walked(read):
        items += page.items
        if page.next_cursor is not None and len(items) >= MOST_ITEMS:
            raise BadReply(_ENDLESS)
    return items


async def within(
    window: Window,
    read: Callable[[Window, str | None], Awaitable[Page[Item]]],
    at: Callable[[Item], datetime],
) -> list[Item]:
    """
    Read every item of a window, newest first; ``read`` takes UTC days and a cursor.

    Days of Brasilia are read as the UTC days they touch, and items outside are dropped.

    Raises:
        ProviderError: as ``every``.
    """
    found: list[Item] = []
    for days in window.utc_days():
        found += await every(partial(read, days))
    inside = [each for each in found if window.start <= at(each) < window.end]
    return sorted(inside, key=at, reverse=True)


async def received_within(bank: Bank, window: Window) -> list[IncomingPayment]:
    """Read the payments received in a window, newest first; raises as ``within``."""
    size = bank.adapter.capabilities.largest_page
    read = offered(bank, PortCall.LIST_RECEIVED).list_received
    return await within(
        window,
        lambda days, cursor: read(bank.account, days, cursor, size),
        lambda each: each.paid_at,
    )


async def refunds_within(bank: Bank, window: Window) -> list[Refund]:
    """Read the refunds ordered in a window, newest first; raises as ``within``."""
    size = bank.adapter.capabilities.largest_page
    read = offered(bank, PortCall.LIST_REFUNDS).list_refunds
    return await within(
        window,
        lambda days, cursor: read(bank.account, days, cursor, size),
        lambda each: each.created_at,
    )


def listed(items: Sequence[Item], paging: Paging) -> Listed[Item]:
    """Cut a page out of a complete list."""
    page = items[paging.offset : paging.offset + paging.limit]
    return Listed(items=page, paging=paging, total=len(items))
