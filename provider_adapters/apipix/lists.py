"""
Lists of API Pix: pages counted from 0, of items between two instants.

The standard promises no order. A list is asked for up to the moment its first page was, so that
new items during the walk move nothing from one page to the next.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, Generic, TypeVar

import msgspec

from gateway.banks.port.providers import Page, ProviderAccount, Reason
from gateway.core.windows import Window
from provider_adapters.apipix.access import Access, reading
from provider_adapters.apipix.documents import Pagina
from provider_adapters.apipix.profiles import LARGEST_PAGE
from provider_adapters.kit.times import milliseconds

Document = TypeVar("Document")
Item = TypeVar("Item")
Make = Callable[[Document], Iterable[Item]]
"""Makes what is wanted of one entry of a list: nothing, one thing, or several."""

_BESIDE: Final = " "
"""What follows in a cursor is ``unrepeated``'s."""
_STEP: Final = timedelta(milliseconds=1)
"""Banks tell instants to the millisecond."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Two instants; the end is outside."""

    start: datetime
    end: datetime

    def hold(self, at: datetime) -> bool:
        """Return whether an instant is between them."""
        return self.start <= at < self.end


class _Place(msgspec.Struct, array_like=True, frozen=True):
    """The position of a walk: the page, how many of its items were returned, and its end."""

    page: int
    taken: int
    end: datetime


_PLACE: Final = msgspec.json.Decoder(_Place)


@dataclass(frozen=True, slots=True, kw_only=True)
class PagedList(Generic[Document]):
    """
    One list of an account.

    Attributes:
        path: The full path of the list.
        decoder: The decoder of a page.
        moment: When an entry happened, as the bank filters.
        filters: Further fields of the query.
    """

    access: Access
    account: ProviderAccount
    operation: str
    path: str
    decoder: msgspec.json.Decoder[Pagina[Document]]
    moment: Callable[[Document], datetime]
    filters: Mapping[str, str] = field(default_factory=dict)

    async def page(
        self, limits: Limits, cursor: str | None, limit: int, make: Make[Document, Item]
    ) -> Page[Item]:
        """Read a page's items, at most ``limit``."""
        until = min(limits.end, _soon(self.access.now()))
        place = _PLACE.decode(cursor.partition(_BESIDE)[0]) if cursor else _Place(0, 0, until)
        within = Limits(limits.start, place.end)
        if within.start >= within.end:
            return Page(items=(), next_cursor=None)
        size = min(max(limit, 1), LARGEST_PAGE)
        query = self._query(within, place.page, size)
        request = self.access.request(self.account, self.operation, self.path, query)

        def shape(document: Pagina[Document]) -> Page[Item]:
            rows, pages = _rows(document), _pages(document, place.page, size)
            inside = (each for each in rows if within.hold(self.moment(each)))
            made = [item for each in inside for item in make(each)]
            given = made[place.taken : place.taken + limit]
            following = _after(place, len(given), len(made), pages)
            return Page(items=given, next_cursor=following)

        return await self.access.read(self.account, request, reading(self.decoder, shape))

    def _query(self, within: Limits, page: int, size: int) -> Mapping[str, str]:
        return {
            "inicio": milliseconds(within.start),
            "fim": milliseconds(within.end),
            **self.filters,
            "paginacao.paginaAtual": str(page),
            "paginacao.itensPorPagina": str(size),
        }


def limits_of(window: Window) -> Limits:
    """Return the instants of a window of days."""
    return Limits(window.start, window.end)


def _rows(document: Pagina[Document]) -> Sequence[Document]:
    """Return the rows of a page; raises ``ValueError`` for a document that is no page."""
    if document.pix is not msgspec.UNSET:
        return document.pix
    if document.parametros is None:
        raise ValueError(Reason.WRONG_SHAPE)
    return ()


def _pages(document: Pagina[Document], page: int, size: int) -> int:
    """Return how many pages there are; without the bank's word a full page may have a next."""
    if document.parametros is not None:
        return document.parametros.paginacao.pages
    return page + 2 if len(_rows(document)) >= size else page + 1


def _after(place: _Place, given: int, made: int, pages: int) -> str | None:
    """Return the position after a page: the same page if not all items were returned."""
    if place.taken + given < made:
        following = _Place(place.page, place.taken + given, place.end)
    elif place.page + 1 < pages:
        following = _Place(place.page + 1, 0, place.end)
    else:
        return None
    return msgspec.json.encode(following).decode()


def _soon(now: datetime) -> datetime:
    """Return the end of this millisecond: its events count."""
    return now.replace(microsecond=now.microsecond // 1000 * 1000) + _STEP
