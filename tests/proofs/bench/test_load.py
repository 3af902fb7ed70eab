"""The load: answers are read whole, wrong ones are noticed, varying parts are masked."""

import asyncio
import time
from collections.abc import Callable

import pytest

from bench import stub
from bench.load import Load, Order, ask, calling, is_complete
from bench.partner import write_request
from tests.proofs.bench.conftest import LATENCY_S

TRIALS = 5
"""A busy machine disturbs one of them, and not all."""


async def until(is_so: Callable[[], bool]) -> None:
    """Wait for what comes in a moment, on a machine that is busy with others."""
    async with asyncio.timeout(60):
        while not is_so():
            await asyncio.sleep(0.005)


def order(port: int, path: str, status: int = 200) -> Order:
    """Ask the stub for a path."""
    return Order(port=port, request=write_request(path, "Bearer any"), status=status)


@pytest.mark.parametrize(
    ("answer", "complete"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", True),
        (b"HTTP/1.1 200 OK\r\ncontent-length:2\r\n\r\n{}", True),
        (b"HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n", True),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{", False),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n", False),
        (b"HTTP/1.1 200 OK\r\n\r\n{}", False),
        (b"", False),
    ],
)
def test_an_answer_is_complete_with_its_last_byte(answer: bytes, complete):
    assert is_complete(answer) is complete


async def test_an_answer_can_be_compared(bank_port: int):
    answer = await asyncio.to_thread(ask, order(bank_port, stub.path(stub.ACCOUNT)))

    assert answer.splitlines() == [
        "HTTP/1.1 200 OK",
        f"Content-Length: {len(stub.BALANCE)}",
        "Content-Type: application/json",
        "",
        stub.BALANCE.decode(),
    ]


async def test_what_varies_is_masked():
    raw = (
        b'HTTP/1.1 401 Unauthorized\r\nX-Trace-ID: t-1\r\nRateLimit: "read";r=41;t=1\r\n'
        b'Date: Fri, 20 Nov 2026 06:55:31 GMT\r\nContent-Length: 18\r\n\r\n{"trace_id":"t-1"}'
    )

    def tell(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(raw)
        writer.close()

    server = await asyncio.start_server(tell, "127.0.0.1", 0)
    async with server:
        answer = await asyncio.to_thread(ask, order(server.sockets[0].getsockname()[1], "/"))

    assert answer.splitlines() == [
        "HTTP/1.1 401 Unauthorized",
        "Content-Length: 18",
        "Date: *",
        'RateLimit: "read";r=*;t=1',
        "X-Trace-ID: *",
        "",
        '{"trace_id":"*"}',
    ]


async def test_every_answer_is_counted_once(bank_port: int):
    async with calling(order(bank_port, stub.path(stub.ACCOUNT)), Load(connections=3)) as tally:
        await until(lambda: tally.answers > 3)

    assert tally.answers == len(tally.latencies_s) > 3
    assert tally.wrong == 0


async def test_a_slow_account_answers_after_its_time(bank_port: int):
    async with calling(
        order(bank_port, stub.path(stub.SLOW_ACCOUNT)), Load(connections=1)
    ) as tally:
        began = time.monotonic()
        await until(lambda: tally.answers > 1)
        took_s = time.monotonic() - began

    assert tally.answers * LATENCY_S * 0.9 <= took_s
    assert min(tally.latencies_s) >= LATENCY_S * 0.9


@pytest.mark.parametrize(
    ("path", "status"), [("/v1/contas/other/saldo", 200), (stub.path(stub.ACCOUNT), 401)]
)
async def test_an_answer_of_another_status_is_wrong(bank_port: int, path: str, status: int):
    async with calling(order(bank_port, path, status), Load(connections=1)) as tally:
        await until(lambda: tally.answers > 0)

    assert tally.wrong == tally.answers > 0


async def test_a_lost_connection_is_wrong():
    server = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0)
    async with (
        server,
        calling(order(server.sockets[0].getsockname()[1], "/"), Load(connections=2)) as tally,
    ):
        await until(lambda: tally.wrong >= 2)

    assert (tally.answers, tally.wrong) == (0, 2)


async def test_an_open_loop_asks_as_often_as_it_was_told(bank_port: int):
    found = []
    for _ in range(TRIALS):
        load = Load(connections=4, per_s=200)
        async with calling(order(bank_port, stub.path(stub.ACCOUNT)), load) as tally:
            began = time.monotonic()
            await asyncio.sleep(0.25)
            due = load.per_s * (time.monotonic() - began)

        assert tally.wrong == 0
        assert tally.answers <= due + load.connections
        found.append(tally.answers / due)
        if found[-1] >= 0.6:
            return
    pytest.fail(f"of what was due this was asked: {found}")


async def test_waiting_for_a_free_connection_counts(bank_port: int):
    """A system that is slow is not asked less: requests are due all the same, and become late."""
    load = Load(connections=1, per_s=round(4 / LATENCY_S))

    async with calling(order(bank_port, stub.path(stub.SLOW_ACCOUNT)), load) as tally:
        await until(lambda: len(tally.latencies_s) >= 3)

    assert tally.latencies_s[2] > tally.latencies_s[0] + LATENCY_S


async def test_requests_take_turns(bank_port: int):
    found, unknown = (write_request(path, "x") for path in (stub.path(stub.ACCOUNT), "/else"))
    asked = Order(port=bank_port, request=found, others=[unknown])

    async with calling(asked, Load(connections=1)) as tally:
        await until(lambda: tally.answers > 3)

    assert tally.wrong == pytest.approx(tally.answers / 2, abs=1)
