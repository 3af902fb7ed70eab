"""A figure of a system that answers wrongly, or of a store that stores nothing, is none."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from bench import goals, rounds, stub, subjects, targets
from bench.figures import Measured, Round
from bench.load import Load, Order, calling
from bench.partner import write_request
from bench.rounds import Subject
from bench.stub import Stub
from bench.writing import NotStored, standing, take_round
from gateway.store.payouts.writes import Write, WriteResult
from tests.world.waiting import until


@pytest.fixture
async def bank_port() -> AsyncIterator[int]:
    """Where the stub of a bank listens."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Stub(0.05), "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


def order(port: int, path: str, status: int = 200) -> Order:
    """Ask the stub for a path."""
    return Order(port=port, request=write_request(path, "Bearer any"), status=status)


async def test_an_answer_of_other_content_ends_the_run(bank_port: int):
    asked = order(bank_port, stub.path(stub.ACCOUNT))
    subject = Subject(name="the stub", pid=0, order=asked, right="HTTP/1.1 200 OK\n\nelse")

    with pytest.raises(rounds.WrongAnswer, match="the stub said"):
        await asyncio.to_thread(rounds.compare, [subject])


async def test_right_answers_are_counted_once(bank_port: int):
    async with calling(order(bank_port, stub.path(stub.ACCOUNT)), Load(connections=3)) as tally:
        await until(lambda: tally.answers > 3)

    assert tally.answers == len(tally.latencies_s)
    assert tally.wrong == 0


@pytest.mark.parametrize(
    ("path", "status"), [("/v1/contas/other/saldo", 200), (stub.path(stub.ACCOUNT), 401)]
)
async def test_an_answer_of_another_status_is_wrong(bank_port: int, path: str, status: int):
    async with calling(order(bank_port, path, status), Load(connections=1)) as tally:
        await until(lambda: tally.answers > 0)

    assert tally.wrong == tally.answers


async def test_a_lost_connection_is_wrong():
    server = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0)
    lost = order(server.sockets[0].getsockname()[1], "/")
    async with server, calling(lost, Load(connections=2)) as tally:
        await until(lambda: tally.wrong >= 2)

    assert tally.answers == 0


async def test_a_write_that_is_not_stored_ends_the_run(tmp_path: Path):
    async def forget(_write: Write) -> WriteResult:
        await asyncio.sleep(0)
        return True

    async with standing("SQLite", f"sqlite:///{tmp_path}/store.db") as written:
        with pytest.raises(NotStored, match="told, 0 stored"):
            await take_round(replace(written[0], do=forget, writers=1), 0.001)


@pytest.mark.parametrize(("balance", "failed"), [(100, []), (101, ["R1"])])
def test_a_goal_fails_above_its_limit(balance: float, failed: list[str]):
    measured = Measured(rounds={subjects.BALANCE: [cost(balance)], subjects.PROXY: [cost(100)]})

    assert goals.failed(targets.GOALS, measured) == failed


def cost(cpu_us: float) -> Round:
    """A round of a thousand answers, by their CPU per request."""
    return Round(
        answers=1000,
        seconds=1.0,
        cpu_s=cpu_us / 1000,
        other_cores=0.0,
        p50_ms=1.0,
        p99_ms=2.0,
        pss_mb=97.0,
    )
