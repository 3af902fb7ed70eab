"""
Which of our files one balance and one payout enter, and in what order.

A whole gateway runs in this process, with its embedded sandbox bank, on an
SQLite file, with warm caches and open connections. Each request is made
several times while the frames of our packages are recorded. Left out: tasks
that ran before the request, the bank, the tests, and files that less than
three quarters of the requests enter, such as a timer's that came between.
"""

from __future__ import annotations

import ast
import asyncio
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType

import msgspec

from tests.architecture.tree import PACKAGES, ROOT
from tests.surfaces.world import World, opened, order, sandbox

BANK = "provider_adapters/sandbox/bank/"
WALKS = 9
"""Requests per walk; a timer's callback comes into half of them at most."""
_MOST = 0.75

# Log line and metrics are written after the answer has left.
_END_S = 0.01
# Lets what a request leaves behind end before the next one begins.
_REST_S = 0.05

# The bank's callbacks about what the demo made come within this time.
_START_S = 1.0
# A payout that settles makes the bank send a callback, which would be recorded too.
_NEVER_S = 86_400.0

Request = Callable[[World, int], Awaitable[None]]


@dataclass
class Walk:
    """
    What one request entered.

    Attributes:
        files: In the order of first entry, relative to the root.
        functions: Different ones.
        changes: How often the next function entered was in another file.
    """

    files: list[str] = field(default_factory=list)
    functions: set[CodeType] = field(default_factory=set)
    changes: int = 0


class Tracer:
    """Records every frame that begins, once, in every thread started after the tracer."""

    def __init__(self) -> None:
        self._on = False
        self._background: set[asyncio.Task[object]] = set()
        self._frames: list[tuple[FrameType, bool]] = []
        self._seen: set[int] = set()
        threading.setprofile(self._record)

    @contextmanager
    def tracing(self) -> Iterator[Walk]:
        """Record frames inside the block; the walk is complete behind it."""
        walk = Walk()
        self._background = asyncio.all_tasks()
        self._frames, self._seen, self._on = [], set(), True
        sys.setprofile(self._record)
        try:
            yield walk
        finally:
            self._on = False
            sys.setprofile(None)
        _fill(walk, [frame for frame, background in self._frames if not background])
        self._frames, self._seen = [], set()

    def close(self) -> None:
        """Stop recording threads that start from now on."""
        threading.setprofile(None)

    def _record(self, frame: FrameType, event: str, _argument: object) -> None:
        # A coroutine's frame is called again each time it is resumed. Keeping the frame keeps
        # its id from being used again.
        if self._on and event == "call" and id(frame) not in self._seen:
            self._seen.add(id(frame))
            self._frames.append((frame, _task() in self._background))


def _task() -> asyncio.Task[object] | None:
    """Return the running task; None in a callback of the loop and in another thread."""
    try:
        return asyncio.current_task()
    except RuntimeError:
        return None


def _fill(walk: Walk, frames: Sequence[FrameType]) -> None:
    before = ""
    for frame in frames:
        file = frame.f_code.co_filename.removeprefix(f"{ROOT}/")
        if not file.startswith(PACKAGES) or file.startswith(BANK):
            continue
        if file not in walk.files:
            walk.files.append(file)
        walk.functions.add(frame.f_code)
        walk.changes += file != before
        before = file


async def _balance(world: World, _number: int) -> None:
    answer = await world.ask("GET", world.at("/balance"))
    assert answer.status == 200


async def _payout(world: World, number: int) -> None:
    answer = await world.pay(order(f"walk-{number}", world.today()))
    assert answer.status == 200


async def _walked(world: World, tracer: Tracer, request: Request) -> Sequence[Walk]:
    walks = []
    for number in range(WALKS + 2):
        with tracer.tracing() as walk:
            await request(world, number)
            await asyncio.sleep(_END_S)
        walks.append(walk)
        await asyncio.sleep(_REST_S)
    return walks[2:]  # the first two open connections and fill caches


def usual(walks: Sequence[Walk]) -> Walk:
    """Return the walk that is nearest to what most have in common, without the rest."""
    counted = Counter(file for walk in walks for file in walk.files)
    common = {file for file, number in counted.items() if number >= len(walks) * _MOST}
    nearest = min(walks, key=lambda walk: len(common.symmetric_difference(walk.files)))
    missing = sorted(common.difference(nearest.files))
    files = [file for file in nearest.files if file in common] + missing
    return Walk(files, nearest.functions, nearest.changes)


async def _all() -> dict[str, Walk]:
    tracer = Tracer()
    try:
        with tempfile.TemporaryDirectory() as folder:
            settings = sandbox(Path(folder))
            bank = msgspec.structs.replace(settings.sandbox_bank, settle_after_s=_NEVER_S)
            async with opened(msgspec.structs.replace(settings, sandbox_bank=bank)) as world:
                await asyncio.sleep(_START_S)
                balance = usual(await _walked(world, tracer, _balance))
                payout = usual(await _walked(world, tracer, _payout))
                return {"balance": balance, "payout": payout}
    finally:
        tracer.close()


def walks() -> dict[str, Walk]:
    """Walk both; a few seconds."""
    return asyncio.run(_all())


def purpose(file: str) -> str:
    """Return the first sentence of a module's docstring."""
    text = ast.get_docstring(ast.parse((ROOT / file).read_text(encoding="utf-8"))) or ""
    return " ".join(text.split("\n\n")[0].split())


def table(walk: Walk) -> str:
    """Write a walk as the page shows it."""
    rows = (
        f"| {number} | `{file}` | {purpose(file).replace('|', '/')} |"
        for number, file in enumerate(walk.files, 1)
    )
    return "\n".join(["| | File | What it is for |", "| --- | --- | --- |", *rows])
