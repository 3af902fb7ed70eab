"""
How long a scrape holds the event loop up.

Served as the gateway serves it, from 200 counters and 20 histograms; beside it
a callback runs as often as the loop lets it, and the longest pause counts.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPConnection
from itertools import islice, product
from pathlib import Path

import uvloop

from bench import system
from gateway.http.ops.surface import OpsSurface
from gateway.net.server.listener import Address, Listener
from gateway.net.server.reply import Reply
from gateway.net.server.request import Request
from gateway.telemetry.metrics import series
from gateway.telemetry.metrics.families import Vocabulary
from gateway.telemetry.metrics.registry import Instance, MetricRegistry

SCRAPE = "loop blocked by a scrape, ms"
IDLE = "loop blocked without one, ms"

_COUNTERS = 200
_HISTOGRAMS = 20
_ROUTES = tuple(f"bench.route-{number}" for number in range(_HISTOGRAMS))
_STATUSES = tuple(map(str, range(200, 210)))
_NOTHING_S = 0.1

Ask = Callable[[str], str]


class Pauses:
    """The longest pause between two turns of the event loop."""

    def __init__(self) -> None:
        """Begin with none."""
        self._loop = asyncio.get_running_loop()
        self._last = time.perf_counter()
        self._longest_s = 0.0

    def turn(self) -> None:
        """Come again at the next turn."""
        now = time.perf_counter()
        self._longest_s = max(self._longest_s, now - self._last)
        self._last = now
        self._loop.call_soon(self.turn)

    def answer(self) -> Reply:
        """Return the longest pause in seconds, and start again."""
        longest_s, self._longest_s = self._longest_s, 0.0
        return Reply(body=json.dumps(longest_s).encode())


def held_up_ms(folder: Path, times: int) -> Mapping[str, list[float]]:
    """Scrape so often; return the longest pause during each, and during as many idle moments."""
    [port] = system.free_ports(1)
    command = [sys.executable, str(Path(__file__)), "--port", str(port)]
    found: dict[str, list[float]] = {SCRAPE: [], IDLE: []}
    with (
        system.running(command, system.cores().measured, folder, lambda: system.answers(port) > 0),
        _asking(port) as ask,
    ):
        for _ in range(times):
            ask("/longest")
            ask("/metrics")
            found[SCRAPE].append(float(ask("/longest")) * 1000)
            time.sleep(_NOTHING_S)
            found[IDLE].append(float(ask("/longest")) * 1000)
    return found


@contextmanager
def _asking(port: int) -> Iterator[Ask]:
    connection = HTTPConnection("127.0.0.1", port, timeout=10.0)

    def ask(path: str) -> str:
        connection.request("GET", path)
        return connection.getresponse().read().decode()

    try:
        yield ask
    finally:
        connection.close()


def filled() -> MetricRegistry:
    """Make the series of a busy process."""
    words = frozenset({"bench"})
    vocabulary = Vocabulary(
        surface=words, route=frozenset(_ROUTES), provider=words, operation=words, policy=words
    )
    made = MetricRegistry(
        Instance(
            version="bench",
            environment="sandbox",
            config_digest="-",
            routes=_HISTOGRAMS,
            policies=0,
            providers=1,
        ),
        vocabulary,
    )
    for route, status in islice(product(_ROUTES, _STATUSES), _COUNTERS):
        made.values(series.REQUESTS).add(("bench", route, "GET", status))
    for route in _ROUTES:
        made.timings(series.REQUEST_DURATION).observe(("bench", route, "GET", "2xx"), 0.01)
    return made


async def serve(port: int) -> None:
    """Serve until the process is ended."""

    async def ready() -> Mapping[str, bool]:
        return {"bench": True}

    surface = OpsSurface(
        ready=ready,
        draining=lambda: False,
        metrics=filled(),
        config_digest="-",
        version="bench",
        metrics_cache_s=0.0,
    )
    pauses = Pauses()

    async def answer(request: Request) -> Reply:
        return pauses.answer() if request.path == "/longest" else await surface.answer(request)

    await Listener(answer, at=Address(port=port)).start()
    pauses.turn()
    await asyncio.Event().wait()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    uvloop.run(serve(parser.parse_args().port))
