"""Brings HAProxy's map into force: the file, then each running proxy."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import Self

from gateway.cells.haproxy import replace_map
from gateway.cells.model import Cells
from gateway.cells.routing import Claims, locked, map_of, read_map, replace_file, written


class MapWriter:
    """
    Writes the map as the databases of the cells are; safe to repeat.

    While a company is held no other process writes it.
    """

    def __init__(self, known: Cells, claims: Callable[[], Awaitable[Sequence[Claims]]]) -> None:
        """Write the map of these cells from what ``claims`` reads."""
        self._known = known
        self._claims = claims
        self._lock = ExitStack()
        self._is_held = False

    def __enter__(self) -> Self:
        """Hold nothing yet."""
        return self

    def __exit__(self, *_: object) -> None:
        self._lock.close()

    async def hold(self, company: str) -> None:
        """Lead a company's requests to no server until the map is written again."""
        self._lock.enter_context(locked(self._known.map))
        self._is_held = True
        await self._replace(company)

    async def write(self) -> Mapping[str, str]:
        """
        Write the map; return its entries.

        Raises:
            RuleViolation: two cells claim one key, and nothing is written; or a proxy does not
                take the map, and goes on with its former one.
            StoreUnavailable: a cell's database does not answer, and nothing is written.
        """
        if not self._is_held:
            self._lock.enter_context(locked(self._known.map))
        try:
            return await self._replace()
        finally:
            self._lock.close()
            self._is_held = False

    async def compare(self) -> int:
        """Return how many keys lead elsewhere than in the file."""
        entries, former = map_of(await self._claims()), read_map(self._known.map)
        return sum(entries.get(key) != former.get(key) for key in entries.keys() | former.keys())

    async def _replace(self, held: str = "") -> Mapping[str, str]:
        entries = map_of(await self._claims(), held)
        replace_file(self._known.map, written(entries))
        for socket in self._known.sockets:
            await replace_map(socket, self._known.map, entries)
        return entries
