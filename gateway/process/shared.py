"""
A cache in Redis or Valkey that all processes share, with encrypted values.

While it is unavailable, this process caches in its own memory.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from gateway.core.cache import CacheUnavailable
from gateway.core.clocks import Monotonic
from gateway.process.cache import MemoryCache
from gateway.process.redis_client import FAILURES, Remote, sentence
from gateway.security.sealing import SealBroken, Sealer
from gateway.telemetry.ports import Count, Event

# After a failure nobody waits for the server for so long; then the next call tries it again.
_AWAY_S: Final = 5.0
# What a server writes to prove that it can.
_PROOF: Final = "check"
_PROOF_MS: Final = 10_000


@dataclass(slots=True, kw_only=True)
class SharedCache:
    """
    Keeps values in Redis, each part under a key of its own and sealed for that key; a ``Cache``.

    Values that Redis did not take are in ``memory``, which is read first: they are newer than
    Redis's value of that key.

    Attributes:
        namespace: The prefix of every key.
        count: Counts failures.
    """

    remote: Remote
    namespace: str
    sealer: Sealer
    memory: MemoryCache
    count: Count
    clock: Monotonic
    _away_until: float = field(default=float("-inf"), init=False)

    async def size(self) -> int:
        """Return the bytes that this process keeps itself."""
        return await self.memory.size()

    async def put(self, key: str, parts: Sequence[bytes], ttl_s: float) -> bool:
        """Store a value, or in memory if that fails; a Cluster may keep each part elsewhere."""
        write = self.remote.pipeline(transaction=False)
        for number, part in enumerate(parts):
            name = _name(key, number)
            write.set(
                self._at(name), self.sealer.seal_bytes(part, name), px=max(1, int(ttl_s * 1000))
            )
        if await self._done("put", write.execute):
            await self.memory.drop(key)
            return True
        return await self.memory.put(key, parts, ttl_s)

    async def get(self, key: str, part: int = 0) -> bytes | None:
        """Return a part; None if it is gone, not sealed by us, or the server is unavailable."""
        kept = await self.memory.get(key, part)
        if kept is not None:
            return kept
        name = _name(key, part)
        sealed = await self._done("get", lambda: self.remote.get(self._at(name)))
        if not isinstance(sealed, bytes):
            return None
        try:
            return self.sealer.open_bytes(sealed, name)
        except SealBroken:
            self.count(Event.CACHE_FAILURE, "unsealed")
            return None

    async def drop(self, key: str) -> None:
        """Forget a value: without its first part the others cannot be found."""
        await self.memory.drop(key)
        await self._done("drop", lambda: self.remote.delete(self._at(_name(key, 0))))

    async def check(self) -> None:
        """Write a value at the server and read it; ``CacheUnavailable`` if that fails."""
        try:
            await self.remote.set(self._at(_PROOF), _PROOF, px=_PROOF_MS)
            found = await self.remote.get(self._at(_PROOF))
        except FAILURES as problem:
            raise CacheUnavailable(sentence(problem)) from problem
        if found != _PROOF.encode():
            message = "what was written is not there"
            raise CacheUnavailable(message)

    async def close(self) -> None:
        """Close the connections."""
        await self.memory.close()
        await self.remote.aclose()

    def _at(self, name: str) -> str:
        return f"{self.namespace}:{name}"

    async def _done(self, work: str, ask: Callable[[], Awaitable[object]]) -> object:
        """Call the server; None if it failed, now or a moment ago."""
        if self.clock() < self._away_until:
            return None
        try:
            return await ask()
        except FAILURES:  # what failed is never logged: it is a value
            self._away_until = self.clock() + _AWAY_S
            self.count(Event.CACHE_FAILURE, work)
            return None


def _name(key: str, part: int) -> str:
    """Return the name of a part, to which its encryption is bound."""
    return f"{key}/{part}"
