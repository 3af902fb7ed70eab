"""``kill -9`` at every point of a payout, once each: the bank's executions and a retry's answer."""

from __future__ import annotations

import asyncio
import re
import signal
import socket
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

from gateway.app.failpoints import NAMES, OF_A_HOLD
from gateway.banks.client.messages import Kind, ProviderAnswer, ProviderRequest, SendProgress
from gateway.banks.client.transport import HttpTransport
from gateway.core.account import Environment
from gateway.core.clocks import Deadline
from gateway.net.common.runtime import Runtime
from provider_adapters.kit.limits import ClientLimits
from tests.proofs.torture.gateway_client import GatewayClient, torture_world_in
from tests.world.extent import WHOLE
from tests.world.waiting import until

EXECUTED_FROM = NAMES.index("after_body")
STORED_FROM = NAMES.index("after_insert")
POINTS = NAMES if WHOLE else ("after_body",)
HOLD_POINTS = (*OF_A_HOLD, "after_insert", "after_body") if WHOLE else OF_A_HOLD
_HOLD_S = 20
"""As the sites are configured."""
_AT_ONCE = 3
_LATER_S = 120
"""Longer than the lease and the quiet period after it."""


async def heard(gateway_client: GatewayClient, reference: str) -> bytes:
    """Ask for a payout and return every byte of the answer until the connection ends."""
    where = urlsplit(gateway_client.base)
    reader, writer = await asyncio.open_connection(where.hostname, where.port)
    body = gateway_client.order(reference)
    headers = "".join(f"{name}: {value}\r\n" for name, value in gateway_client.headers.items())
    headers += f"Content-Length: {len(body)}\r\n"
    head = f"POST {gateway_client.path} HTTP/1.1\r\nHost: a\r\n{headers}\r\n"
    writer.write(head.encode() + body)
    try:
        return await reader.read()
    except ConnectionError:
        return b""
    finally:
        writer.close()


async def until_paid(gateway_client: GatewayClient, reference: str) -> set[tuple[int, str]]:
    """Repeat the request until the bank has paid; return every answer."""
    answers = set()
    while not await gateway_client.executions(reference):
        answers |= {await gateway_client.pay(reference), await gateway_client.read(reference)}
    answers.add(await gateway_client.pay(reference))
    return answers


async def killed_at(gateway_client: GatewayClient, point: str) -> None:
    """Kill a gateway at a point, start it again after the quiet period, and ask again."""
    await gateway_client.start(failpoint=point)
    answer = await heard(gateway_client, "once")
    code = await gateway_client.command.ended()
    assert code == -signal.SIGKILL, gateway_client.command.said()
    position = NAMES.index(point)
    executed = await executed_by_now(gateway_client, expected=position >= EXECUTED_FROM)

    gateway_client.offset_s += _LATER_S
    await gateway_client.start()
    found = await gateway_client.read("once")
    answers = await until_paid(gateway_client, "once")
    after = await gateway_client.executions("once")

    assert executed == ([1050] if position >= EXECUTED_FROM else []), point
    assert found[0] == (200 if position >= STORED_FROM else 404), point
    assert {status for status, _ in answers} <= {200, found[0]}, (point, answers)
    assert after == [1050], point
    assert_half(answer, whole=point != "mid_reply")


async def executed_by_now(gateway_client: GatewayClient, *, expected: bool) -> list[int]:
    """
    Wait for the order that the bank was sent.

    Where none was, there is nothing to wait for: one that arrives all the same is found at the end.
    """

    async def is_executed() -> bool:
        return bool(await gateway_client.executions("once"))

    if expected:
        await until(is_executed)
    return await gateway_client.executions("once")


def assert_half(answer: bytes, *, whole: bool) -> None:
    """No answer arrives, except half of one when the process died in the middle of it."""
    if whole:
        assert answer == b""
        return
    head, _, body = answer.partition(b"\r\n\r\n")
    length = re.search(rb"content-length: (\d+)", head.lower())
    assert length is not None, answer
    assert head.startswith(b"HTTP/1.1 200")
    assert len(body) in {int(length[1]) // 2, (int(length[1]) + 1) // 2}


async def test_a_crash_at_any_fail_point_pays_exactly_once_after_a_retry(tmp_path: Path):
    """
    Hardening 3.1, row 1, at all twelve points; in the small run at the most uncertain one.

    Nothing is executed before the whole order has left, and everything after; only payouts that
    died before their insert are unknown afterwards; no retry is ever answered with a failure.
    """
    places = asyncio.Semaphore(_AT_ONCE)
    async with torture_world_in(tmp_path) as torture_world:
        gateway_clients = {point: await torture_world.gateway_client(point) for point in POINTS}

        async def in_turn(point: str) -> None:
            async with places:
                await killed_at(gateway_clients[point], point)

        async with asyncio.TaskGroup() as group:
            for point in POINTS:
                group.create_task(in_turn(point))


async def killed_at_the_end_of_a_hold(gateway_client: GatewayClient, point: str) -> None:
    """Hold a payout, kill the gateway as the hold ends, start it again, and ask again."""
    holds = {"PIXGATE_HOLD_ABOVE": "0.00"}
    await gateway_client.start(**holds)
    held = await gateway_client.pay("once")
    sent_early = await gateway_client.executions("once")
    gateway_client.command.kill()
    gateway_client.offset_s += _HOLD_S
    await gateway_client.start(failpoint=point, **holds)
    code = await gateway_client.command.ended()
    assert code == -signal.SIGKILL, gateway_client.command.said()

    gateway_client.offset_s += _LATER_S
    await gateway_client.start(**holds)
    answers = await until_paid(gateway_client, "once")

    assert (held, sent_early) == ((200, "processing"), []), point
    assert {status for status, _ in answers} == {200}, (point, answers)
    assert await gateway_client.executions("once") == [1050], point


async def test_a_crash_at_the_end_of_a_hold_pays_exactly_once(tmp_path: Path):
    """Before the claim the next process ends the hold; after it the attempt is an ordinary one."""
    async with torture_world_in(tmp_path) as torture_world:
        for point in HOLD_POINTS:
            gateway_client = await torture_world.gateway_client(point)
            await killed_at_the_end_of_a_hold(gateway_client, point)
            gateway_client.command.kill()


async def called(
    port: int, failpoint: Callable[[str], None], progress: SendProgress, body: bytes
) -> ProviderAnswer:
    """Call a bank on this port: for money where there is a body, else to read."""
    transport = HttpTransport(
        f"http://127.0.0.1:{port}",
        ClientLimits(),
        Environment.SANDBOX,
        Runtime(failpoint=failpoint),
    )
    await transport.start()
    request = ProviderRequest(
        operation="a call",
        method="POST" if body else "GET",
        template="/",
        path="/",
        body=body,
        kind=Kind.PAYOUT if body else Kind.READ,
    )
    try:
        return await transport.call(request, progress)
    finally:
        await transport.close()


async def test_half_of_the_body_is_sent_at_the_mid_body_fail_point():
    """At that point the bank has the head and exactly half of the order."""
    body = b'{"valor_centavos":1050}.'
    received: dict[str, bytes] = {}
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(60)
        asked: list[socket.socket] = []

        def failpoint(name: str) -> None:
            if name == "after_connect":
                asked.append(server.accept()[0])
            if name in ("mid_body", "after_body"):
                received[name] = asked[0].recv(65536)
            if name == "after_body":
                asked[0].sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")

        loop = asyncio.get_running_loop()
        progress = SendProgress(Deadline(loop.time() + 60, loop.time))
        answer = await called(server.getsockname()[1], failpoint, progress, body)
        asked[0].close()

    assert answer.status == 200
    assert received["mid_body"].endswith(b"\r\n\r\n" + body[:12])
    assert received["after_body"] == body[12:]
