"""A partner who reads the feed of an account while servers are killed."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import aiohttp
import msgspec

from gateway.events.model import Cursor
from tests.proofs.events.world import World
from tests.proofs.torture.sites import Account

_LATER = frozenset({429, 500, 502, 503})
_PATIENCE = aiohttp.ClientTimeout(total=5)
_LONGEST_PAUSE_S = 0.5


@dataclass(slots=True)
class Reader:
    """
    Reads from its last cursor on, again after each failure.

    Attributes:
        seen: Every event, in the order in which it was read.
        cursor: To go on from.
        over: Ends the reading.
    """

    world: World
    account: Account
    seen: list[Mapping[str, Any]] = field(default_factory=list)
    cursor: str = ""
    over: asyncio.Event = field(default_factory=asyncio.Event)

    async def run(self) -> None:
        """Read until it is over."""
        chance = self.world.chance
        while not self.over.is_set():
            await self._read(chance.choice((1, 3, 25, 100)), chance.choice((0, 0, 1)))
            await asyncio.sleep(chance.uniform(0, _LONGEST_PAUSE_S))

    async def read_out(self) -> None:
        """Read to the end."""
        while not await self._read(100, 0):
            pass

    async def _read(self, limit: int, wait_s: int) -> bool:
        """Read a part; return whether it is the end."""
        world = self.world
        asked = {"limit": str(limit), "wait": str(wait_s)}
        if self.cursor:
            asked["after"] = self.cursor
        url = f"{world.serving()}/events/v1/account/{self.account.id}/events"
        header = {"Authorization": self.account.authorization}
        try:
            async with world.session.get(
                url, params=asked, headers=header, timeout=_PATIENCE
            ) as said:
                raw, status = await said.read(), said.status
        except (aiohttp.ClientError, TimeoutError, OSError):
            world.tally.others["reads lost"] += 1
            return False
        if status == 200:
            return self._take(msgspec.json.decode(raw), limit)
        world.tally.others[f"reads answered {status}"] += 1
        if status not in _LATER:
            world.tally.violations.append(f"the feed answered {status}: {raw[:200]!r}")
        return False

    def _take(self, part: Mapping[str, Any], limit: int) -> bool:
        """Keep a part; its cursor counts each event once."""
        self.seen += part["data"]
        self.cursor = part["next"]
        position = Cursor.parse(self.cursor).position
        if position != len(self.seen):
            self.world.tally.violations.append(
                f"{self.account.id}: {len(self.seen)} events read, and the cursor is at {position}"
            )
        self.world.tally.others["reads"] += 1
        return len(part["data"]) < limit
