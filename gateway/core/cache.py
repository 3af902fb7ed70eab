"""The port to the cache of expensive results, whose loss does no harm."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class Cache(Protocol):
    """
    Keeps bytes under a key for some seconds; any entry may vanish at any time.

    A value has one or more parts. They are put and dropped together and read one by one, so that a
    large value is never read whole. Between two reads another process may replace the value, so
    each part must identify its value.

    Never for locks, limits, or whether money moved.
    """

    async def put(self, key: str, parts: Sequence[bytes], ttl_s: float) -> bool:
        """Replace the value of ``key``; False when neither the new nor the old value is kept."""
        ...

    async def get(self, key: str, part: int = 0) -> bytes | None:
        """Return a part; None when it is missing, or the cache does not answer in time."""
        ...

    async def drop(self, key: str) -> None:
        """Forget the value of ``key``."""
        ...


class CacheUnavailable(Exception):
    """The server that processes share cannot be used; the text names the class of the error."""
