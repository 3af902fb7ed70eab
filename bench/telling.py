"""
What telling costs: the calls of the observer that one balance makes, made again thousands of times.

Started as ``pixgate`` is, with a file in front. At SIGUSR1 the last request's
calls are repeated as they were and where they were: counters, line and its way
out included; microseconds of CPU are written into the file, one figure a batch.
What is told outside of any request, or of the first alone, is no part of it.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable, Mapping
from contextvars import Context, copy_context
from functools import partial
from pathlib import Path
from typing import ClassVar

from bench.load import Load, ask
from bench.partner import Prepared
from bench.subjects import balance, staged
from gateway.__main__ import main
from gateway.app import build_telemetry
from gateway.telemetry import trace
from gateway.telemetry.observer import TelemetryObserver
from gateway.telemetry.records import current_record

TELLING = "metrics, log lines and trace id of a balance, µs"

_BATCHES = 9
_TIMES = 2000
_ASKED = 3
"""Balances asked for: the first one finds an empty cache, as one in thousands does."""
_PATIENCE_S = 30.0
_ENDS = "request"
"""The last that is told of a request."""


class Listening(TelemetryObserver):
    """Notes what it is told of each request, and does what it must."""

    now: ClassVar[list[Callable[[], object]]] = []
    last: ClassVar[list[Callable[[], object]]] = []
    inside: ClassVar[Context] = copy_context()


def _listen(name: str) -> Callable[..., object]:
    """Make a method that notes its call, then makes it."""
    told = getattr(TelemetryObserver, name)

    def heard(self: Listening, *arguments: object) -> object:
        if current_record() is not None:
            Listening.now.append(partial(told, self, *arguments))
        if name == _ENDS:
            Listening.last, Listening.now = Listening.now, []
            Listening.inside = copy_context()
        return told(self, *arguments)

    return heard


for _name in vars(TelemetryObserver):
    if not _name.startswith("_"):
        setattr(Listening, _name, _listen(_name))


def repeat(file: Path) -> None:
    """Repeat the last request's calls and its trace id; write microseconds a request."""
    calls = [*Listening.last, trace.new_trace_id]
    batches = [Listening.inside.run(_batch, calls) for _ in range(_BATCHES)]
    waiting = file.with_suffix(".new")
    waiting.write_text(json.dumps(batches))
    waiting.rename(file)


def taken(folder: Path, prepared: Prepared) -> Mapping[str, list[float]]:
    """Start a gateway, ask it, and have the calls repeated; raises NotStarted."""
    with staged(folder, prepared) as stage:
        place, result = stage.place("telling"), folder / "telling.json"
        pid = stage.gateway(place, (sys.executable, __file__, str(result)))
        for _ in range(_ASKED):
            ask(balance(pid, place, prepared.partner, Load(connections=1)).order)
        os.kill(pid, signal.SIGUSR1)
        deadline = time.monotonic() + _PATIENCE_S
        while not result.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        return {TELLING: json.loads(result.read_text())}


def _batch(calls: list[Callable[[], object]]) -> float:
    began = time.process_time()
    for _ in range(_TIMES):
        for call in calls:
            call()
    return (time.process_time() - began) / _TIMES * 1e6


if __name__ == "__main__":
    written = Path(sys.argv.pop(1))
    vars(build_telemetry)["TelemetryObserver"] = Listening
    signal.signal(signal.SIGUSR1, lambda *_: repeat(written))
    sys.argv[0] = "pixgate"
    main()
