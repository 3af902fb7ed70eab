"""The transport on both event loops: the library's own, and uvloop, which the service runs on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator

import pytest
import uvloop

Run = Callable[[Coroutine[object, object, None]], None]
LOOPS = {"asyncio": asyncio.new_event_loop, "uvloop": uvloop.new_event_loop}


@pytest.fixture(params=list(LOOPS))
def run(request: pytest.FixtureRequest) -> Iterator[Run]:
    """Run a coroutine on a loop of each kind, to its end."""
    with asyncio.Runner(loop_factory=LOOPS[request.param]) as runner:
        yield runner.run
