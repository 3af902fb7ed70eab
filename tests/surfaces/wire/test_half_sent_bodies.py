"""Clients that begin to send a body and never end do not make others wait."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import pytest

from gateway.app.banks import path_of
from gateway.config.settings import Limits
from provider_adapters.testing.sandbox import sign
from tests.world.gateway.world import World, opened, sandbox
from tests.world.raw_http import HOST, split
from tests.world.waiting import settle, until

IN_FLIGHT = 20
"""Ten places for bodies of strangers, then; two for one address."""

MANY = 30
"""More than may be in flight, and far more than the places."""

STRANGERS = [f"127.0.1.{number}" for number in range(1, 11)]
BANK = "127.0.2.1"
LOGIN = "/iam/v1/auth/login"
APART = (
    LOGIN,
    "/iam/v1/auth/mfa",
    "/iam/v1/auth/refresh",
    "/iam/v1/auth/password/forgot",
    "/iam/v1/auth/password/reset",
)
"""Routes of people who have no token yet, or no more."""
HOW = pytest.mark.parametrize("how", ["peer", "forwarded"])

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@asynccontextmanager
async def gateway(folder: Path, how: str) -> AsyncIterator[World]:
    """Open a gateway that takes little; it sees callers itself, or through a proxy of ours."""
    settings = sandbox(folder, limits=Limits(in_flight=IN_FLIGHT, loop_lag_s=3600))
    server = msgspec.structs.replace(
        settings.server,
        body_deadline_s=60,
        client_address=how,
        trusted_peers="127.0.0.0/8" if how == "forwarded" else "",
    )
    async with opened(msgspec.structs.replace(settings, server=server)) as world:
        yield world


async def connected(world: World, how: str, address: str, head: str) -> Streams:
    """Send a head from an address, as the gateway sees it, and nothing after it."""
    local = None if how == "forwarded" else (address, 0)
    streams = await asyncio.open_connection("127.0.0.1", world.port, local_addr=local)
    lines = f"{head}\r\nX-Forwarded-For: {address}\r\n\r\n"
    streams[1].write(lines.encode().replace(b"\r\n", b"\r\n" + HOST, 1))
    return streams


@dataclass(slots=True)
class Held:
    """A connection on which a body was begun, and the answer that has come."""

    writer: asyncio.StreamWriter
    raw: bytearray = field(default_factory=bytearray)

    @property
    def verdict(self) -> tuple[int, str] | None:
        """Status and code; None for a request that is still waited for."""
        answer = split(bytes(self.raw))[0] if self.raw.endswith(b"}") else None
        return (answer.status, answer.code) if answer else None

    async def listen(self, reader: asyncio.StreamReader) -> None:
        """Take what comes until the connection ends."""
        with contextlib.suppress(ConnectionError):
            while piece := await reader.read(65536):
                self.raw += piece


@asynccontextmanager
async def half_sent(
    world: World, how: str, path: str, addresses: Sequence[str], *, waiting: int
) -> AsyncIterator[list[Held]]:
    """Send one head and half of a body from each address, until all but so many are answered."""
    head = f"POST {path} HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 9"
    async with asyncio.TaskGroup() as listening:
        held, tasks = [], []
        for each in addresses:
            reader, writer = await connected(world, how, each, head)
            held.append(Held(writer))
            tasks.append(listening.create_task(held[-1].listen(reader)))
        for each in held:
            each.writer.write(b'{"a"')
        await until(lambda: verdicts(held).count(None) <= waiting)
        try:
            yield held
        finally:
            for each in held:
                each.writer.close()
            for task in tasks:
                task.cancel()


def verdicts(held: Sequence[Held]) -> list[tuple[int, str] | None]:
    return [each.verdict for each in held]


def callback_path(world: World) -> str:
    """Return the address that the sandbox bank has, which may have become known."""
    return path_of("sandbox", world.gateway.kernel.keys.derivation)


async def slow_callback(world: World, how: str) -> int:
    """Tell something as the bank does, its body a moment after the head; return the status."""
    body = json.dumps({"tipo": "outra"}).encode()
    kernel = world.gateway.kernel
    key = kernel.keys.derivation.key("callbacks sandbox")
    signed = sign(key, "evt_slow", kernel.now(), body)
    lines = "\r\n".join(f"{name}: {value}" for name, value in signed.items())
    head = f"POST {callback_path(world)} HTTP/1.1\r\n{lines}\r\nContent-Length: {len(body)}"
    reader, writer = await connected(world, how, BANK, head)
    await settle(50)
    writer.write(body)
    raw = await reader.readuntil(b"}")
    writer.close()
    return split(raw)[0].status


@HOW
@pytest.mark.parametrize("path", ["callbacks", LOGIN])
async def test_one_address_cannot_use_up_the_places_for_half_sent_bodies(
    tmp_path: Path, how: str, path: str
):
    async with gateway(tmp_path, how) as world:
        target = callback_path(world) if path == "callbacks" else path
        async with half_sent(world, how, target, STRANGERS[:1] * MANY, waiting=2) as held:
            balances = [await world.ask("GET", world.at("/balance")) for _ in range(3)]
            taken = await slow_callback(world, how)
            answers = verdicts(held)

    assert [each.status for each in balances] == [200] * 3
    assert taken == 200
    assert answers.count(None) == 2
    assert set(answers) == {None, (503, "SVC.GTW.006")}


@HOW
async def test_half_sent_callbacks_use_up_their_own_places_alone(tmp_path: Path, how: str):
    """A complete callback needs no place; afterwards all places are free."""
    async with gateway(tmp_path, how) as world:
        path = callback_path(world)
        async with half_sent(world, how, path, STRANGERS * 3, waiting=10) as held:
            balance = await world.ask("GET", world.at("/balance"))
            refused = await slow_callback(world, how)
            whole = await world.call("POST", path, data=b"{}")
            answers = verdicts(held)

        async def is_taken() -> bool:
            return await slow_callback(world, how) == 200

        await until(is_taken)

    assert (balance.status, refused, whole.status) == (200, 503, 401)
    assert answers.count(None) == 10
    assert set(answers) == {None, (503, "SVC.GTW.006")}


async def slow_body(world: World, path: str) -> int:
    """Send a body a moment after its head, from an address of its own; return the status."""
    head = f"POST {path} HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 2"
    reader, writer = await connected(world, "peer", f"127.0.3.{APART.index(path) + 1}", head)
    await settle(50)
    writer.write(b"{}")
    raw = await reader.readuntil(b"}")
    writer.close()
    return split(raw)[0].status


async def test_slow_bodies_at_one_route_do_not_block_another(tmp_path: Path):
    """Callback, sign-in, refresh and recovery each have their own places."""
    shut_out = []
    async with gateway(tmp_path, "peer") as world:
        for slow in (*APART, callback_path(world)):
            async with half_sent(world, "peer", slow, STRANGERS * 2, waiting=10):
                answers = {path: await slow_body(world, path) for path in APART if path != slow}
                if slow in APART:
                    answers["callback"] = await slow_callback(world, "peer")
            shut_out += [(slow, path) for path, status in answers.items() if status == 503]

    assert shut_out == []


async def test_a_callback_to_an_unknown_address_is_refused_before_its_body(tmp_path: Path):
    """However many there are: each is answered before it has sent its body."""
    async with gateway(tmp_path, "peer") as world:
        path = f"/callbacks/sandbox/{'0' * 32}"
        async with half_sent(world, "peer", path, STRANGERS[:1] * MANY, waiting=0) as held:
            answers = verdicts(held)

    assert set(answers) == {(401, "SVC.AUT.010")}
