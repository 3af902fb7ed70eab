"""Peers that end while orders are under way: what is said of each order is true."""

from __future__ import annotations

import asyncio
import itertools
import json
import signal

import pytest

from gateway.banks.client.messages import ProviderAnswer, SendProgress
from gateway.banks.port.providers import ProviderError, Unreachable
from tests.proofs.transport.conftest import PEERS, Run, Street
from tests.proofs.transport.plays import echo
from tests.servers.peer import Peer
from tests.world.banks.roads import FAR, behind, marks, order, road, tried
from tests.world.banks.scripted import Line, ScriptedBank
from tests.world.waiting import settle

CALLERS, ORDERS = 8, 100
"""How many pay, and after how many orders in all the peer is ended."""
Told = dict[int, ProviderAnswer | ProviderError]


async def _soon(line: Line) -> None:
    """Answer a few turns later: so that orders are under way at any time."""
    await settle(20)
    await line.say(echo(line.request))


async def paying(peer: Peer, number: signal.Signals) -> Told:
    """Let callers pay until the peer that ends among them takes no more; return the outcomes."""
    told: Told = {}

    async def caller(first: int) -> None:
        for mark in itertools.count(first):
            progress = SendProgress(FAR)
            told[mark] = found = await tried(to, order(mark, path="/bank"), progress)
            if isinstance(found, ProviderError):
                assert progress.bytes_left != isinstance(found, Unreachable)
            if len(told) == ORDERS:
                peer.end(number)
            if isinstance(found, Unreachable):
                return

    async with road(f"http://127.0.0.1:{peer.plain}") as to:
        await asyncio.gather(*(caller(1_000_000 * each) for each in range(1, CALLERS + 1)))
    return told


@pytest.mark.parametrize("how", ["gracefully", "at once"])
def test_a_peer_that_restarts_during_payouts_doubles_none(
    run: Run, street: Street, peer_name: str, how: str
):
    """
    Paid once if answered, at most once if lost, never if we report it as unsent.

    The end is the peer's reload or stop, or its crash (for nginx, whose workers outlive a killed
    parent, its fast stop).
    """

    async def ended() -> None:
        bank = ScriptedBank(_soon, keeps=True)
        with PEERS[peer_name](street.setting) as peer:
            at_once = signal.SIGTERM if peer.name == "nginx" else signal.SIGKILL
            async with behind(street.bank, bank):
                told = await paying(peer, peer.gracefully if how == "gracefully" else at_once)

        arrived = marks(bank.requests)
        answered = {mark: one for mark, one in told.items() if isinstance(one, ProviderAnswer)}
        paid = {mark for mark, one in answered.items() if one.status == 200}
        unsent = {mark for mark, one in told.items() if isinstance(one, Unreachable)}
        assert len(arrived) == len(set(arrived))
        assert paid <= set(arrived)
        assert unsent.isdisjoint(arrived)
        assert all(json.loads(answered[mark].body) == {"mark": mark} for mark in paid)
        assert len(paid) >= ORDERS - CALLERS
        assert len(unsent) == CALLERS

    run(ended())
