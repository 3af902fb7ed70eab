"""Partners who pay and ask, at a steady pace, through whatever gateway is in the rotation."""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import aiohttp

from tests.proofs.torture.gateway_client import GatewayClient
from tests.world.waiting import until

GOOD = {(200, "processing"), (200, "paid"), (200, "pending"), (200, "read")}


@dataclass(slots=True)
class Load:
    """
    Requests, half of them payouts.

    Attributes:
        partner: Whose account is paid from.
        rotation: Public addresses of the gateways, in turn.
        payouts: References that were answered 200 on creation.
        answers: How often each status and code, or what went wrong instead.
    """

    partner: GatewayClient
    rotation: list[str]
    name: str = "load"
    payouts: list[str] = field(default_factory=list)
    answers: Counter[tuple[int, str]] = field(default_factory=Counter)
    _asked: set[asyncio.Task[None]] = field(default_factory=set)

    @property
    def errors(self) -> dict[tuple[int, str], int]:
        return {each: count for each, count in self.answers.items() if each not in GOOD}

    @asynccontextmanager
    async def at(self, rate: float) -> AsyncIterator[None]:
        """Send so many a second for the length of the block, then wait for the last answers."""
        sending = asyncio.create_task(self._send(rate))
        try:
            yield
        finally:
            sending.cancel()
            await asyncio.gather(sending, return_exceptions=True)
            await asyncio.gather(*self._asked)

    async def more(self, count: int) -> None:
        """Wait until so many requests more were answered, well or not."""
        wanted = self.answers.total() + count
        await until(lambda: self.answers.total() >= wanted)

    async def answered(self) -> None:
        await asyncio.gather(*self._asked)

    async def _send(self, rate: float) -> None:
        for number in itertools.count():
            await asyncio.sleep(1 / rate)
            base = self.rotation[number // 2 % len(self.rotation)]
            asking = self._pay(base, f"{self.name}-{number}") if number % 2 else self._read(base)
            task = asyncio.create_task(asking)
            self._asked.add(task)
            task.add_done_callback(self._asked.discard)

    async def _pay(self, base: str, reference: str) -> None:
        said = await self._ask("POST", f"{base}{self.partner.path}", self.partner.order(reference))
        if said[0] == 200:
            self.payouts.append(reference)
        self.answers[said] += 1

    async def _read(self, base: str) -> None:
        path = f"/baas/v1/account/{self.partner.account.id}/balance"
        self.answers[await self._ask("GET", base + path, None)] += 1

    async def _ask(self, method: str, url: str, body: bytes | None) -> tuple[int, str]:
        try:
            async with self.partner.session.request(
                method, url, data=body, headers=self.partner.headers
            ) as said:
                document = await said.json(content_type=None)
        except (aiohttp.ClientError, TimeoutError, OSError) as problem:
            return 0, type(problem).__name__
        return said.status, document.get("code") or document.get("status") or "read"
