"""HAProxy as what it often is at a bank: a balancer that passes bytes, closes and resets on."""

from __future__ import annotations

import json
import random
from collections.abc import Callable

import pytest

from gateway.banks.client.messages import ProviderAnswer, ProviderRequest, SendProgress
from gateway.banks.port.providers import ProviderError
from tests.proofs.transport.conftest import Run, Street
from tests.proofs.transport.plays import dripping, hasty
from tests.world.banks.roads import (
    FAR,
    behind,
    marks,
    order,
    question,
    read,
    road,
    tried,
)
from tests.world.banks.scripted import Line, Play, ScriptedBank, answer, saying
from tests.world.extent import WHOLE
from tests.world.waiting import forever

ORDERS = 200 if WHOLE else 60
STEP = 1 if WHOLE else 5
"""Bytes from one cut to the next."""
BODY = b'{"id": "1"}'
CODED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
CLOSING = answer(headers=(b"Connection: close",))
ANSWERS = {
    "length": answer(BODY),
    "chunks": CODED + b'5\r\n{"id"\r\n6\r\n: "1"}\r\n0\r\n\r\n',
}


@pytest.fixture
def url(street: Street) -> str:
    """Where bytes are passed on."""
    return f"http://127.0.0.1:{street.peer('haproxy').bytes}"


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
        (dripping(CLOSING), b"{}"),
        # It says that it closes: a second call would else race with the end on its way to us.
        (saying(b"HTTP/1.1 100 Continue\r\n\r\n" * 5 + CLOSING), b"{}"),
        (saying(answer() + answer(b'{"his": 1}')), b"{}"),
        (saying(b""), "connection_lost"),
    ],
)
def test_what_banks_do(run: Run, street: Street, url: str, play: Play, expected: bytes | str):
    """The same for each call: the one before it leaves nothing behind."""

    async def twice() -> None:
        bank = ScriptedBank(play)
        async with behind(street.bank, bank), road(url) as to:
            for _ in range(2):
                found = await tried(to, read())
                if isinstance(found, ProviderError):
                    assert found.reason == expected
                else:
                    assert found.body == expected
        assert len(bank.requests) == 2

    run(twice())


@pytest.mark.parametrize("kind", list(ANSWERS))
@pytest.mark.parametrize("how", ["close", "reset"])
def test_an_answer_cut_at_any_byte(run: Run, street: Street, url: str, kind: str, how: str):
    data = ANSWERS[kind]

    async def every_cut() -> None:
        cut = 0

        async def short(line: Line) -> None:
            await line.say(data[:cut])
            if how == "reset":
                line.reset()

        bank = ScriptedBank(short)
        async with behind(street.bank, bank), road(url) as to:
            for cut in range(0, len(data), STEP):
                progress = SendProgress(FAR)
                found = await tried(to, order(cut), progress)

                assert isinstance(found, ProviderError), cut
                assert progress.bytes_left
                assert found.reason in {"connection_lost", "answer_cut_short"}
        assert marks(bank.requests) == list(range(0, len(data), STEP))

    run(every_cut())


@pytest.mark.parametrize("make", [order, question], ids=["orders", "reads"])
def test_whatever_the_bank_closes_no_request_arrives_twice(
    run: Run, street: Street, url: str, make: Callable[[int], ProviderRequest]
):
    """The balancer's delay widens the race: the bank has closed, and we do not know it yet."""

    async def race() -> None:
        bank = ScriptedBank(hasty(random.Random(1)), keeps=True)
        async with behind(street.bank, bank), road(url) as to:
            for mark in range(ORDERS):
                found = await tried(to, make(mark))
                if isinstance(found, ProviderAnswer):
                    assert json.loads(found.body) == {"mark": mark}
                else:
                    assert found.reason == "connection_lost"
        arrived = marks(bank.requests)
        assert len(arrived) == len(set(arrived))
        assert len(arrived) > ORDERS / 2

    run(race())


def test_an_answer_before_the_request_is_whole(run: Run, street: Street, url: str):
    async def early() -> None:
        async def refuses(line: Line) -> None:
            await line.reader.readuntil(b"\r\n\r\n")
            await line.say(answer(status="413 Content Too Large"))
            await forever()

        bank = ScriptedBank(refuses, reads=False)
        async with behind(street.bank, bank), road(url) as to:
            found = await tried(to, order(body=b"x" * 20_000_000))
            idle = len(to._pool.idle)

        assert isinstance(found, ProviderAnswer)
        assert (found.status, idle) == (413, 0)

    run(early())
