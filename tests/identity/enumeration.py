"""
The same request for users and for unknown addresses, over a socket: the same answer and work.

Wrong passwords, requests for a reset link, and codes for a challenge that is over or never was.
``python -m tests.identity.enumeration [PAIRS]`` measures the time of 2,000 pairs of each, with
digests at production cost; the tests compare the work.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from gateway.app.store import prepare
from gateway.core.account import Environment
from gateway.identity.passwords import Cost
from tests.world.gateway.answers import Answer
from tests.world.gateway.identity_api import ApiClient, api_client_on
from tests.world.standing import Clock
from tests.world.store import open_store

Body = dict[str, str]
Lap = TypeVar("Lap")

PAIRS = 2_000
CLOSE = 0.1
"""How far the medians may be apart."""

_PEOPLE = 50
"""More tries of one person than a hundred in a row would be refused for that."""

_TRACE = {"X-Trace-ID": "the-same"}
_WRONG = "wrong wrong wrong"


@dataclass(slots=True)
class Told(Generic[Lap]):
    """
    Answers to two kinds of callers.

    Attributes:
        answers: Every different answer: status, headers and body.
        known, unknown: What each request cost.
    """

    answers: set[tuple[int, tuple[tuple[str, str], ...], bytes]] = field(default_factory=set)
    known: list[Lap] = field(default_factory=list)
    unknown: list[Lap] = field(default_factory=list)

    def add(self, answer: Answer) -> None:
        """Remember an answer."""
        headers = ((name, value) for name, value in answer.headers.items() if name != "Date")
        self.answers.add((answer.status, tuple(sorted(headers)), answer.body))


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """
    A kind of request.

    Attributes:
        apart_s: Seconds after which nothing of a pair counts against the next.
        has_factor: The users have a second factor.
    """

    path: str
    apart_s: float
    has_factor: bool = False


KINDS = {
    "login": Kind(path="login", apart_s=1_000),
    "forgot": Kind(path="password/forgot", apart_s=3_601),
    "mfa": Kind(path="mfa", apart_s=1_000, has_factor=True),
}


@dataclass(slots=True)
class Stopwatch:
    """Returns the seconds since its last call."""

    clock: Callable[[], float] = time.perf_counter
    last: float = 0

    def __call__(self) -> float:
        before, self.last = self.last, self.clock()
        return self.last - before


async def run(api_client: ApiClient, pairs: int, name: str, lap: Callable[[], Lap]) -> Told[Lap]:
    """
    Send pairs of requests, each in the other order than the pair before.

    ``lap`` returns what was spent since its last call.
    """
    kind = KINDS[name]
    people = [f"{uuid.uuid4().hex}@example.com" for _ in range(min(pairs, _PEOPLE))]
    bodies = [await _bodies(api_client, email, kind) for email in people]
    told = Told[Lap]()

    async def ask(body: Body) -> Lap:
        lap()
        answer = await api_client.ask("POST", f"/iam/v1/auth/{kind.path}", body, headers=_TRACE)
        spent = lap()
        told.add(answer)
        return spent

    for number in range(pairs):
        known, unknown = bodies[number % len(bodies)]
        # the first request after a pause is slower, whichever of the two it is
        await ask(unknown)
        both = [(known, told.known), (unknown, told.unknown)]
        for body, spent in both if number % 2 else reversed(both):
            spent.append(await ask(body))
        # work behind the answer is done between the pairs
        await api_client.send_reset_links()
        api_client.clock.passes(kind.apart_s)
    return told


async def _bodies(api_client: ApiClient, email: str, kind: Kind) -> tuple[Body, Body]:
    """Make a user; return the request for them, and the same for an unknown address."""
    await api_client.identity_world.person(email)
    if kind.has_factor:
        await api_client.identity_world.enrol(email)
        token = (await api_client.login(email)).document["mfa_token"]
        api_client.clock.passes(kind.apart_s)
        known, unknown = ({"mfa_token": each, "code": "123456"} for each in (token, token[::-1]))
        return known, unknown
    wrong = {"password": _WRONG} if kind.path == "login" else {}
    return {"email": email, **wrong}, {"email": f"nobody-{email}", **wrong}


async def main(pairs: int) -> None:
    """Run each kind and print its medians."""
    clock = Clock()
    with tempfile.TemporaryDirectory() as folder:
        store = open_store(f"sqlite:///{folder}/store.db")
        await prepare(store, Environment.SANDBOX, migrate=True, now=clock.now)
        async with api_client_on(store, clock, cost=Cost()) as api_client:
            failed = [name for name in KINDS if not await _holds(api_client, pairs, name)]
        await store.close()
    if failed:
        sys.exit(f"told apart: {', '.join(failed)}")


async def _holds(api_client: ApiClient, pairs: int, name: str) -> bool:
    """Run one kind; say whether answers and times are alike."""
    told = await run(api_client, pairs, name, Stopwatch())
    known, unknown = (statistics.median(each) * 1000 for each in (told.known, told.unknown))
    sys.stdout.write(
        f"{name}: {pairs} pairs, {len(told.answers)} answer; medians {known:.2f} ms for people,"
        f" {unknown:.2f} ms for nobody, ratio {known / unknown:.3f}\n"
    )
    return len(told.answers) == 1 and abs(known / unknown - 1) <= CLOSE


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else PAIRS))
