"""A partner's endpoint: it verifies each delivery, and misbehaves now and then."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from random import Random

import time_machine
from aiohttp import web
from standardwebhooks import Webhook, WebhookVerificationError

_HANGS_S = 15.0
"""Longer than a delivery may take."""
_OK, _FAILS, _DROPS, _DROPS_AFTER, _HANGS = "taken", "failed", "dropped", "unheard", "hung"
_WAYS = {_OK: 92.0, _FAILS: 4.0, _DROPS: 2.0, _DROPS_AFTER: 1.5, _HANGS: 0.5}
"""In percent: after a failure an endpoint gets one delivery at a time, a second apart."""


@dataclass(slots=True, kw_only=True)
class Receiver:
    """
    Whatever came to the endpoint.

    Attributes:
        secret: Of the endpoint, once it has one.
        offsets_s: How far its senders' clocks are or were ahead: a request of a killed process may
            come after its successor's clock was set.
        calm: Everything is answered 204.
        taken: Bodies by event that were stored, whether or not the answer arrived.
        accepted: Events that were answered 2xx.
        unsigned: Requests without a right signature.
    """

    chance: Random
    answers: Counter[str]
    url: str = ""
    secret: str = ""
    offsets_s: list[int] = field(default_factory=list)
    calm: bool = True
    taken: defaultdict[str, set[bytes]] = field(default_factory=lambda: defaultdict(set))
    accepted: set[str] = field(default_factory=set)
    unsigned: list[str] = field(default_factory=list)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        if not self._is_signed(request, body):
            self.unsigned.append(f"{dict(request.headers)} {body[:200]!r}")
            return web.Response(status=401)
        way = _OK if self.calm else self.chance.choices([*_WAYS], [*_WAYS.values()])[0]
        self.answers[way] += 1
        if way in (_OK, _DROPS_AFTER):
            self.taken[request.headers["webhook-id"]].add(body)
        if way == _HANGS:
            await asyncio.sleep(_HANGS_S)
        if way in (_DROPS, _DROPS_AFTER) and request.transport is not None:
            request.transport.abort()
        if way == _OK:
            self.accepted.add(request.headers["webhook-id"])
        return web.Response(status=204 if way == _OK else 500)

    def _is_signed(self, request: web.Request, body: bytes) -> bool:
        """Verify by the partner's library, whose clock is that of a sender."""
        return any(self._is_signed_at(each, request, body) for each in reversed(self.offsets_s))

    def _is_signed_at(self, offset_s: int, request: web.Request, body: bytes) -> bool:
        now = datetime.now(UTC) + timedelta(seconds=offset_s)
        try:
            with time_machine.travel(now, tick=False):
                Webhook(self.secret).verify(body, dict(request.headers))
        except WebhookVerificationError:
            return False
        return True


@asynccontextmanager
async def open_receiver(receiver: Receiver) -> AsyncIterator[None]:
    """Listen on this machine for the length of the block."""
    app = web.Application()
    app.router.add_post("/events", receiver.handle)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        receiver.url = f"http://127.0.0.1:{runner.addresses[0][1]}/events"
        yield
    finally:
        await runner.cleanup()
