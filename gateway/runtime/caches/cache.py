"""
The cache that the configuration asks for: in this process's memory, or one that all share.

In memory it has a bound: the least recently used goes first.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Sequence
from typing import Final, NamedTuple, Protocol

from aiocache.backends.memory import SimpleMemoryCache
from aiocache.serializers import NullSerializer

from gateway.config.settings import Settings
from gateway.domain.kernel.cache import Cache
from gateway.domain.kernel.clocks import Monotonic
from gateway.security.keys import Derivation
from gateway.security.sealing import Sealer
from gateway.telemetry.ports import Count


class CacheUnavailable(Exception):
    """The server that processes share cannot be used; the text names the class of the error."""


# What a part costs beside its bytes: the object, and its place in a tuple.
_PART_BYTES: Final = 64
# A version of what lies in Redis: a gateway that writes it otherwise has another.
_FORM: Final = "v1"
_PURPOSE: Final = "cache"


class _Held(NamedTuple):
    """How large a value is, and until when it may be shown: seconds of a monotonic clock."""

    size: int
    until: float


class MemoryCache:
    """
    Keeps values in memory; a ``Cache``.

    aiocache holds the values and lets them go when their time is over; it knows no bound, so
    sizes are counted here.
    """

    def __init__(self, most_bytes: int, clock: Monotonic) -> None:
        """Keep at most ``most_bytes``."""
        self._most = most_bytes
        self._clock = clock
        self._values = SimpleMemoryCache(serializer=NullSerializer(), timeout=None)
        self._held: OrderedDict[str, _Held] = OrderedDict()
        self._bytes = 0

    def __len__(self) -> int:
        """Return how many values are held, those included whose time is over unnoticed."""
        return len(self._held)

    async def size(self) -> int:
        """Return the bytes that are held now."""
        await self._drop_old()
        return self._bytes

    async def put(self, key: str, parts: Sequence[bytes], ttl_s: float) -> bool:
        """Keep a value; False for one that is larger than the whole cache."""
        await self.drop(key)
        size = sum(map(len, parts)) + _PART_BYTES * len(parts)
        if size > self._most:
            return False
        await self._drop_old()
        while self._bytes + size > self._most:
            await self.drop(next(iter(self._held)))
        self._held[key] = _Held(size, self._clock() + ttl_s)
        self._bytes += size
        await self._values.set(key, tuple(parts), ttl=float(ttl_s))
        return True

    async def get(self, key: str, part: int = 0) -> bytes | None:
        """Return a part, and take the value for used; None when it is not there."""
        held = self._held.get(key)
        if held is None or self._clock() >= held.until:
            return None
        self._held.move_to_end(key)
        parts: tuple[bytes, ...] = await self._values.get(key) or ()
        return parts[part] if part < len(parts) else None

    async def drop(self, key: str) -> None:
        """Forget a value."""
        held = self._held.pop(key, None)
        if held is not None:
            self._bytes -= held.size
            await self._values.delete(key)

    async def check(self) -> None:
        """Memory can always be written."""

    async def close(self) -> None:
        """Forget everything, and aiocache's timers with it."""
        for key in list(self._held):
            await self.drop(key)

    async def _drop_old(self) -> None:
        """Forget values whose time is over."""
        now = self._clock()
        for key in [key for key, held in self._held.items() if now >= held.until]:
            await self.drop(key)


class ConfiguredCache(Cache, Protocol):
    """A cache that is measured, and closed with the process."""

    async def size(self) -> int:
        """Return the bytes that this process keeps itself."""
        ...

    async def check(self) -> None:
        """Write a value where processes share it, and read it; or raise ``CacheUnavailable``."""
        ...

    async def close(self) -> None:
        """Let everything go."""
        ...


def build_cache(settings: Settings, derivation: Derivation, count: Count) -> ConfiguredCache:
    """
    Make the cache; nothing is connected yet.

    Two environments that share a server do not meet: neither their keys nor their seals fit.
    """
    asked = settings.cache
    memory = MemoryCache(asked.memory_bytes, time.monotonic)
    if not asked.url:
        return memory
    from gateway.runtime.caches.shared import SharedCache, connect  # noqa: PLC0415 - an extra, 9 MB

    keys = derivation.keys(_PURPOSE)
    remote = connect(asked.url, f"pixgate:{_FORM}:{settings.environment.value}", asked.timeout_s)
    return SharedCache(remote, Sealer(keys, next(iter(keys))), memory, count, time.monotonic)
