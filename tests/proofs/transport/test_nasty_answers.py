"""
Nasty answers over sockets, in one piece, byte by byte and by sevens.

Some of each kind, to a read and to a payout: the request arrives once, and the two calls that
follow get their own answers, whatever the first one left on its connection.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from gateway.banks.client.messages import ProviderAnswer, ProviderRequest, SendProgress
from gateway.banks.client.transport import HttpTransport
from gateway.banks.port.providers import ProviderError
from gateway.core.account import Environment
from provider_adapters.kit.limits import ClientLimits
from tests.proofs.transport.plays import echo
from tests.world.banks.nasty import LARGEST, NASTY, SIZES, Nasty, pieces
from tests.world.banks.roads import FAR, marks, order, question, tried
from tests.world.banks.scripted import Line, ScriptedBank, standing
from tests.world.extent import WHOLE

LIMITS = ClientLimits(connect_s=60.0, answer_bytes=LARGEST)
KINDS = list(dict.fromkeys(name.partition(":")[0] for name in NASTY))
_OF_EACH = 4


@pytest.mark.parametrize("make", [question, order], ids=["read", "payout"])
@pytest.mark.parametrize("kind", KINDS)
async def test_a_malformed_answer_leaves_nothing_to_later_calls(
    kind: str, make: Callable[[int], ProviderRequest]
):
    names = [name for name in NASTY if name.startswith(f"{kind}:")]
    chosen = names if WHOLE else names[:: -(-len(names) // _OF_EACH)]

    for name in chosen:
        for size in SIZES:
            async with bank_of(NASTY[name], size) as (bank, to):
                progress = SendProgress(FAR if make is order else None)
                found = await tried(to, make(1), progress)
                after = [await tried(to, make(mark)) for mark in (2, 3)]

            assert progress.bytes_left, (name, size)
            assert outcome(found) == NASTY[name].expected, (name, size)
            assert [said(each) for each in after] == [{"mark": 2}, {"mark": 3}], (name, size)
            assert marks(bank.requests) == [1, 2, 3], (name, size)


def outcome(found: ProviderAnswer | ProviderError) -> str | bytes:
    """The reason of a failure, or the body that was read."""
    return str(found.reason) if isinstance(found, ProviderError) else found.body


def said(found: ProviderAnswer | ProviderError) -> object:
    """Read the document of an answer; a failure is none."""
    return found if isinstance(found, ProviderError) else json.loads(found.body)


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
