"""
Which of our files one balance and one payout enter, and in what order.

A whole gateway runs in this process, with its embedded sandbox bank, on an
SQLite file, with warm caches and open connections. Each request is made
several times while the frames of our packages are recorded. Left out: what
tasks and timers of before the request do, and whatever they begin; the bank,
the tests, what writes log lines some time later, and files that less than
three quarters of the requests enter.
"""

from __future__ import annotations

import ast
import asyncio
import sqlite3
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import msgspec
from aiohttp import web

from tests.world.gateway.world import World, opened, order, sandbox
from tests.world.tree import PACKAGES, ROOT
from tests.world.waiting import until

BANK = ("provider_adapters/testing/bank/", "provider_adapters/testing/sandbox.py")
LATER = ("gateway/telemetry/logs/writer.py",)
"""Has what many requests said, 50 ms after the first of them: one that is slow is under way yet."""
WALKS = 9
"""Requests per walk; a timer's callback comes into half of them at most."""
_MOST = 0.75

# Log line and metrics are written after the answer has left.
_END_S = 0.01
# Lets what a request leaves behind end before the next one begins.
_REST_S = 0.05
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


class Background:
    """
    What was going on in a loop before a request, and what that has begun since.

    However slow the machine is and however much comes between, it is no part of the request.
    """

    def __init__(self, loop: asyncio.BaseEventLoop) -> None:
        self._loop = loop
        self._tasks = {each for each in asyncio.all_tasks(loop) if not _serves(each)}
        self._asking = asyncio.current_task()
        self._handles: set[asyncio.Handle] = set(loop._scheduled)  # type: ignore[attr-defined]

    def __contains__(self, frame: FrameType) -> bool:
        """Say whether a frame that begins on this thread is of the background."""
        task = _task()
        return task in self._tasks if task is not None else _handle(frame) in self._handles

    @contextmanager
    def followed(self) -> Iterator[Background]:
        """Take for background what the background begins: its tasks, timers and callbacks."""
        loop = self._loop
        loop.set_task_factory(self._begin)
        for name in ("call_soon", "call_at"):
            setattr(loop, name, self._marking(getattr(loop, name)))
        try:
            yield self
        finally:
            loop.set_task_factory(None)
            for name in ("call_soon", "call_at"):
                delattr(loop, name)

    def _goes_on(self) -> bool:
        """Say whether the background runs now, which is not the test that makes the request."""
        return sys._getframe() in self and _task() is not self._asking

    def _begin(self, loop: asyncio.AbstractEventLoop, coro: Any, **named: Any) -> asyncio.Task[Any]:
        task = asyncio.Task(coro, loop=loop, **named)
        if self._goes_on():
            self._tasks.add(task)
        return task

    def _marking(self, begin: Callable[..., asyncio.Handle]) -> Callable[..., asyncio.Handle]:
        def marking(*given: Any, **named: Any) -> asyncio.Handle:
            handle = begin(*given, **named)
            if self._goes_on():
                self._handles.add(handle)
            return handle

        return marking


class Tracer:
    """Records every frame that begins, once, in every thread started after the tracer."""

    def __init__(self) -> None:
        self._on = False
        self._background: Background | None = None
        self._frames: list[tuple[FrameType, bool]] = []
        self._seen: set[int] = set()
        threading.setprofile(self._record)

    @contextmanager
    def tracing(self) -> Iterator[Walk]:
        """Record frames inside the block; the walk is complete behind it."""
        walk, loop = Walk(), asyncio.get_running_loop()
        assert isinstance(loop, asyncio.BaseEventLoop)
        self._frames, self._seen = [], set()
        with Background(loop).followed() as self._background:
            self._on = True
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
        if not self._on or event != "call" or id(frame) in self._seen or not _ours(frame):
            return
        self._seen.add(id(frame))
        self._frames.append((frame, self._background is not None and frame in self._background))


def _serves(task: asyncio.Task[object]) -> bool:
    """Say whether a task of aiohttp's answers the requests of one connection, one by one."""
    return getattr(task.get_coro(), "__qualname__", "") == web.RequestHandler.start.__qualname__


def _task() -> asyncio.Task[object] | None:
    """Return the running task; None in a callback of the loop and in another thread."""
    try:
        return asyncio.current_task()
    except RuntimeError:
        return None


def _handle(frame: FrameType | None) -> asyncio.Handle | None:
    """Return the callback of the loop in which a frame runs."""
    while frame is not None and frame.f_code is not asyncio.Handle._run.__code__:
        frame = frame.f_back
    return None if frame is None else frame.f_locals["self"]


def _ours(frame: FrameType) -> bool:
    return frame.f_code.co_filename.startswith(f"{ROOT}/")


def _fill(walk: Walk, frames: Sequence[FrameType]) -> None:
    before = ""
    for frame in frames:
        file = frame.f_code.co_filename.removeprefix(f"{ROOT}/")
        if not file.startswith(PACKAGES) or file.startswith((*BANK, *LATER)):
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
            counted = msgspec.structs.replace(settings, sandbox_bank=bank)
            async with opened(counted, environ={}) as world:
                await until(lambda: not callbacks_due(settings.bank_file))
                await asyncio.sleep(_REST_S)
                balance = usual(await _walked(world, tracer, _balance))
                payout = usual(await _walked(world, tracer, _payout))
                return {"balance": balance, "payout": payout}
    finally:
        tracer.close()


def callbacks_due(file: Path) -> int:
    """Count what the bank has yet to send about what the demo made."""
    with closing(sqlite3.connect(file)) as books:
        [(number,)] = books.execute("SELECT count(*) FROM notices").fetchall()
    return int(number)


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
