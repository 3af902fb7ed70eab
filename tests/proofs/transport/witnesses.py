"""Two readers of the same bytes: ours alone, piece by piece, and aiohttp's client on a socket."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import pairwise

from gateway.banks.client.messages import ProviderAnswer, SendProgress
from gateway.banks.client.responses import ResponseReader
from gateway.banks.client.transport import HttpTransport
from gateway.banks.port.providers import ProviderError
from gateway.core.account import Environment
from tests.world.banks.roads import LIMITS, READ
from tests.world.banks.scripted import Line, ScriptedBank, standing
from tests.world.banks.stock import StockTransport

LARGEST = 2048
Verdict = tuple[object, ...]
"""Status, headers (names in lower case) and body of an answer; reason and status of a failure."""


def said(found: ProviderAnswer | ProviderError) -> Verdict:
    """Put an outcome in a form that can be compared."""
    if isinstance(found, ProviderError):
        return (str(found.reason), found.http_status)
    headers = tuple((name.lower(), value) for name, value in found.headers.items())
    return (found.status, headers, found.body)


def cut(data: bytes, places: Iterable[int]) -> list[bytes]:
    edges = sorted({0, len(data), *(place % (len(data) + 1) for place in places)})
    return [data[one:two] for one, two in pairwise(edges)]


def reading() -> ResponseReader:
    made = ResponseReader(LARGEST)
    made.begin([].append)
    return made


def read(segments: Sequence[bytes]) -> Verdict:
    """Read segments, then the end; say what was made of them."""
    reader = reading()
    try:
        for segment in segments:
            found = reader.feed(segment)
            if found is not None:
                return said(found)
        return said(reader.end())
    except ProviderError as failure:
        return said(failure)


def answer_ends(data: bytes) -> int | None:
    """Return how many bytes our reader takes for the first answer; None if it takes none."""
    reader = reading()
    try:
        for place in range(len(data)):
            if reader.feed(data[place : place + 1]) is not None:
                return place + 1
        reader.end()
    except ProviderError:
        return None
    return len(data)


@dataclass
class Roads:
    """A bank that answers as set, and two network paths to it."""

    ours: HttpTransport
    stock: StockTransport
    data: bytes = b""

    async def play(self, line: Line) -> None:
        """Answer, and close."""
        await line.say(self.data)

    async def ask(self, way: HttpTransport | StockTransport, data: bytes) -> Verdict:
        """Have the bank answer these bytes, over one of the roads."""
        self.data = data
        try:
            return said(await way.call(READ, SendProgress()))
        except ProviderError as failure:
            return said(failure)


@asynccontextmanager
async def roads() -> AsyncIterator[Roads]:
    """Open the bank and both roads."""
    told: list[Roads] = []

    async def play(line: Line) -> None:
        await told[0].play(line)

    async with standing(ScriptedBank(play)) as bank:
        ours, stock = (
            kind(bank.url, LIMITS, Environment.SANDBOX) for kind in (HttpTransport, StockTransport)
        )
        told.append(Roads(ours, stock))
        await ours.start()
        await stock.start()
        try:
            yield told[0]
        finally:
            await ours.close()
            await stock.close()
