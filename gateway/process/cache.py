"""A cache in this process's memory; the least recently used value is evicted first."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Final

from aiocache.backends.memory import SimpleMemoryCache
from aiocache.serializers import NullSerializer

# What a part costs beside its bytes: the object, and its place in a tuple.
_PART_BYTES: Final = 64


class MemoryCache:
    """
    Keeps values in memory; a ``Cache``.

    aiocache holds the values and ends their time. It has no bound, so sizes are counted here.
    """

    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes
        self._values = SimpleMemoryCache(serializer=NullSerializer(), timeout=None)
        self._sizes: OrderedDict[str, int] = OrderedDict()

    async def size(self) -> int:
        """Return the bytes that are held now."""
        for key in list(self._sizes):
            if not await self._values.exists(key):  # its time is over
                del self._sizes[key]
        return sum(self._sizes.values())

    async def put(self, key: str, parts: Sequence[bytes], ttl_s: float) -> bool:
        """Keep a value; False for one larger than the whole cache or without time."""
        await self.drop(key)
        size = sum(map(len, parts)) + _PART_BYTES * len(parts)
        if size > self._most or ttl_s <= 0:  # aiocache never ends a time of 0
            return False
        held = await self.size()
        while held + size > self._most:
            oldest = next(iter(self._sizes))
            held -= self._sizes[oldest]
            await self.drop(oldest)
        self._sizes[key] = size
        await self._values.set(key, tuple(parts), ttl=ttl_s)
        return True

    async def get(self, key: str, part: int = 0) -> bytes | None:
        """Return a part, and mark the value as used; None when absent."""
        parts: tuple[bytes, ...] | None = await self._values.get(key)
        if parts is None:
            return None
        self._sizes.move_to_end(key)
        return parts[part] if part < len(parts) else None

    async def drop(self, key: str) -> None:
        """Drop a value."""
        self._sizes.pop(key, None)
        await self._values.delete(key)

    async def check(self) -> None:
        """Return at once: memory is always writable."""

    async def close(self) -> None:
        """Forget everything, and aiocache's timers with it."""
        for key in list(self._sizes):
            await self.drop(key)
