"""
Digests of passwords: Argon2id over a peppered password, a few at a time.

One digest takes some twenty milliseconds and nineteen MiB, so they run in two
threads, and only so many wait: above that a caller is told to come again,
before the process drowns.
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
    """How many digests are made at once, and how many may wait."""

    threads: int = 2
    waiting: int = 32


_COST, _ROOM = Cost(), PoolSize()


class PasswordHasher:
    """Makes digests and compares with them; close it in the end."""

    def __init__(
        self,
        peppers: Mapping[str, bytes],
        cost: Cost = _COST,
        room: PoolSize = _ROOM,
        random: Random = os.urandom,
    ) -> None:
        """Take the peppers by key id, the one in force first."""
        self._peppers = dict(peppers)
        self._current = next(iter(self._peppers))
        self._cost = cost
        self._random = random
        self._dummy = self._digest_of(cost, bytes(_SALT_BYTES), bytes(_TAG_BYTES))
        self._pool = ThreadPoolExecutor(room.threads, thread_name_prefix="argon2")
        self._most = room.threads + room.waiting
        self._running = 0

    def close(self) -> None:
        """Let the threads go; what waits is dropped."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    async def make(self, password: str) -> str:
        """
        Return the digest of a password as a PHC string.

        Raises:
            ServiceError: TOO_MANY_ATTEMPTS when too many wait already.
        """
        salt = self._random(_SALT_BYTES)
        tag = await self._run(lambda: self._tag(password, self._current, self._cost, salt))
        return str(self._digest_of(self._cost, salt, tag))

    async def matches(self, password: str, stored: str) -> bool:
        """
        Compare; what cannot be read, or was made under a pepper that is gone, never matches.

        It costs the same then. Raises as ``make`` does.
        """
        digest = phc.read(stored)
        known = digest is not None and digest.key_id in self._peppers
        with_what = digest if digest is not None and known else self._dummy
        tag = await self._run(
            lambda: self._tag(password, with_what.key_id, with_what.cost, with_what.salt)
        )
        return hmac.compare_digest(tag, with_what.tag) and known

    def is_outdated(self, stored: str) -> bool:
        """Say whether today's cost or pepper is another."""
        digest = phc.read(stored)
        return digest is None or (digest.cost, digest.key_id) != (self._cost, self._current)

    def is_common(self, password: str) -> bool:
        """Say whether everybody tries this one first."""
        return is_common(password)

    def _digest_of(self, cost: Cost, salt: bytes, tag: bytes) -> Digest:
        """Describe a digest under the pepper in force."""
        return Digest(cost=cost, key_id=self._current, salt=salt, tag=tag)

    def _tag(self, password: str, key_id: str, cost: Cost, salt: bytes) -> bytes:
        """Do the work; in a thread."""
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
        """Run in the pool, if there is room."""
        if self._running >= self._most:
            raise ServiceError(TOO_MANY_ATTEMPTS, "hashing_busy", {"Retry-After": "1"})
        self._running += 1
        loop = asyncio.get_running_loop()
        future = self._pool.submit(work)
        # not in a `finally` here: a caller who leaves does not stop the thread
        future.add_done_callback(lambda done: self._done(loop, done))
        return await asyncio.wrap_future(future)

    def _done(self, loop: asyncio.AbstractEventLoop, done: Future[bytes]) -> None:
        """Count one less, on the loop's own thread; a loop that is gone counts nothing."""
        if not loop.is_closed():
            loop.call_soon_threadsafe(self._left)

    def _left(self) -> None:
        self._running -= 1
