"""
``python -m bench.deliveries``: events to endpoints of which some hang, by one worker.

Events come at a rate, or all at once (``--rate 0``), which gives deliveries a second. The receivers
are a process of their own, and note when each event came first. The figures are of endpoints that
answer; the others never do. Fails on an event of theirs that did not arrive or was not verified,
never on a slow one.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import os
import statistics
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Final

import uvloop
from aiohttp import web
from sqlalchemy import func, insert, select
from standardwebhooks import Webhook

from gateway.app.store import Store, prepare
from gateway.companies.model import Company
from gateway.core.account import Environment
from gateway.deliveries.places import Places
from gateway.deliveries.sender import Sender, SenderConfig
from gateway.deliveries.store import DeliveryRecords
from gateway.deliveries.worker import DeliveryWorker, Work
from gateway.endpoints.store import EndpointRecords
from gateway.events.model import Event, EventType, new_event_id
from gateway.net.common.runtime import chance, utc_now
from gateway.security.sealing import Sealer
from gateway.security.secrets import new_signing_secret
from gateway.store.kernel.structs import row_of
from gateway.store.tables.core import companies, deliveries, endpoints, events
from tests.servers import postgres
from tests.world.deliveries import an_endpoint
from tests.world.store import open_store
from tests.world.stores import samples

_SEALER: Final = Sealer({"bench": b"b" * 32}, "bench")
_SECRET: Final = new_signing_secret(os.urandom)
_FILE, _SERVER = "sqlite", "postgresql"
_AT_ONCE: Final = 500
_TURN_S: Final = 0.1


@dataclass(frozen=True, slots=True)
class Party:
    """A company of one account and one endpoint."""

    account_id: str
    endpoint_id: str
    hangs: bool


def main(arguments: Sequence[str] | None = None) -> int:
    """Run once, and print the figures."""
    options = _options(arguments)
    ours, theirs = multiprocessing.Pipe()
    receivers = multiprocessing.Process(target=_receive, args=(theirs, _SECRET), daemon=True)
    receivers.start()
    port: int = ours.recv()
    try:
        with _store(options.database) as url:
            sent, took_s = uvloop.run(_measure(options, url, port))
        ours.send("end")
        came: dict[str, float] = ours.recv()
    finally:
        receivers.terminate()
        receivers.join()
    return _report(options, sent, came, took_s)


@contextmanager
def _store(database: str) -> Iterator[str]:
    """Give the address of an empty store; every commit reaches the disk."""
    if database == _SERVER:
        with postgres.running(settings=()) as server:
            yield server.plain
    else:
        with tempfile.TemporaryDirectory() as folder:
            yield f"sqlite:///{Path(folder) / 'bench.db'}"


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench.deliveries", description=__doc__)
    parser.add_argument("--events", type=int, default=100_000)
    parser.add_argument("--endpoints", type=int, default=500)
    parser.add_argument("--hang", type=int, default=50)
    parser.add_argument("--rate", type=float, default=200, help="events a second; 0: all at once")
    parser.add_argument("--database", choices=(_FILE, _SERVER), default=_FILE)
    parser.add_argument("--patience", type=float, default=900, help="seconds after the last event")
    return parser.parse_args(arguments)


def _receive(pipe: Connection, secret: str) -> None:
    """Serve until told to end; answer with when each event came first."""
    came: dict[str, float] = {}
    webhook = Webhook(secret)

    async def take(request: web.Request) -> web.Response:
        body = await request.read()
        webhook.verify(body, dict(request.headers))
        came.setdefault(request.headers["webhook-id"], time.time())
        return web.Response(status=204)

    async def hang(_request: web.Request) -> web.Response:
        await asyncio.Event().wait()
        raise AssertionError

    async def serve() -> None:
        app = web.Application()
        app.router.add_post("/takes/{endpoint}", take)
        app.router.add_post("/hangs/{endpoint}", hang)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        pipe.send(runner.addresses[0][1])
        await asyncio.to_thread(pipe.recv)
        pipe.send(came)

    uvloop.run(serve())


async def _measure(
    options: argparse.Namespace, url: str, port: int
) -> tuple[dict[str, float], float]:
    """Return when each event to an endpoint that answers was stored, and how long all took."""
    store = open_store(url)
    try:
        await prepare(store, Environment.SANDBOX, migrate=True, now=utc_now)
        parties = [party async for party in _parties(store, options, port)]
        worker = _worker(store)
        worker.task.start()
        began = time.monotonic()
        sent = await _happen(store, options, parties)
        await _until_delivered(store, len(sent), options.patience)
        took_s = time.monotonic() - began
        await worker.task.stop()
    finally:
        await store.close()
    return sent, took_s


def _worker(store: Store) -> DeliveryWorker:
    return DeliveryWorker(
        Work(
            records=DeliveryRecords(store.database),
            endpoints=EndpointRecords(store.database, _SEALER),
            sender=Sender(SenderConfig(allow_local=True), utc_now, time.monotonic),
            places=Places(time.monotonic, chance),
            now=utc_now,
            owner="bench",
            chance=chance,
            count=lambda _event, _outcome: None,
        )
    )


async def _parties(store: Store, options: argparse.Namespace, port: int) -> Any:  # noqa: ANN401
    """Store companies, each with one account and one endpoint."""
    for number in range(options.endpoints):
        hangs = number < options.hang
        company_id, account_id, endpoint_id = (str(uuid.uuid4()) for _ in range(3))
        word = "hangs" if hangs else "takes"
        made = an_endpoint(
            f"http://127.0.0.1:{port}/{word}/{number}",
            endpoint_id,
            company_id=company_id,
            last_ok_at=utc_now(),
        )
        sealed = {
            "sealed_secret": _SEALER.seal(_SECRET, f"endpoint:{endpoint_id}"),
            "sealed_former_secret": None,
        }
        company = Company(id=company_id, name="bench", created_at=utc_now(), contact="")
        account = replace(
            samples.account(account_id, company_id=company_id), provider_account=account_id
        )
        async with store.database.writing() as connection:
            await connection.execute(insert(companies), dict(row_of(company)))
            await connection.execute(insert(endpoints), {**row_of(made), **sealed})
        await store.accounts.add(account, samples.event())
        yield Party(account_id, endpoint_id, hangs)


async def _happen(
    store: Store, options: argparse.Namespace, parties: Sequence[Party]
) -> dict[str, float]:
    """Store events of each account in turn, at the rate."""
    sent: dict[str, float] = {}
    began, stored = time.monotonic(), 0
    for part in _parts(options):
        ahead_s = stored / options.rate - (time.monotonic() - began) if options.rate else 0
        if ahead_s > 0:
            await asyncio.sleep(ahead_s)
        made = [(parties[number % len(parties)], _event(parties, number)) for number in part]
        async with store.database.writing() as connection:
            await connection.execute(insert(events), [dict(row_of(each)) for _, each in made])
        now = time.time()
        sent |= {each.id: now for party, each in made if not party.hangs}
        stored += len(made)
    return sent


def _parts(options: argparse.Namespace) -> Iterator[range]:
    size = max(1, min(_AT_ONCE, int(options.rate * _TURN_S))) if options.rate else _AT_ONCE
    for begin in range(0, options.events, size):
        yield range(begin, min(begin + size, options.events))


def _event(parties: Sequence[Party], number: int) -> Event:
    return Event(
        id=new_event_id(os.urandom),
        account_id=parties[number % len(parties)].account_id,
        type=EventType.PAYOUT_PAID,
        at=datetime.now(UTC),
        reference=f"order-{number}",
    )


async def _until_delivered(store: Store, count: int, patience_s: float) -> None:
    delivered = select(func.count()).where(deliveries.c.state == "delivered")
    by = time.monotonic() + patience_s
    while time.monotonic() < by:
        [row] = await store.database.rows(delivered)
        if row[0] >= count:
            return
        await asyncio.sleep(1)


def _report(
    options: argparse.Namespace, sent: dict[str, float], came: dict[str, float], took_s: float
) -> int:
    late = sorted(came[each] - at for each, at in sent.items() if each in came)
    missing = len(sent) - len(late)
    rate = f"{options.rate:g} a second" if options.rate else "all at once"
    print(
        f"{options.events:,} events, {options.endpoints} endpoints, {options.hang} hang, "
        f"{rate}: {len(late):,} arrived in {took_s:.1f} s "
        f"({len(late) / took_s:.0f}/s), missing {missing}"
    )
    if len(late) > 1:
        parts = statistics.quantiles(late, n=100)
        print(f"from stored to received: p50 {parts[49]:.2f} s, p99 {parts[98]:.2f} s")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
