"""
Host name resolution in a provider's own threads.

The system's own look-up (``getaddrinfo``) is right about everything that a host configures, but
it blocks and cannot be cancelled: when a name server hangs, so does a thread, for ten seconds
and more. So each name has two threads at most and no other look-up waits for them; the pool that
the event loop shares among all is not used.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import Final

KEPT_S: Final = 10.0
"""Spares a look-up for most connections, and still follows a bank that has moved."""
GOOD_S: Final = 600.0
"""How long addresses serve on while look-ups fail: an outage of names is mostly shorter."""
LOOK_UP_S: Final = 1.0
"""Half of the usual time to connect: what comes after a failed look-up must have the rest."""
# One may hang while the other asks again; more would only hang beside them.
_THREADS: Final = 2

LookUp = Callable[[str], Sequence[str]]
"""Returns the addresses of a name, blocking; raises ``OSError`` or ``ValueError``."""


def system_look_up(host: str) -> Sequence[str]:
    """Resolve by the system, as it is configured: hosts file, name servers, search list."""
    found = socket.getaddrinfo(
        host, None, type=socket.SOCK_STREAM, flags=socket.AddressInfo.AI_ADDRCONFIG
    )
    return in_turns([str(each[4][0]) for each in found])


def in_turns(hosts: Sequence[str]) -> tuple[str, ...]:
    """Order addresses so that the two families take turns, the preferred first (RFC 8305, 4)."""
    unique = list(dict.fromkeys(hosts))
    first = [host for host in unique if (":" in host) == (":" in unique[0])]
    other = [host for host in unique if host not in first]
    return tuple(host for pair in zip_longest(first, other) for host in pair if host)


class HostNames:
    """
    Resolver of a provider's host names, with a cache; made once for each provider.

    Found addresses are kept for ten seconds. When a look-up fails, the last ones found
    serve for ten minutes more.

    Args:
        on_failed: Called whenever a look-up failed, also if former addresses served.
        look_up: Resolves the name, in a thread.
    """

    def __init__(
        self, on_failed: Callable[[], None] | None = None, look_up: LookUp = system_look_up
    ) -> None:
        self._on_failed = on_failed or (lambda: None)
        self._look_up = look_up
        self._names: dict[str, HostName] = {}

    def of(self, host: str) -> HostName:
        """Return a host name; concurrent callers share one look-up."""
        name = self._names.get(host)
        if name is None:
            name = self._names[host] = HostName(host, self._look_up, self._on_failed)
        return name


class HostName:
    """A host name: its cached addresses, and the shared look-up."""

    def __init__(self, host: str, look_up: LookUp, on_failed: Callable[[], None]) -> None:
        self._host = host
        self._look_up = look_up
        self._on_failed = on_failed
        self._known: Sequence[str] = ()
        self._fresh_until = 0.0
        self._good_until = 0.0
        self._waiting: asyncio.Future[Sequence[str]] | None = None
        self._asked = False
        self._threads = 0

    async def addresses(self) -> Sequence[str]:
        """
        Return the addresses of a name, at least one, within a second.

        Raises:
            OSError, ValueError: it has none, or there was no answer in time (``TimeoutError``), and
                none were known in the last ten minutes.
        """
        loop = asyncio.get_running_loop()
        if self._known and loop.time() < self._fresh_until:
            return self._known
        try:
            return await asyncio.shield(self._waiting or self._begin(loop))
        except (OSError, ValueError):
            if not self._known or loop.time() >= self._good_until:
                raise
            # Nobody waits for the next look-up before this time is over.
            self._fresh_until = loop.time() + KEPT_S
            return self._known

    def look_again(self) -> None:
        """Resolve again at the next use: none of the addresses answered."""
        self._fresh_until = 0.0

    def _begin(self, loop: asyncio.AbstractEventLoop) -> asyncio.Future[Sequence[str]]:
        waiting = self._waiting = loop.create_future()
        late = loop.call_later(LOOK_UP_S, self._fail, waiting, TimeoutError())
        waiting.add_done_callback(lambda _: late.cancel())
        self._asked = False
        self._ask(loop)
        return waiting

    def _ask(self, loop: asyncio.AbstractEventLoop) -> None:
        """Resolve in a thread, unless two hang: the first to end reports, or resolves again."""
        if self._threads >= _THREADS:
            return
        self._asked = True
        self._threads += 1
        # A daemon: one that hangs must not keep the process from ending.
        thread = threading.Thread(target=self._run, args=(loop,), name="names", daemon=True)
        try:
            thread.start()
        except RuntimeError:  # the system gives us no more threads
            self._ended(loop, OSError())

    def _run(self, loop: asyncio.AbstractEventLoop) -> None:
        found: Sequence[str] | Exception
        try:
            found = self._look_up(self._host)
        except (OSError, ValueError) as problem:
            found = problem
        # The loop may have been closed in the meantime; then nobody waits.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(self._ended, loop, found)

    def _ended(self, loop: asyncio.AbstractEventLoop, found: Sequence[str] | Exception) -> None:
        """Store a thread's result; a result that was too late serves the next call."""
        self._threads -= 1
        waiting = self._waiting
        if isinstance(found, Exception) or not found:
            if waiting is not None and not self._asked:
                self._ask(loop)
            elif waiting is not None and not self._threads:
                self._fail(waiting, found if isinstance(found, Exception) else OSError())
            return
        self._known = found
        self._fresh_until = loop.time() + KEPT_S
        self._good_until = loop.time() + GOOD_S
        if waiting is not None:
            self._waiting = None
            waiting.set_result(found)

    def _fail(self, waiting: asyncio.Future[Sequence[str]], problem: Exception) -> None:
        self._waiting = None
        self._on_failed()
        waiting.set_exception(problem)
        waiting.exception()  # retrieved: all who waited may have been cancelled
