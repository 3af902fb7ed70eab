"""
A cache in Redis or Valkey that all processes share; what lies there is sealed.

While it does not answer, this process keeps things in its own memory.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Final
from urllib.parse import unquote, urlsplit

from aiocache.backends.redis import RedisCache
from aiocache.serializers import NullSerializer
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from gateway.domain.kernel.clocks import Monotonic
from gateway.runtime.caches.cache import CacheUnavailable, MemoryCache
from gateway.security.sealing import SealBroken, Sealer
from gateway.telemetry.ports import Count, Event

# After a failure nobody waits for the server for so long; then the next call tries it again.
_AWAY_S: Final = 5.0
# A walk puts once and a page reads twice: more connections than these would only wait in turn.
_CONNECTIONS: Final = 16
# What a server writes to prove that it can.
_PROOF: Final = "check"
_PROOF_S: Final = 10.0
_FAILURES: Final = (RedisError, OSError, TimeoutError)


def connect(url: str, namespace: str, timeout_s: float) -> RedisCache:
    """
    Make the client of the server at ``url``; it connects when it is first asked.

    Args:
        url: ``redis://`` or, with TLS, ``rediss://user:password@host:port/number``.
        namespace: What every key begins with.
        timeout_s: For each command, connecting included.
    """
    parts = urlsplit(url)
    user = unquote(parts.username) if parts.username else None
    return RedisCache(
        serializer=NullSerializer(encoding=None),  # bytes as they are, never pickled
        namespace=namespace,
        timeout=timeout_s,
        endpoint=parts.hostname or "127.0.0.1",
        port=parts.port or 6379,
        db=int(parts.path.strip("/") or 0),
        password=unquote(parts.password) if parts.password else None,
        pool_max_size=_CONNECTIONS,
        create_connection_timeout=timeout_s,
        ssl=parts.scheme == "rediss",
        connection_pool_kwargs={"username": user, "retry": Retry(NoBackoff(), 0)},
    )


class SharedCache:
    """
    Keeps values in Redis, each part under a key of its own and sealed for that key; a ``Cache``.

    What Redis did not take lies in ``memory``, which is asked first: it is newer than whatever
    Redis may still have of that key.
    """

    def __init__(
        self,
        remote: RedisCache,
        sealer: Sealer,
        memory: MemoryCache,
        count: Count,
        clock: Monotonic,
    ) -> None:
        """Count failures by ``count``; ``clock`` is monotonic."""
        self._remote = remote
        self._sealer = sealer
        self._memory = memory
        self._count = count
        self._clock = clock
        self._away_until = float("-inf")

    async def size(self) -> int:
        """Return the bytes that this process keeps itself."""
        return await self._memory.size()

    async def put(self, key: str, parts: Sequence[bytes], ttl_s: float) -> bool:
        """Keep a value in one transaction; here, if that cannot be done."""
        sealed = [
            (_name(key, number), self._sealer.seal_bytes(part, _name(key, number)))
            for number, part in enumerate(parts)
        ]
        # an integer would be sent by a command that is deprecated, with a warning each time
        if await self._done("put", lambda: self._remote.multi_set(sealed, ttl=float(ttl_s))):
            await self._memory.drop(key)
            return True
        return await self._memory.put(key, parts, ttl_s)

    async def get(self, key: str, part: int = 0) -> bytes | None:
        """Return a part; None where it is gone, was not sealed by us, or nobody answers."""
        kept = await self._memory.get(key, part)
        if kept is not None:
            return kept
        name = _name(key, part)
        sealed = await self._done("get", lambda: self._remote.get(name))
        if not isinstance(sealed, bytes):
            return None
        try:
            return self._sealer.open_bytes(sealed, name)
        except SealBroken:
            self._count(Event.CACHE_FAILURE, "unsealed")
            return None

    async def drop(self, key: str) -> None:
        """Forget a value: without its first part the others cannot be found."""
        await self._memory.drop(key)
        await self._done("drop", lambda: self._remote.delete(_name(key, 0)))

    async def check(self) -> None:
        """Write a value at the server and read it; ``CacheUnavailable`` if that fails."""
        try:
            await self._remote.multi_set([(_PROOF, _PROOF.encode())], ttl=_PROOF_S)
            found = await self._remote.get(_PROOF)
        except _FAILURES as problem:
            raise CacheUnavailable(type(problem).__name__) from problem
        if found != _PROOF.encode():
            message = "what was written is not there"
            raise CacheUnavailable(message)

    async def close(self) -> None:
        """Close the connections."""
        await self._memory.close()
        await self._remote.client.aclose()  # aiocache's own close warns: redis-py renamed it

    async def _done(self, work: str, ask: Callable[[], Awaitable[object]]) -> object:
        """Ask the server; None where it failed, or failed a moment ago."""
        if self._clock() < self._away_until:
            return None
        try:
            return await ask()
        except _FAILURES:  # what failed is never logged: it is a value
            self._away_until = self._clock() + _AWAY_S
            self._count(Event.CACHE_FAILURE, work)
            return None


def _name(key: str, part: int) -> str:
    """Name a part; what is sealed is bound to this name."""
    return f"{key}/{part}"
