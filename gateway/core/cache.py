"""The port to what is dear to fetch: kept for a while, and lost without harm."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class Cache(Protocol):
    """
    Keeps bytes under a key for some seconds; any of it may be gone at any time.

    A value has one or more parts. They are put and dropped together and read one by one, so
    that a large value is never read whole. Between two reads another process may have put
    another value: a part says itself which value it belongs to.

    Never for locks, limits, or whether money moved.
    """

    async def put(self, key: str, parts: Sequence[bytes], ttl_s: float) -> bool:
        """Replace what is kept under ``key``; False when the value was not kept, nor the old."""
        ...

    async def get(self, key: str, part: int = 0) -> bytes | None:
        """Return a part; None when it is not there, or the cache does not answer in time."""
        ...

    async def drop(self, key: str) -> None:
        """Forget the value of ``key``."""
        ...
