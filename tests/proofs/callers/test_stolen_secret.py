"""A valid secret from another address moves nothing: thousands of tries of every kind."""

from __future__ import annotations

import asyncio
import contextlib
import json
import ssl
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace
from sqlalchemy import func, select

from gateway.core.access import Staff
from gateway.core.caller_rules import CallerRule
from gateway.store.tables.core import payouts
from provider_adapters.testing.demo.ensure import Pair
from tests.proofs.callers.tries import HOME, Place, Try, tries
from tests.servers.front import Node, nginx, patient_haproxy
from tests.world.banks.authority import Authority
from tests.world.extent import SEED, WHOLE
from tests.world.gateway.routes import PAID
from tests.world.gateway.world import World, basic, opened, order, pair_of, sandbox
from tests.world.raw_http import split
from tests.world.waiting import until

ELSEWHERE = "127.0.0.2"
TRIES = 2_500 if WHOLE else 150
"""Each way; there are four of them."""
OUR_PROXY = "127.0.0.9"
FRONTS = {"haproxy": patient_haproxy, "nginx": nginx}
WAYS: Mapping[str, Mapping[str, str]] = {
    "itself": {},
    "beside its proxy": {"trusted_peers": OUR_PROXY, "client_address": "forwarded"},
    **{name: {"trusted_peers": HOME, "client_address": "forwarded"} for name in FRONTS},
}
"""How the gateway is reached, and the settings for it."""


@asynccontextmanager
async def reached(
    folder: Path, way: str
) -> AsyncIterator[tuple[World, int, ssl.SSLContext | None]]:
    """Run a gateway; return it, the port to call, and TLS where a proxy stands in front."""
    settings = sandbox(folder / "gateway")
    server = replace(settings.server, certificate_header="Client-Cert", **WAYS[way])
    if way == "itself":
        server = replace(server, certificate_header="")
    async with opened(replace(settings, server=server)) as world:
        if way not in FRONTS:
            yield world, world.port, None
            return
        node = Node(port=world.port, ops=world.gateway.operations.port)
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        with FRONTS[way](node, node, Authority(folder).sign("proxy")) as front:
            yield world, int(front.url.rpartition(":")[2]), context


@pytest.mark.parametrize("way", WAYS)
async def test_a_stolen_secret_moves_no_money_from_another_address(tmp_path: Path, way: str):
    async with reached(tmp_path, way) as (world, port, tls):
        pair = await limited_to_home(world)
        place = Place(
            authority=f"{HOME}:{port}",
            scheme="https" if tls else "http",
            account=world.demo["accounts"]["main"]["id"],
            authorization=basic(pair),
            today=world.today(),
        )
        home = Caller(HOME, port, tls)
        known = Try(requests=[pay(place, PAID)], pipelined=False, cut=0)
        if way == "beside its proxy":  # the owner comes through the proxy, and so from there
            home = Caller(OUR_PROXY, port, tls)
            known = Try(
                requests=[pay(place, PAID, f"X-Forwarded-For: {HOME}")], pipelined=False, cut=0
            )
        await until(lambda: succeeds(home, known))
        before = await moved(world)

        thief = Caller(ELSEWHERE, port, tls)
        said: Counter[int] = Counter()
        sent = 0
        for each in tries(place, TRIES, SEED):
            said.update(await thief.send(each))
            sent += len(each.requests)

        assert await moved(world) == before
        assert {status for status in said if status < 400} == set(), said
        assert (sent, said[403] > 2 * sent / 5) == (TRIES, True), said
        assert await home.send(known) == [200]


async def limited_to_home(world: World) -> Pair:
    """Issue a credential that may do everything, from one address alone."""
    made = await world.issue()
    pair = pair_of(made)
    staff = Staff(world.office.acting)
    rule = CallerRule(networks=(f"{HOME}/32",))
    await world.gateway.services.credentials.set_callers(staff, pair["client_id"], rule)
    return pair


def pay(place: Place, reference: str, *headers: str) -> bytes:
    body = json.dumps(order(reference, place.today)).encode()
    lines = [
        f"POST /baas/v1/account/{place.account}/withdraw HTTP/1.1",
        f"Host: {place.authority}",
        f"Authorization: {place.authorization}",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
        *headers,
    ]
    return "\r\n".join([*lines, "", ""]).encode() + body


async def succeeds(caller: Caller, known: Try) -> bool:
    """Return whether the owner's payout is answered; a proxy may not have found the gateway yet."""
    return await caller.send(known) == [200]


async def moved(world: World) -> tuple[int, int]:
    """Return how many payouts are in the store, and how many the bank has executed."""
    (row,) = await world.gateway.kernel.store.database.rows(
        select(func.count()).select_from(payouts)
    )
    executed = await world.control.get("executions")
    return int(row[0]), len(executed["data"])


class Caller:
    """A client at an address of the loopback, which sends given bytes."""

    def __init__(self, address: str, port: int, tls: ssl.SSLContext | None) -> None:
        self.address, self.port, self.tls = address, port, tls

    async def send(self, what: Try) -> list[int]:
        """Send requests on a connection of their own; return the statuses that came back."""
        reader, writer = await asyncio.open_connection(
            HOME, self.port, local_addr=(self.address, 0), ssl=self.tls
        )
        said: list[int] = []
        try:
            with contextlib.suppress(ConnectionError):
                if what.pipelined:
                    await _write(writer, what.preface + b"".join(what.requests), what.cut)
                for number, request in enumerate(what.requests):
                    if not what.pipelined:
                        await _write(
                            writer, request if number else what.preface + request, what.cut
                        )
                    answer = await _answer(reader)
                    if answer is None:
                        break
                    said.append(answer)
        finally:
            writer.close()
            with contextlib.suppress(ConnectionError, ssl.SSLError):
                await writer.wait_closed()
        return said


async def _write(writer: asyncio.StreamWriter, content: bytes, cut: int) -> None:
    """Write at once, or in pieces that leave one by one."""
    step = cut or len(content)
    for start in range(0, len(content), step):
        writer.write(content[start : start + step])
        await writer.drain()
        await asyncio.sleep(0)


async def _answer(reader: asyncio.StreamReader) -> int | None:
    """Read one answer whole; None where the connection has ended."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    length = next(
        (
            int(line.partition(b":")[2])
            for line in head.split(b"\r\n")
            if line.lower().startswith(b"content-length:")
        ),
        0,
    )
    (answer,) = split(head + await reader.readexactly(length))
    return answer.status
