"""A proxy that loses requests and answers, answers for the gateway, and delivers copies late."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from dataclasses import dataclass, field
from random import Random

_LENGTH = re.compile(rb"(?i)\r\ncontent-length: *(\d+)")
_ABOUT = re.compile(rb'"reference": *"([^"]+)"|/withdraw/(\S+)')
_PAGE = b"<html><body>Bad Gateway</body></html>"
_FATES = {
    "passed": 70,
    "cut before it arrived": 5,
    "cut after it was answered": 5,
    "answered in half": 5,
    "answered by the proxy, not passed on": 5,
    "answered by the proxy, passed on": 5,
    "answered by the proxy, passed on late": 5,
}
ARRIVES = {
    "passed",
    "cut after it was answered",
    "answered in half",
    "answered by the proxy, passed on",
}


@dataclass(slots=True)
class LossyProxy:
    """
    Stands in front of the gateway's port.

    The fate of a request follows from the seed, its payout and how often that was asked for: it is
    the same in every run, in whatever order requests come.

    Attributes:
        fates: Counts every fate.
        late: Requests that arrive when ``deliver_late`` is called.
    """

    port: int
    seed: str
    fates: Counter[str] = field(default_factory=Counter)
    late: list[bytes] = field(default_factory=list)
    _asked: Counter[bytes] = field(default_factory=Counter)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Take one request; each has a connection of its own."""
        request = await _whole(reader)
        fate = self._fate(request)
        answer = await self._passed_on(request) if fate in ARRIVES else b""
        if fate.startswith("answered by the proxy"):
            length = f"Content-Length: {len(_PAGE)}\r\nConnection: close\r\n\r\n"
            answer = f"HTTP/1.1 502 Bad Gateway\r\n{length}".encode() + _PAGE
        if fate.endswith("late"):
            self.late.append(request)
        if fate == "answered in half":
            answer = answer[: len(answer) // 2]
        if not fate.startswith("cut"):
            writer.write(answer)
            await writer.drain()
        writer.close()
        await writer.wait_closed()

    async def deliver_late(self) -> None:
        """Deliver the copies that were kept."""
        for request in self.late:
            await self._passed_on(request)

    def _fate(self, request: bytes) -> str:
        found = _ABOUT.search(request)
        about = (found[1] or found[2]) if found else b""
        self._asked[about] += 1
        chance = Random(f"{self.seed} {about!r} {self._asked[about]}")
        [fate] = chance.choices(list(_FATES), list(_FATES.values()))
        self.fates[fate] += 1
        return fate

    async def _passed_on(self, request: bytes) -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(request.replace(b"\r\n", b"\r\nConnection: close\r\n", 1))
        answer = await reader.read()
        writer.close()
        await writer.wait_closed()
        return answer


async def _whole(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readuntil(b"\r\n\r\n")
    length = _LENGTH.search(head)
    return head + (await reader.readexactly(int(length[1])) if length else b"")
