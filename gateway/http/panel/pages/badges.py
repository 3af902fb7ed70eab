"""Counts of waiting work, shown beside the entries of the side column."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct
from msgspec.structs import asdict

from gateway.core.access import Staff, StaffOf
from gateway.core.sessions import SignedInUser
from gateway.http.panel.pages.kit import part
from gateway.http.panel.pages.visit import Visit

_KEPT_FOR: Final = timedelta(seconds=5)
"""As often as a page that is looked at asks again; the lists themselves are never older."""
_MOST: Final = 256
"""People with their rights. More than that are counted again."""

Kind = tuple[str, frozenset[str], frozenset[str]]


async def counted(asked: Awaitable[Struct]) -> Mapping[str, int]:
    """Return the counts by name; none if unavailable."""
    found = await part(asked)
    return asdict(found.data) if found.data else {}


@dataclass(frozen=True, slots=True)
class Badges:
    """
    Counts per user, cached, since each page would cost one more query.

    Attributes:
        staff: Converts the signed-in user to the actor.
        count: Counts a user's waiting work.
    """

    staff: StaffOf
    count: Callable[[Staff], Awaitable[Struct]]
    _known: dict[Kind, tuple[datetime, Mapping[str, int]]] = field(default_factory=dict)

    async def of(self, visit: Visit) -> Mapping[str, int]:
        """Return the counts for a whole page; none for a part, or if unavailable."""
        if visit.person is None or visit.is_partial:
            return {}
        kind = _kind(visit.person)
        at, counts = self._known.get(kind, (None, {}))
        if at is None or self.staff.now() - at > _KEPT_FOR:
            counts = await counted(self.count(self.staff(visit.person)))
            self._keep(kind, counts)
        return counts

    def last(self, visit: Visit) -> Mapping[str, int]:
        """Return the last counts, for a page that counts nothing itself."""
        if visit.person is None or visit.is_partial:
            return {}
        kind = _kind(visit.person)
        return self._known.get(kind, (None, {}))[1]

    def forget(self, visit: Visit) -> None:
        """Drop the counts of a user who has just changed something."""
        if visit.person is not None:
            self._known.pop(_kind(visit.person), None)

    def _keep(self, kind: Kind, counts: Mapping[str, int]) -> None:
        """Cache counts; the oldest are evicted."""
        self._known.pop(kind, None)
        self._known[kind] = self.staff.now(), counts
        if len(self._known) > _MOST:
            del self._known[next(iter(self._known))]


def _kind(person: SignedInUser) -> Kind:
    """Return the cache key of a user's counts."""
    return person.user_id, person.companies, frozenset(person.roles)
