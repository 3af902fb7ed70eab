"""Asks for pages of the panel, from a process of its own where CPU time is measured."""

from __future__ import annotations

import asyncio
import http.client
import multiprocessing
from collections.abc import Awaitable, Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import aiohttp

_PATIENCE_S = 60.0
_PERSON = {"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate", "Accept": "text/html"}
_SCRIPT = {
    "Sec-Fetch-Site": "same-origin",
    "Sec-Fetch-Mode": "cors",
    "Accept": "text/html",
    "HX-Request": "true",
    "HX-Request-Type": "partial",
}


@dataclass(frozen=True, slots=True)
class Asked:
    """A page, what the browser holds that asks for it, and whether a script swaps a part of it."""

    origin: str
    path: str
    cookies: Mapping[str, str] = field(default_factory=dict)
    is_part: bool = False

    @property
    def headers(self) -> Mapping[str, str]:
        """What the browser says of who asks."""
        return _SCRIPT if self.is_part else _PERSON


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer: its status, its trace id, and the bytes of its content."""

    status: int
    trace_id: str
    size: int


Ask = Callable[[Asked], Awaitable[Answered]]


async def ask_here(asked: Asked) -> Answered:
    """Ask from this process."""
    async with (
        aiohttp.ClientSession(asked.origin, cookies=asked.cookies) as browser,
        browser.get(asked.path, headers=asked.headers) as said,
    ):
        return Answered(said.status, said.headers["X-Trace-ID"], len(await said.read()))


@contextmanager
def asking_apart() -> Iterator[Ask]:
    """Ask from another process, one page at a time on one connection."""
    apart = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max_workers=1, mp_context=apart) as other:

        async def ask(asked: Asked) -> Answered:
            return await asyncio.get_running_loop().run_in_executor(other, _ask, asked)

        yield ask


def _ask(asked: Asked) -> Answered:
    """Ask; runs in the other process."""
    place = urlsplit(asked.origin).netloc
    if place not in _connections:
        _connections[place] = http.client.HTTPConnection(place, timeout=_PATIENCE_S)
    connection = _connections[place]
    cookies = "; ".join(f"{name}={value}" for name, value in asked.cookies.items())
    connection.request("GET", asked.path, headers={**asked.headers, "Cookie": cookies})
    said = connection.getresponse()
    return Answered(said.status, said.headers["X-Trace-ID"], len(said.read()))


_connections: dict[str, http.client.HTTPConnection] = {}
