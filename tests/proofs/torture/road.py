"""A road on which messages are lost: sent and arrived, but never acknowledged."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from random import Random

_ACTS_S = 0.03
"""Time for the far end to do what it was asked before the connection is cut."""


@dataclass(slots=True, kw_only=True)
class Road:
    """
    Carries bytes between a loopback port of its own and a server's.

    Attributes:
        loses: The share of messages to the server at which the connection is lost: before the
            message arrives, or after (cut, or silent for good), in equal parts.
        lost: Counts every loss.
    """

    name: str
    target: int
    chance: Random
    lost: Counter[str]
    loses: float = 0.0
    port: int = 0
    _server: asyncio.Server | None = None
    ways: set[Way] = field(default_factory=set)

    async def open(self) -> None:
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: Way(self), "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()
        self.cut()

    def cut(self) -> None:
        for way in tuple(self.ways):
            way.cut()

    def draw(self) -> str:
        if not self.loses or self.chance.random() >= self.loses:
            return ""
        fate = self.chance.choice(("request", "answer", "silence"))
        self.lost[f"{self.name} {fate}"] += 1
        return fate


class Way(asyncio.Protocol):
    """One connection: the near half."""

    def __init__(self, road: Road) -> None:
        self.road = road
        self.near: asyncio.Transport | None = None
        self.far: asyncio.Transport | None = None
        self.waiting: list[bytes] = []
        self.mute = False
        self.connecting: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:
        self.near = transport
        self.road.ways.add(self)
        self.connecting = asyncio.get_running_loop().create_task(self._connect())

    def data_received(self, data: bytes) -> None:
        fate = "" if self.mute else self.road.draw()
        if fate == "request":
            self.cut()
            return
        if self.far is None:
            self.waiting.append(data)
        else:
            self.far.write(data)
        if fate:
            self.mute = True
        if fate == "answer":
            asyncio.get_running_loop().call_later(_ACTS_S, self.cut)

    def eof_received(self) -> bool:
        self.cut()
        return False

    def connection_lost(self, problem: Exception | None) -> None:
        self.cut()

    def cut(self) -> None:
        """End both halves."""
        self.road.ways.discard(self)
        if self.connecting is not None:
            self.connecting.cancel()
        for transport in (self.near, self.far):
            if transport is not None:
                transport.abort()

    async def _connect(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            far, _ = await loop.create_connection(
                lambda: _FarHalf(self), "127.0.0.1", self.road.target
            )
        except OSError:
            self.connecting = None
            self.cut()
            return
        self.far = far
        self.connecting = None
        for data in self.waiting:
            far.write(data)


class _FarHalf(asyncio.Protocol):
    def __init__(self, way: Way) -> None:
        self.way = way

    def data_received(self, data: bytes) -> None:
        if not self.way.mute and self.way.near is not None:
            self.way.near.write(data)

    def connection_lost(self, problem: Exception | None) -> None:
        self.way.cut()


@asynccontextmanager
async def open_road(road: Road) -> AsyncIterator[Road]:
    await road.open()
    try:
        yield road
    finally:
        await road.close()
