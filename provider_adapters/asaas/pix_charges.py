"""
Charges of a statement that were paid by Pix: the bank's movements lack that.

The charges themselves do, and can be listed by the day of payment. Days are kept for a minute,
so that a walk through a statement lists each day once and not once for each page.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Final

from gateway.core.clocks import Monotonic

KEPT_S: Final = 60.0
"""Seconds: as long as the gateway keeps a statement that was walked."""
MOST_IDS: Final = 100_000
"""Kept at once, some 10 MiB."""
Paid = tuple[Mapping[str, date], bool]
"""Charges with their days of payment, and whether there are more."""
ReadDays = Callable[[tuple[date, date], int], Awaitable[Paid]]
"""Reads a page of the charges that were paid by Pix on these days, after so many others."""
_Day = tuple[str, date]


@dataclass(slots=True)
class PixCharges:
    """Charges paid by Pix, by account and day."""

    clock: Monotonic
    _days: dict[_Day, tuple[float, frozenset[str]]] = field(default_factory=dict)

    async def among(
        self, account_id: str, charges: Mapping[str, date], read: ReadDays
    ) -> Collection[str]:
        """
        Return the charges that were paid by Pix, of those given with their days.

        Raises:
            ProviderError: the bank gave no usable list.
        """
        fresh = self.clock() - KEPT_S
        wanted = {(account_id, day) for day in charges.values()}
        absent = [day for day in wanted if self._days.get(day, (fresh, ()))[0] <= fresh]
        if absent:
            await self._read(absent, read)
        return {
            charge
            for charge, day in charges.items()
            if charge in self._days.get((account_id, day), (0.0, frozenset[str]()))[1]
        }

    async def _read(self, absent: Collection[_Day], read: ReadDays) -> None:
        """List the days that are not known, and those between them."""
        (account_id, first), (_, last) = min(absent), max(absent)
        found: dict[_Day, set[str]] = {day: set() for day in absent}
        skip, goes_on = 0, True
        while goes_on:
            paid, goes_on = await read((first, last), skip)
            for charge, day in paid.items():
                found.setdefault((account_id, day), set()).add(charge)
            skip += len(paid)
        self._keep(found)

    def _keep(self, found: Mapping[_Day, set[str]]) -> None:
        """Cache the result, and drop the rest if it grows too large."""
        now = self.clock()
        kept = {day: each for day, each in self._days.items() if each[0] > now - KEPT_S}
        if sum(len(ids) for _, ids in kept.values()) > MOST_IDS:
            kept = {}
        self._days = kept | {day: (now, frozenset(ids)) for day, ids in found.items()}
