"""A figure of a system that answers wrongly, or of one that stores nothing, is none."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from bench import bank, rounds, run
from bench.bank import Stub
from bench.limits import LIMITS
from bench.load import Order, arriving, calling, traced
from bench.partner import write_request
from bench.peer_gateways import FASTAPI
from bench.rounds import Measured, Pace, Round, Subject
from tests.servers.streams import listening
from tests.world.tree import ROOT
from tests.world.waiting import until

LATENCY_S = 0.05


@pytest.fixture
async def bank_port() -> AsyncIterator[int]:
    """Where the stub of a bank listens."""
    loop = asyncio.get_running_loop()
    make = lambda: Stub(LATENCY_S, bank.UNDECIDED, bank.UNDECIDED)  # noqa: E731 - of every connection
    server = await loop.create_server(make, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


def order(port: int, path: str, status: int = 200) -> Order:
    return Order(port=port, requests=traced(write_request(path, "Bearer any")), status=status)


async def test_a_differing_answer_ends_the_bench(bank_port: int):
    asked = order(bank_port, bank.path(bank.ACCOUNT))
    subject = Subject(name="the stub", pid=0, order=asked, right="HTTP/1.1 200 OK\n\nelse")

    with pytest.raises(rounds.WrongAnswer, match="the stub said"):
        await asyncio.to_thread(rounds.compare, [subject])


async def test_correct_answers_are_counted_once(bank_port: int):
    async with calling(order(bank_port, bank.path(bank.ACCOUNT)), 3) as tally:
        await until(lambda: tally.answers > 3)

    assert tally.answers == len(tally.latencies_s)
    assert (tally.open, tally.wrong) == (0, 0)


@pytest.mark.parametrize(
    ("path", "status"), [("/v1/contas/other/saldo", 200), (bank.path(bank.ACCOUNT), 401)]
)
async def test_an_answer_with_another_status_is_wrong(bank_port: int, path: str, status: int):
    async with calling(order(bank_port, path, status), 1) as tally:
        await until(lambda: tally.answers > 0)

    assert tally.wrong == tally.answers


async def test_a_lost_connection_is_wrong():
    async def hang_up(_reader: object, _writer: object) -> None:
        pass

    async with listening(hang_up) as port, calling(order(port, "/"), 2) as tally:
        await until(lambda: tally.wrong >= 2)

    assert tally.answers == 0


async def test_waiting_for_a_free_connection_counts_as_latency(bank_port: int):
    """Each takes the bank 50 ms, and some five are due meanwhile: soon they wait for two."""
    slow = order(bank_port, bank.path(bank.SLOW_ACCOUNT))
    async with arriving(slow, 1, rate=100) as tally:
        await until(lambda: tally.answers > 3)

    assert tally.answers == len(tally.latencies_s)
    assert (tally.open, tally.wrong) == (0, 0)
    assert max(tally.latencies_s) > 2 * LATENCY_S


async def test_a_paced_system_runs_at_a_share_of_its_earlier_rate(bank_port: int):
    asked = order(bank_port, bank.path(bank.ACCOUNT))
    system = Subject(name="the stub", pid=os.getpid(), order=asked)
    slow = replace(system, name="a hundredth of it", pace=Pace(system.name, 0.01))

    taken = await rounds.take([system, slow], rounds=1, seconds=0.1)

    (fast,), (paced,) = taken.values()
    assert paced.answers / paced.seconds < fast.answers / fast.seconds / 2


async def test_a_payout_answered_but_not_stored_ends_the_bench(bank_port: int):
    async def nothing() -> int:
        return 0

    asked = order(bank_port, bank.path(bank.ACCOUNT))
    subject = Subject(name="the stub", pid=os.getpid(), order=asked, stored=nothing)

    with pytest.raises(rounds.WrongAnswer, match="told, 0 stored"):
        await rounds.take_round(subject, 0.001)


@pytest.mark.parametrize(
    ("balance", "failed"), [(107, []), (109, ["R1"]), (121, ["R1"]), (122, ["R1", "R3"])]
)
def test_a_goal_fails_beyond_its_limit(balance: float, failed: list[str]):
    """For a peer a higher cost is better: FastAPI must be dearer than a balance."""
    costs = {run.BALANCE: balance, run.PROXY: 100, FASTAPI: 200}
    measured = Measured(rounds={name: [cost(each)] for name, each in costs.items()})

    assert rounds.failed(run.GOALS, measured) == failed


def test_the_page_has_the_limits():
    """A row begins with the name; its last two cells have the goal and the limit."""
    page = (ROOT / "docs" / "performance.md").read_text()
    rows = re.findall(r"^\| (R\d+): (.+?) \| .+? \| (.+? \| .+?) \|$", page, re.MULTILINE)

    assert rows == [(name, each.meaning, str(each)) for name, each in LIMITS.items()]


def cost(cpu_us: float) -> Round:
    """A round of a thousand answers, by their CPU per request."""
    return Round(answers=1000, seconds=1.0, cpu_s=cpu_us / 1000, other_cores=0.0)
