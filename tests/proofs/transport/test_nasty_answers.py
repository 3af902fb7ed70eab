"""
Each nasty answer, in one piece, byte by byte and by sevens, to a read and to a payout.

It is read as it must be or refused; the request arrives once; and the two calls that follow get
their own answers, whatever the first one left on its connection.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest

from gateway.domain.accounts.accounts import Environment
from gateway.domain.bank.providers import ProviderError
from gateway.net.client.messages import SendProgress
from gateway.net.client.transport import HttpTransport
from provider_adapters._road.limits import ClientLimits
from tests.proofs.transport.nasty import LARGEST, NASTY, Nasty
from tests.proofs.transport.plays import echo
from tests.world.banks.roads import FAR, marks, order, question, tried
from tests.world.banks.scripted import Line, ScriptedBank, standing

LIMITS = ClientLimits(connect_s=10.0, answer_bytes=LARGEST)
# Of more bytes than this the cuts are larger: no more happens in two million turns than in some.
_SMALL = 1_000


def test_there_are_as_many_as_were_once_tried_by_hand():
    assert len(NASTY) >= 176


def pieces(data: bytes, size: int) -> Sequence[bytes]:
    """Cut an answer; 0 leaves it whole."""
    step = len(data) if not size else size if len(data) < _SMALL else size * len(data) // _SMALL
    return [data[at : at + step] for at in range(0, len(data), step or 1)]


@asynccontextmanager
async def bank_of(nasty: Nasty, size: int) -> AsyncIterator[tuple[ScriptedBank, HttpTransport]]:
    """Open a bank whose first answer is nasty, and a transport to it."""
    bank: ScriptedBank

    async def play(line: Line) -> None:
        if len(bank.requests) > 1:
            await line.say(echo(line.request))
            return
        for piece in pieces(nasty.data, size):
            if line.writer.is_closing():
                return
            line.writer.write(piece)
            await asyncio.sleep(0)
        if nasty.closes:
            line.writer.close()
            await line.reader.read()

    bank = ScriptedBank(play, keeps=True)
    async with standing(bank):
        to = HttpTransport(bank.url, LIMITS, Environment.SANDBOX)
        await to.start()
        try:
            yield bank, to
        finally:
            await to.close()


@pytest.mark.parametrize("name", list(NASTY))
@pytest.mark.parametrize("money", [False, True], ids=["read", "payout"])
async def test_a_nasty_answer(name: str, money: bool):
    nasty, make = NASTY[name], order if money else question
    for size in (0, 1, 7):
        async with asyncio.timeout(60), bank_of(nasty, size) as (bank, to):
            progress = SendProgress(FAR if money else None)
            found = await tried(to, make(1), progress)

            assert progress.bytes_left
            if isinstance(found, ProviderError):
                assert found.reason == nasty.expected, size
            else:
                assert (found.body, found.status) == (nasty.expected, nasty.status), size
            for mark in (2, 3):
                after = await tried(to, make(mark))
                assert not isinstance(after, ProviderError), (size, after)
                assert json.loads(after.body) == {"mark": mark}
            assert marks(bank.requests) == [1, 2, 3]
