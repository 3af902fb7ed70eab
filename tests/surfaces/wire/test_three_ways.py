"""
Every probe sent whole, cut in two at ten places, and byte by byte, with the same result.

A plain request that arrives whole is read by our own reader, everything else by aiohttp. If the two
differed, an attacker could choose how the gateway reads a request.
"""

from __future__ import annotations

import pytest

from tests.surfaces.wire.probes import ACCEPTED, GROUPS, MARK
from tests.world.gateway.segments import Gateway, ways
from tests.world.gateway.world import World, basic
from tests.world.raw_http import HOST

pytestmark = pytest.mark.asyncio(loop_scope="module")

CASES = {
    **{name: [b"".join(probe.portions) for probe in group] for name, group in GROUPS.items()},
    "accepted": [sent for sent, _, _ in ACCEPTED],
}
LONGEST = 40_000
"""Nothing is read beyond it, and it is not sent byte by byte."""


def aimed(data: bytes, target: str, credential: str) -> bytes:
    """Send the same to a route of the partner surface, with a credential: the lane's own."""
    for given in (b"/" + MARK, b"/"):
        data = data.replace(b" " + given + b" ", b" " + target.encode() + b" ")
    return data.replace(HOST, HOST + f"Authorization: {credential}\r\n".encode())


async def differences(reached: Gateway, data: bytes, *, plain: bool) -> list[str]:
    """Say at which places a cut changes what comes of bytes; of plain ones the lane may take."""
    whole = await reached.tried([data])
    found = [f"{data!r:.200} was taken"] if whole.taken and not plain else []
    cuts = [each for each in ways(data) if len(each) <= LONGEST]
    return found + [told for each in cuts if (told := await reached.differs(each, whole))]


@pytest.mark.parametrize("group", CASES)
async def test_segmentation_changes_no_answer(waiting_world: World, reached: Gateway, group: str):
    """For a read and a payout, which our own reader handles when they are plain."""
    credential = basic(waiting_world.pair("full"))
    found = [
        each
        for data in CASES[group]
        for sent in (
            aimed(data, waiting_world.at("/balance"), credential),
            aimed(data, waiting_world.at("/withdraw"), credential),
        )
        for each in await differences(reached, sent, plain=group == "accepted")
    ]

    assert found == []


async def test_nothing_is_read_after_the_last_answer(waiting_world: World, reached: Gateway):
    """Aiohttp closes one turn of the loop after its answer; bytes before that are no request."""
    sound = b"GET " + waiting_world.at("/balance").encode() + b" HTTP/1.0\r\nHost: pixgate\r\n\r\n"
    flawed = b"GET  / HTTP/1.1\r\n\r\n"
    begun = [sound[:9], sound[9:], b"\r\n"]  # in the turn in which it is begun
    alone = await reached.tried(begun)
    found = [
        told
        for turns in range(40)
        if (told := await reached.tried([*begun, *[b"\r\n"] * turns, flawed])) != alone
    ]

    assert [each["status"] for each in alone.records] == [401]
    assert found == []
