"""
Digests of passwords: Argon2id over a peppered password, a few at a time.

One digest takes some 20 ms and 19 MiB, so they run in two threads, and the queue is
bounded: when it is full, callers are told to retry instead of overloading the process.
"""

from __future__ import annotations

import asyncio
import hmac
import os
import unicodedata
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from cryptography.hazmat.primitives.kdf.argon2 import Argon2id

from gateway.domain.identity.errors import TOO_MANY_ATTEMPTS
from gateway.domain.kernel.errors import ServiceError
from gateway.security.identity import phc
from gateway.security.identity.common_passwords import is_common
from gateway.security.identity.phc import Cost, Digest
from gateway.security.secrets import Random

_SALT_BYTES = 16
_TAG_BYTES = 32


@dataclass(frozen=True, slots=True)
class PoolSize:
    """
    The size of the thread pool.

    Attributes:
        threads: Digests computed at the same time; more would take the CPU from the loop.
        waiting: Digests that may wait: a third of a second of work.
    """

    threads: int = 2
    waiting: int = 32


_COST, _ROOM = Cost(), PoolSize()


class PasswordHasher:
    """Makes and checks digests; call ``close`` in the end."""

    def __init__(
        self,
        peppers: Mapping[str, bytes],
        cost: Cost = _COST,
        room: PoolSize = _ROOM,
        random: Random = os.urandom,
    ) -> None:
        """Use the peppers by key id, the current one first."""
        self._peppers = dict(peppers)
        self._current = next(iter(self._peppers))
        self._cost = cost
        self._random = random
        self._dummy = self._digest_of(cost, bytes(_SALT_BYTES), bytes(_TAG_BYTES))
        self._pool = ThreadPoolExecutor(room.threads, thread_name_prefix="argon2")
        self._most = room.threads + room.waiting
        self._running = 0

    def close(self) -> None:
        """Stop the threads; what waits is dropped."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    async def make(self, password: str) -> str:
        """
        Return the digest of a password as a PHC string.

        Raises:
            ServiceError: TOO_MANY_ATTEMPTS when the queue is full.
        """
        salt = self._random(_SALT_BYTES)
        tag = await self._run(lambda: self._tag(password, self._current, self._cost, salt))
        return str(self._digest_of(self._cost, salt, tag))

    async def matches(self, password: str, stored: str) -> bool:
        """
        Compare; an unreadable digest, or one of an unknown pepper, never matches.

        It takes as long as any other. Raises as ``make`` does.
        """
        digest = phc.read(stored)
        known = digest is not None and digest.key_id in self._peppers
        with_what = digest if digest is not None and known else self._dummy
        tag = await self._run(
            lambda: self._tag(password, with_what.key_id, with_what.cost, with_what.salt)
        )
        return hmac.compare_digest(tag, with_what.tag) and known

    def is_outdated(self, stored: str) -> bool:
        """Say whether the digest has another cost or pepper than new ones."""
        digest = phc.read(stored)
        return digest is None or (digest.cost, digest.key_id) != (self._cost, self._current)

    def is_common(self, password: str) -> bool:
        """Say whether attackers try this password first."""
        return is_common(password)

    def _digest_of(self, cost: Cost, salt: bytes, tag: bytes) -> Digest:
        """Describe a digest under the current pepper."""
        return Digest(cost=cost, key_id=self._current, salt=salt, tag=tag)

    def _tag(self, password: str, key_id: str, cost: Cost, salt: bytes) -> bytes:
        """Compute the digest; runs in a thread."""
        content = unicodedata.normalize("NFKC", password).encode("utf-8", "surrogatepass")
        peppered = hmac.digest(self._peppers[key_id], content, "sha256")
        return Argon2id(
            salt=salt,
            length=_TAG_BYTES,
            iterations=cost.passes,
            lanes=cost.lanes,
            memory_cost=cost.kib,
        ).derive(peppered)

    async def _run(self, work: Callable[[], bytes]) -> bytes:
        """Run ``work`` in the pool, if there is room."""
        if self._running >= self._most:
            raise ServiceError(TOO_MANY_ATTEMPTS, "hashing_busy", {"Retry-After": "1"})
        self._running += 1
        loop = asyncio.get_running_loop()
        future = self._pool.submit(work)
        # not in a `finally` here: cancelling the caller does not stop the thread
        future.add_done_callback(lambda done: self._done(loop, done))
        return await asyncio.wrap_future(future)

    def _done(self, loop: asyncio.AbstractEventLoop, done: Future[bytes]) -> None:
        """Count one less, on the thread of the loop, unless the loop is closed."""
        if not loop.is_closed():
            loop.call_soon_threadsafe(self._left)

    def _left(self) -> None:
        self._running -= 1
