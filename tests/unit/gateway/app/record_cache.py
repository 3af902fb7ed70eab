"""What several tests of the record cache share."""

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass, field
from math import inf

from gateway.app.record_cache import Lifetimes, RecordCache
from gateway.core.change_feed import Belief
from gateway.core.storage import StoreUnavailable

LONG = Lifetimes(found_s=60.0, absent_s=60.0, size=100)
ALWAYS = Belief(inf)


@dataclass
class Source:
    """A store of texts that can be slow, down, or told something else."""

    records: dict[str, str] = field(default_factory=lambda: {"a": "A", "b": "B"})
    loaded: list[str] = field(default_factory=list)
    seen: list[str] = field(default_factory=list)
    is_down: bool = False
    gate: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.gate.set()

    async def load(self, key: str) -> str | None:
        self.loaded.append(key)
        await self.gate.wait()
        if self.is_down:
            raise StoreUnavailable
        return self.records.get(key)

    def begin(self, key: str) -> asyncio.Future[str | None]:
        return asyncio.ensure_future(self.load(key))

    def cache(self, lifetimes: Lifetimes = LONG, belief: Belief = ALWAYS) -> RecordCache[str]:
        return RecordCache(lifetimes, self.begin, self.seen.append, belief)


async def settled(*waiting: Awaitable[str | None]) -> list[str | BaseException | None]:
    return await asyncio.gather(*waiting, return_exceptions=True)
