"""What waits for somebody, counted beside the entries of the side column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from gateway.http.panel.pages.calls import RowCalls
from gateway.http.panel.pages.visit import Visit

_KEPT_FOR: Final = timedelta(seconds=5)
"""As often as a page that is looked at asks again; the lists themselves are never older."""
_MOST: Final = 256
"""Kinds of people: a company limit with roles. More than that are counted again."""

Kind = tuple[frozenset[str], frozenset[str]]


@dataclass(frozen=True, slots=True)
class Badges:
    """Counts for people who see the same; each page would else cost one more query."""

    rows: RowCalls
    _known: dict[Kind, tuple[datetime, Mapping[str, int]]] = field(default_factory=dict)

    async def of(self, visit: Visit) -> Mapping[str, int]:
        """Return the counts for a whole page; none for a part of one, or where they cannot be."""
        if visit.person is None or visit.is_partial:
            return {}
        kind: Kind = visit.person.companies, frozenset(visit.person.roles)
        at, counts = self._known.get(kind, (None, {}))
        if at is None or self.rows.now() - at > _KEPT_FOR:
            told = await self.rows.section(visit, "backoffice.counts")
            counts = told.data or {}
            self._keep(kind, counts)
        return counts

    def last(self, visit: Visit) -> Mapping[str, int]:
        """Return what was counted last; for a page that counts nothing itself."""
        if visit.person is None or visit.is_partial:
            return {}
        kind: Kind = visit.person.companies, frozenset(visit.person.roles)
        return self._known.get(kind, (None, {}))[1]

    def _keep(self, kind: Kind, counts: Mapping[str, int]) -> None:
        """Remember counts; the oldest make room."""
        self._known.pop(kind, None)
        self._known[kind] = self.rows.now(), counts
        if len(self._known) > _MOST:
            del self._known[next(iter(self._known))]
