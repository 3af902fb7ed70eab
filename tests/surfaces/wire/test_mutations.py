"""
Any request that is a few bytes from a plain one: whole and cut, the same comes of it.

Whole, a plain one is read by our lane; cut, aiohttp reads it. So the two readers are compared, and
where the lane takes neither, aiohttp with itself.
"""

from __future__ import annotations

from collections import Counter

import msgspec
import pytest

from tests.surfaces.wire.mutations import Message, Mutation, drawn
from tests.world.extent import WHOLE
from tests.world.gateway.segments import Gateway
from tests.world.gateway.world import NOBODY, World, basic, order

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.timeout(3600 if WHOLE else 300),
]

MUTATIONS = 1_000_000 if WHOLE else 20_000
PARTS = 20
"""Each of them is a test of its own: so far one is out of bounds, it is told."""


def plain(world: World) -> dict[str, Message]:
    """Write what partners send most: reads with and without a query, and a payout."""
    day = world.today()
    body = msgspec.json.encode(order("mutated-1", day))
    sized = [b"Content-Type: application/json", b"Content-Length: %d" % len(body)]
    of = world.at
    return {
        "balance": message(world, b"GET", of("/balance")),
        "statement": message(world, b"GET", of(f"/transactions?date_from={day}&date_to={day}")),
        "payout": message(world, b"GET", of("/withdraw/mutated-1")),
        "unknown payout": message(world, b"GET", of("/withdraw/nobody-s")),
        "no route": message(world, b"GET", "/baas/v1/nowhere"),
        "nobody": message(world, b"GET", of("/balance"), by=NOBODY),
        "pay": message(world, b"POST", of("/withdraw"), *sized, body=body),
        "nobody pays": message(world, b"POST", of("/withdraw"), *sized, body=body, by=NOBODY),
    }


def message(
    world: World, method: bytes, target: str, *more: bytes, body: bytes = b"", by: str = "full"
) -> Message:
    known = [b"Authorization: " + basic(world.pair(by)).encode()] if by else []
    lines = [b"Host: pixgate", *known, b"User-Agent: a/1 (b)", b"Accept: */*", *more]
    return Message(method, target.encode(), lines, body)


async def tried(reached: Gateway, mutation: Mutation, counts: Counter[str]) -> str:
    """Send a mutation whole and cut; say what is wrong, if anything."""
    whole = await reached.tried([mutation.data])
    if any(each["payout"] == "accepted" for each in whole.records):  # a repeated one from now on
        whole = await reached.tried([mutation.data])
    counts["taken"] += whole.taken
    counts["passed on"] += not whole.taken
    counts[" ".join(str(each["status"]) for each in whole.records) or "no answer"] += 1
    if not mutation.changes and not whole.taken:
        return f"{mutation.name} was not taken"
    return await reached.differs(mutation.cut, whole)


@pytest.mark.parametrize("part", range(PARTS))
async def test_cutting_a_request_anywhere_does_not_change_the_answer(
    waiting_world: World, reached: Gateway, part: int
):
    messages, counts, found = plain(waiting_world), Counter[str](), []
    for number in range(part, MUTATIONS, PARTS):
        mutation = drawn(number, messages)
        if difference := await tried(reached, mutation, counts):
            found.append(f"{number} {mutation.name} {mutation.changes}: {difference}")

    print(dict(counts))  # noqa: T201 - figures
    assert found == []
    assert min(counts["taken"], counts["passed on"]) > MUTATIONS // PARTS // 10
