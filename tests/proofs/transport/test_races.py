"""Kept connections, and banks that close them at the worst moment."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Callable

import pytest

from gateway.banks.client.messages import ProviderAnswer, ProviderRequest
from gateway.banks.port.providers import ProviderError
from tests.proofs.transport.conftest import Run
from tests.proofs.transport.plays import dripping, echo, hasty
from tests.world.banks.roads import READ, marks, order, question, road, tried
from tests.world.banks.scripted import Line, Play, ScriptedBank, answer, saying, standing
from tests.world.extent import WHOLE
from tests.world.waiting import forever, settle

ROUNDS = 300

Make = Callable[[int], ProviderRequest]

calls = pytest.mark.parametrize("make", [order, question], ids=["orders", "reads"])


@calls
@pytest.mark.parametrize("seed", [1, 2, 3] if WHOLE else [1])
def test_no_request_arrives_twice_after_any_close(run: Run, seed: int, make: Make):
    """And every answer belongs to its request."""

    async def race() -> None:
        chance = random.Random(seed)
        bank = ScriptedBank(hasty(chance), keeps=True)
        async with standing(bank), road(bank.url) as to:
            for mark in range(1, ROUNDS):
                found = await tried(to, make(mark))
                if isinstance(found, ProviderAnswer):
                    assert json.loads(found.body) == {"mark": mark}
                else:
                    assert found.reason == "connection_lost"
                if chance.randrange(3) == 0:
                    await settle()

        arrived = marks(bank.requests)
        assert len(arrived) == len(set(arrived))
        assert bank.connections > ROUNDS / 8
        assert (bank.connections < ROUNDS - 1) == (make is question)

    run(race())


@calls
def test_concurrent_calls_get_their_own_answers(run: Run, make: Make):
    """For reads; each payout has its own connection."""
    chance = random.Random(7)

    async def crowd() -> None:
        async def slowly(line: Line) -> None:
            await settle(chance.randrange(20))
            await line.say(echo(line.request))

        bank = ScriptedBank(slowly, keeps=True)
        async with standing(bank), road(bank.url) as to:

            async def caller(first: int) -> None:
                for mark in range(first, first + 20):
                    found = await tried(to, make(mark))

                    assert isinstance(found, ProviderAnswer)
                    assert json.loads(found.body) == {"mark": mark}

            await asyncio.gather(*(caller(1000 * number) for number in range(1, 33)))
        assert (bank.connections <= 32) == (make is question)
        assert len(bank.requests) == 640

    run(crowd())


@calls
def test_a_cancelled_call_leaves_no_answer_to_another(run: Run, make: Make):
    async def impatience() -> None:
        chance = random.Random(7)

        async def slowly(line: Line) -> None:
            whole = echo(line.request)
            await settle(chance.randrange(10))
            await line.say(whole[:-3])
            await settle(chance.randrange(10))
            await line.say(whole[-3:])

        async with standing(ScriptedBank(slowly, keeps=True)) as bank, road(bank.url) as to:
            finished = 0
            for mark in range(1, 200):
                calling = asyncio.create_task(tried(to, make(mark)))
                await settle(chance.randrange(60))
                if calling.cancel():
                    await asyncio.wait([calling])
                    continue
                found = calling.result()
                assert isinstance(found, ProviderAnswer)
                finished += 1
                assert json.loads(found.body) == {"mark": mark}
            assert 0 < finished < 199
            assert len(bank.requests) <= 199

    run(impatience())


async def _half_closed(line: Line) -> None:
    """Answer, say that no more will come, and go on listening."""
    await line.say(b"HTTP/1.1 200 OK\r\n\r\n{}")
    line.writer.write_eof()
    await line.reader.read()


async def _half_closed_before(line: Line) -> None:
    line.writer.write_eof()
    await line.reader.read()


@pytest.mark.parametrize(
    ("play", "expected"),
    [
        (_half_closed, b"{}"),
        (_half_closed_before, "connection_lost"),
        (dripping(answer(headers=(b"Connection: close",))), b"{}"),
        (saying(b"HTTP/1.1 100 Continue\r\n\r\n" * 5 + answer()), b"{}"),
        (saying(answer(headers=(b"Connection: close",))), b"{}"),
        (saying(answer() + b"\r\n\r\n"), b"{}"),
        (saying(answer() + answer(b'{"his": 1}')), b"{}"),
    ],
)
def test_each_unusual_answer_has_its_expected_result(run: Run, play: Play, expected: bytes | str):
    """Independently of the previous call."""

    async def twice() -> None:
        async with standing(ScriptedBank(play)) as bank, road(bank.url) as to:
            for _ in range(2):
                found = await tried(to, READ)
                if isinstance(found, ProviderError):
                    assert found.reason == expected
                else:
                    assert found.body == expected
            assert bank.connections == 2

    run(twice())


def test_an_answer_before_the_request_is_complete_is_read(run: Run):
    """The bank answers after the head; its answer is used, the connection is not."""

    async def early() -> None:
        async def refuses(line: Line) -> None:
            await line.reader.readuntil(b"\r\n\r\n")
            await line.say(answer(status="413 Content Too Large"))
            await forever()

        big = order(body=b"x" * 20_000_000)
        async with standing(ScriptedBank(refuses, reads=False)) as bank, road(bank.url) as to:
            found = await tried(to, big)
            idle = len(to._pool.idle)

        assert isinstance(found, ProviderAnswer)
        assert (found.status, idle) == (413, 0)

    run(early())
