"""
Digests of passwords (Argon2id), and the passwords that attackers try first.

``common_passwords.txt`` lists them in lower case, one per line. We composed it: words
that lists of leaked passwords start with, in English and Brazilian Portuguese, combined
with the endings people add to satisfy a rule (years, runs of digits, ``@123``), doubled,
and as runs on a keyboard. Besides the list, repetitions of a short text and runs along
the alphabet or a keyboard count as common.

One digest takes some 20 ms and 19 MiB, so they run in two threads, and the queue is
bounded: when it is full, callers are told to retry instead of overloading the process.
"""

from __future__ import annotations

import asyncio
import base64
import hmac
import os
import re
import sys
import threading
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from typing import Any, Final, TypeVar

from cryptography.exceptions import InvalidKey
from cryptography.hazmat.primitives.kdf.argon2 import Argon2id

from gateway.core.errors import ServiceError
from gateway.core.user_errors import TOO_MANY_ATTEMPTS
from gateway.security.secrets import Random

# The standard text, but for the pepper's id: 16 bytes of salt, 32 of tag.
_FORM = re.compile(
    r"(\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,3})),keyid=([A-Za-z0-9+/]{1,22})"
    r"(\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43})",
    re.ASCII,
)
# costs above these could stop a process: 1 GiB and some seconds for one digest
_MOST_KIB = 1_048_576
# Bounds of what a stored digest may make us compute: a forged row must not cost minutes.
_MOST_PASSES = 16
_MOST_LANES = 16
# the minimum of Argon2 (RFC 9106, part 3.1)
_LEAST_KIB_A_LANE = 8


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of a digest: memory in KiB, passes over it, and lanes (OWASP's minimum)."""

    kib: int = 19_456
    passes: int = 2
    lanes: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Digest:
    """
    A digest as stored: a PHC string with the id of its pepper.

    Attributes:
        phc: The same without the id, which `cryptography` refuses as an unknown parameter.
    """

    cost: Cost
    key_id: str
    phc: str = field(repr=False)

    def __str__(self) -> str:
        head, salt, tag = self.phc.rsplit("$", 2)
        return f"{head},keyid={_encoded(self.key_id.encode('ascii'))}${salt}${tag}"


def read(text: str) -> Digest | None:
    """Read a digest; None for malformed text, or a cost that is out of bounds."""
    found = _FORM.fullmatch(text)
    if found is None:
        return None
    cost = Cost(int(found[2]), int(found[3]), int(found[4]))
    if not _is_sane(cost):
        return None
    try:
        key_id = _decoded(found[5]).decode("ascii")
    except ValueError:
        return None
    return Digest(cost=cost, key_id=key_id, phc=found[1] + found[6])


def _is_sane(cost: Cost) -> bool:
    """Return whether a process can afford this: a forged row must not stop it."""
    return (
        1 <= cost.lanes <= _MOST_LANES
        and 1 <= cost.passes <= _MOST_PASSES
        and _LEAST_KIB_A_LANE * cost.lanes <= cost.kib <= _MOST_KIB
    )


def _encoded(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii").rstrip("=")


def _decoded(text: str) -> bytes:
    return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)


_FILE = "common_passwords.txt"
# fewer different characters than this can be guessed by trying
_LEAST_DISTINCT = 5
# "abcdabcdabcd" is one text of four characters, repeated
_LONGEST_UNIT = 4
# shorter runs, such as "abcd", occur in ordinary words
_SHORTEST_RUN = 5
_RUNS = (
    "abcdefghijklmnopqrstuvwxyz",
    "01234567890123456789",
    "qwertyuiopasdfghjklzxcvbnm",
    "1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik9ol0p",
    "1q2w3e4r5t6y7u8i9o0p",
)
_ENDING = re.compile(r"[^a-z]+\Z", re.ASCII)
_LEET = str.maketrans("@4301!5$7", "aaeoiisst")


def is_common(password: str) -> bool:
    """Return whether attackers try a password first, in any letter case."""
    lowered = password.casefold()
    return (
        lowered in _listed()
        or _plain(lowered) in _listed()
        or len(set(lowered)) < _LEAST_DISTINCT
        or _is_repeated(lowered)
        or _is_run(lowered)
    )


@lru_cache(maxsize=1)
def _listed() -> frozenset[str]:
    """Read the list, once, on first use."""
    text = files("gateway.identity").joinpath(_FILE).read_text(encoding="utf-8")
    return frozenset(line for line in text.splitlines() if line and not line.startswith("#"))


def _plain(text: str) -> str:
    """Replace look-alike signs by letters, except at the end, where digits are digits."""
    ending = _ENDING.search(text)
    cut = ending.start() if ending else len(text)
    return text[:cut].translate(_LEET) + text[cut:]


def _is_repeated(text: str) -> bool:
    """Return whether it is a short text repeated, the last time perhaps cut."""
    return any(
        text == (text[:length] * len(text))[: len(text)]
        for length in range(1, min(_LONGEST_UNIT, len(text) // 2) + 1)
    )


def _is_run(text: str) -> bool:
    """Return whether it consists only of runs of neighbours, forwards or backwards."""
    rest = text
    while rest:
        length = _run_length(rest)
        if length < _SHORTEST_RUN:
            return False
        rest = rest[length:]
    return True


def _run_length(text: str) -> int:
    """Return the length of the run at the beginning."""
    lines = [line[::step] for line in _RUNS for step in (1, -1)]
    length = 0
    while length < len(text) and any(text[: length + 1] in line for line in lines):
        length += 1
    return length


_SALT_BYTES = 16
_LOW_PRIORITY: Final = 10
_TAG_BYTES = 32


@dataclass(frozen=True, slots=True)
class PoolSize:
    """
    Limits of simultaneous password checks.

    Attributes:
        threads: Digests computed at the same time, at a low priority: payouts come first.
        waiting: Digests that may wait.
        strangers: Sign-ins under way from browsers without an earlier sign-in: the limit bounds
            their load on the store. Only one of them at a time has a digest computed, so that
            every other sign-in waits for one stranger's digest at most.
    """

    threads: int = 1
    waiting: int = 32
    strangers: int = 8


COST: Final = Cost()
"""Of every digest that is made in service."""

_ROOM: Final = PoolSize()
T = TypeVar("T")


class PasswordHasher:
    """Makes and checks digests; call ``close`` in the end."""

    def __init__(
        self,
        peppers: Mapping[str, bytes],
        cost: Cost = COST,
        room: PoolSize = _ROOM,
        random: Random = os.urandom,
    ) -> None:
        """Use the peppers by key id, the current one first."""
        self._peppers = dict(peppers)
        self._current = next(iter(self._peppers))
        self._cost = cost
        self._random = random
        self._dummy = Digest(cost=cost, key_id=self._current, phc=_nobodys(cost))
        self._pool = ThreadPoolExecutor(room.threads, "argon2", initializer=_give_way)
        self._most = room.threads + room.waiting
        self._running = 0
        self._strangers_left = room.strangers
        self._stranger = asyncio.Lock()

    def close(self) -> None:
        """Stop the threads; waiting work is dropped."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    @contextmanager
    def place(self, *, is_stranger: bool) -> Iterator[None]:
        """
        Hold a place while a password is looked up and checked.

        Raises:
            ServiceError: TOO_MANY_ATTEMPTS for a stranger where all of theirs are taken.
        """
        if is_stranger and not self._strangers_left:
            raise _busy()
        self._strangers_left -= is_stranger
        try:
            yield
        finally:
            self._strangers_left += is_stranger

    async def make(self, password: str) -> str:
        """
        Return the digest of a password as a PHC string.

        Raises:
            ServiceError: TOO_MANY_ATTEMPTS when the queue is full.
        """
        salt = self._random(_SALT_BYTES)
        phc = await self._run(lambda: self._derive(password, salt))
        return str(Digest(cost=self._cost, key_id=self._current, phc=phc))

    async def matches(self, password: str, stored: str, *, is_stranger: bool = False) -> bool:
        """
        Compare; an unreadable digest, or one of an unknown pepper, never matches.

        An unusable digest takes as long as a valid one. A stranger waits for earlier strangers.
        Raises as ``make`` does.
        """
        async with self._stranger if is_stranger else nullcontext():
            return await self._matches(password, stored)

    async def _matches(self, password: str, stored: str) -> bool:
        digest = read(stored)
        known = digest is not None and digest.key_id in self._peppers
        with_what = digest if digest is not None and known else self._dummy
        return await self._run(lambda: self._verify(password, with_what)) and known

    def is_outdated(self, stored: str) -> bool:
        """Return whether the digest has another cost or pepper than new digests."""
        digest = read(stored)
        return digest is None or (digest.cost, digest.key_id) != (self._cost, self._current)

    def is_common(self, password: str) -> bool:
        """Return whether attackers try this password first."""
        return is_common(password)

    def _derive(self, password: str, salt: bytes) -> str:
        """Compute a digest under the current pepper; runs in a thread."""
        return Argon2id(
            salt=salt,
            length=_TAG_BYTES,
            iterations=self._cost.passes,
            lanes=self._cost.lanes,
            memory_cost=self._cost.kib,
        ).derive_phc_encoded(self._peppered(password, self._current))

    def _verify(self, password: str, digest: Digest) -> bool:
        """Compute the digest again and compare in constant time; runs in a thread."""
        try:
            Argon2id.verify_phc_encoded(self._peppered(password, digest.key_id), digest.phc)
        except InvalidKey:
            return False
        return True

    def _peppered(self, password: str, key_id: str) -> bytes:
        content = unicodedata.normalize("NFKC", password).encode("utf-8", "surrogatepass")
        return hmac.digest(self._peppers[key_id], content, "sha256")

    async def _run(self, work: Callable[[], T]) -> T:
        """Run ``work`` in the pool, if there is room."""
        if self._running >= self._most:
            raise _busy()
        self._running += 1
        loop = asyncio.get_running_loop()
        future = self._pool.submit(work)
        # not in a `finally` here: cancelling the caller does not stop the thread
        future.add_done_callback(lambda done: self._done(loop, done))
        return await asyncio.wrap_future(future)

    def _done(self, loop: asyncio.AbstractEventLoop, done: Future[Any]) -> None:
        """Count one less, on the thread of the loop, unless the loop is closed."""
        if not loop.is_closed():
            loop.call_soon_threadsafe(self._left)

    def _left(self) -> None:
        self._running -= 1


def _nobodys(cost: Cost) -> str:
    """Return a digest without a password, so that unknown users cost as much as known ones."""
    salt, tag = _encoded(bytes(_SALT_BYTES)), _encoded(bytes(_TAG_BYTES))
    return f"$argon2id$v=19$m={cost.kib},t={cost.passes},p={cost.lanes}${salt}${tag}"


def _busy() -> ServiceError:
    return ServiceError(TOO_MANY_ATTEMPTS, "hashing_busy", {"Retry-After": "1"})


def _give_way() -> None:
    """Let everything else of this host run before this thread."""
    if sys.platform == "linux":  # elsewhere threads have no priority of their own
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _LOW_PRIORITY)
