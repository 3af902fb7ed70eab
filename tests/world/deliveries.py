"""Endpoints of partners: a server on this machine that takes deliveries, and who sends to it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Final

import aiohttp
import msgspec
from aiohttp import web
from aiohttp.test_utils import TestServer
from sqlalchemy import insert

from gateway.app.store import Store
from gateway.deliveries.places import Places
from gateway.deliveries.sender import Sender, SenderConfig
from gateway.deliveries.store import DeliveryRecords
from gateway.deliveries.worker import DeliveryWorker, Work
from gateway.endpoints.model import Endpoint, EndpointState, PauseCause
from gateway.endpoints.store import EndpointRecords
from gateway.security.secrets import new_signing_secret
from gateway.security.webhooks import secret_bytes, signed_headers
from gateway.store.kernel.database import Database
from gateway.store.kernel.structs import row_of
from gateway.store.tables.core import endpoints
from tests.servers.process import free_port
from tests.world.signing_keys import SEALER
from tests.world.standing import Clock
from tests.world.stores.samples import COMPANY, NOW
from tests.world.waiting import until

SECRET: Final = new_signing_secret(lambda size: b"k" * size)
ENDPOINT: Final = "0e0e0e0e-5d3a-4b7e-9c1d-2a4f6b8c0d1e"
PATIENT: Final = SenderConfig(allow_local=True, connect_s=600, whole_s=600)
"""Calls this machine, and waits as long as a busy one may need."""
HALF: Final = 0.5
"""A chance that spreads nothing."""


@dataclass(frozen=True, slots=True)
class Came:
    """A request that a receiver has got."""

    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def id(self) -> str:
        return self.headers["webhook-id"]

    @property
    def document(self) -> dict[str, Any]:
        return dict(msgspec.json.decode(self.body))


Reply = Callable[[web.Request], Awaitable[web.StreamResponse]]


async def ok(_request: web.Request) -> web.StreamResponse:
    return web.Response()


async def silence(_request: web.Request) -> web.StreamResponse:
    """Never answer; the caller gives up, which ends this."""
    await asyncio.Event().wait()
    raise AssertionError


def with_status(status: int, **headers: str) -> Reply:
    """Answer with a status; names of headers have underscores for hyphens."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}

    async def reply(_request: web.Request) -> web.StreamResponse:
        return web.Response(status=status, headers=named)

    return reply


@dataclass(slots=True)
class Receiver:
    """
    A server that notes what comes.

    Attributes:
        replies: To the next requests; the last one serves on.
    """

    url: str = ""
    replies: list[Reply] = field(default_factory=lambda: [ok])
    came: list[Came] = field(default_factory=list)
    arrival: asyncio.Event = field(default_factory=asyncio.Event)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        self.came.append(Came(request.path, dict(request.headers), body))
        self.arrival.set()
        reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        return await reply(request)

    async def until_came(self, count: int) -> list[Came]:
        """Wait until so many requests have come, and return the first so many."""
        async with asyncio.timeout(60):
            while len(self.came) < count:
                self.arrival.clear()
                await self.arrival.wait()
        return self.came[:count]


@asynccontextmanager
async def receiving(*replies: Reply, **server: Any) -> AsyncIterator[Receiver]:
    """Run a receiver on this machine."""
    receiver = Receiver(replies=list(replies) or [ok])
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", receiver.handle)
    running = TestServer(app, scheme="https" if server else "http")
    await running.start_server(**server)
    try:
        receiver.url = str(running.make_url("/events"))
        yield receiver
    finally:
        await running.close()


def an_endpoint(
    url: str = "https://events.example.com/pix", endpoint_id: str = ENDPOINT, **changed: Any
) -> Endpoint:
    """Return an active endpoint of the sample company, told everything of every account."""
    made = Endpoint(
        id=endpoint_id,
        company_id=COMPANY,
        url=url,
        types=(),
        account_ids=(),
        state=EndpointState.ACTIVE,
        paused_because=PauseCause.NONE,
        created_at=NOW,
        created_by="cli",
        changed_at=NOW,
        changed_by="cli",
        secret_made_at=NOW,
        former_secret_ends_at=None,
        last_ok_at=NOW,
        failing_since=None,
        mailed_h=0,
    )
    return msgspec.structs.replace(made, **changed)


def endpoints_of(database: Database) -> EndpointRecords:
    return EndpointRecords(database, SEALER)


async def add_endpoint(store: Store, endpoint: Endpoint, former: str = "") -> Endpoint:
    """Store an endpoint, however many its company has, perhaps with a former secret."""
    bound = f"endpoint:{endpoint.id}"
    sealed = {
        "sealed_secret": SEALER.seal(SECRET, bound),
        "sealed_former_secret": SEALER.seal(former, bound) if former else None,
    }
    await store.database.write(insert(endpoints), {**row_of(endpoint), **sealed})
    return endpoint


def sending(store: Store, clock: Clock, *, owner: str = "worker", **changed: Any) -> DeliveryWorker:
    """Return the worker of a process, which may send to this machine."""
    work = Work(
        records=DeliveryRecords(store.database),
        endpoints=endpoints_of(store.database),
        sender=Sender(PATIENT, clock.now, clock.monotonic),
        places=Places(clock.monotonic, lambda: HALF),
        now=clock.now,
        owner=owner,
        chance=lambda: HALF,
        count=lambda _event, _outcome: None,
    )
    return DeliveryWorker(replace(work, **changed))


async def sent(worker: DeliveryWorker) -> int:
    """Send all that is due now, and note what comes of it; return how much."""
    count = 0
    while claimed := await worker.turn():
        count += claimed
        await worker.finish()
    return count


def moved(at: datetime = NOW) -> Clock:
    return Clock(at=at)


async def judged_receiver(command: Sequence[str]) -> tuple[list[int], str]:
    """
    Run a receiver of the partners' page; its last argument is a port.

    Returns:
        Its answers to an event, to the same again, altered and unsigned, and the first line that
        it prints.
    """
    port, secret = free_port(), new_signing_secret(os.urandom)
    process = await asyncio.create_subprocess_exec(
        *command,
        str(port),
        env={**os.environ, "PIXGATE_ENDPOINT_SECRET": secret},
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        answers = await until(lambda: _answers(port, secret))
        assert process.stdout is not None
        return answers, (await process.stdout.readline()).decode()
    finally:
        process.kill()
        await process.wait()


async def _answers(port: int, secret: str) -> list[int]:
    """Post; nothing while the receiver is not up yet."""
    body = b'{"type":"payout.paid","timestamp":"x","data":{"reference":"order-1"}}'
    signed = signed_headers([secret_bytes(secret)], "evt_1", datetime.now(UTC), body)
    requests = [(body, signed), (body, signed), (body + b" ", signed), (body, {})]
    url, statuses = f"http://127.0.0.1:{port}/", list[int]()
    try:
        async with aiohttp.ClientSession() as session:
            for data, headers in requests:
                async with session.post(url, data=data, headers=headers) as answer:
                    statuses.append(answer.status)
    except aiohttp.ClientConnectionError:
        return []
    return statuses
