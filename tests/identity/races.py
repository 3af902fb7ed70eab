"""
Many refreshes of one token at once, over two nodes: exactly one wins, each time.

``python -m tests.identity.races [ROUNDS] [URL]`` runs 10,000 rounds of ten
callers; without a URL on an SQLite file of its own.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import Sequence

from gateway.app.store import prepare
from gateway.core.account import Environment
from gateway.core.errors import ServiceError
from gateway.core.user_errors import REFRESH_INVALID
from gateway.identity.sessions import TokenPair
from tests.world.identity import IdentityWorld, identity_world_on
from tests.world.standing import Clock
from tests.world.store import open_store
from tests.world.stores.patience import LONG

CALLERS = 10
ROUNDS = 10_000
_SESSION_ROUNDS = 500


async def race(nodes: Sequence[IdentityWorld], token: str, callers: int = CALLERS) -> TokenPair:
    """
    Let so many callers refresh one token, spread over the nodes; return the winner's pair.

    Raises:
        AssertionError: none won or several did, or a loser was told anything
            but REFRESH_INVALID.
    """
    answers = await asyncio.gather(
        *(nodes[each % len(nodes)].services.tokens.refresh(token) for each in range(callers)),
        return_exceptions=True,
    )
    won = [each for each in answers if isinstance(each, TokenPair)]
    lost = [each for each in answers if isinstance(each, ServiceError)]
    assert len(won) == 1, answers
    assert len(lost) == callers - 1, answers
    assert {each.error for each in lost} <= {REFRESH_INVALID}, answers
    return won[0]


async def run(nodes: Sequence[IdentityWorld], rounds: int) -> None:
    """Race again and again, each time with the pair that won; the session outlives it."""
    token = ""
    for number in range(rounds):
        if number % _SESSION_ROUNDS == 0:
            token = (await nodes[0].sign_in()).tokens.refresh_token
        pair = await race(nodes, token)
        token = pair.refresh_token
        # longer ago than the window: nobody shows it again, so nothing may end
        nodes[0].clock.passes(1)
        assert await nodes[1].services.sessions.authenticate(pair.access_token)
    assert not [
        word for word, _ in nodes[0].security_events + nodes[1].security_events if "reuse" in word
    ]


async def main(rounds: int, url: str) -> None:
    """Run the races on a store and say so."""
    clock = Clock()
    stores = [open_store(url, LONG), open_store(url, LONG)]
    await prepare(stores[0], Environment.SANDBOX, migrate=True, now=clock.now)
    nodes = [identity_world_on(store, clock) for store in stores]
    await nodes[0].services.signing_keys.ensure()
    await nodes[0].person()
    await run(nodes, rounds)
    sys.stdout.write(f"{rounds} races of {CALLERS} on two nodes: one winner each\n")
    for node in nodes:
        node.hasher.close()
        await node.store.close()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        given = sys.argv[1:]
        asyncio.run(
            main(
                int(given[0]) if given else ROUNDS,
                given[1] if len(given) > 1 else f"sqlite:///{folder}/store.db",
            )
        )
