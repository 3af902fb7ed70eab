"""
The same asked for people who exist and for nobody, over a socket: the same bytes, the same time.

Wrong passwords, wishes for a reset link, and codes for a challenge that is over or never was.
``python -m tests.identity.enumeration [PAIRS]`` tries 2,000 pairs of each, with digests that
cost what they cost in production.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
import time
import uuid
from dataclasses import dataclass, field

from gateway.domain.accounts.accounts import Environment
from gateway.security.identity.passwords import Cost
from gateway.store.engine import open_store
from gateway.store.schema import prepare
from tests.world.gateway.answers import Answer
from tests.world.gateway.identity_api import ApiClient, api_client_on
from tests.world.standing import Clock

Body = dict[str, str]

PAIRS = 2_000
CLOSE = 0.1
"""How far the medians may be apart."""

_PEOPLE = 50
"""More tries of one person than a hundred in a row would be refused for that."""

_TRACE = {"X-Trace-ID": "the-same"}
_WRONG = "wrong wrong wrong"


@dataclass(slots=True)
class Told:
    """
    What two kinds of callers were answered.

    Attributes:
        answers: Every different answer: status, headers and body.
        known, unknown: Seconds that each try took.
    """

    answers: set[tuple[int, tuple[tuple[str, str], ...], bytes]] = field(default_factory=set)
    known: list[float] = field(default_factory=list)
    unknown: list[float] = field(default_factory=list)

    @property
    def ratio(self) -> float:
        """The median of tries for people by that of tries for nobody."""
        return statistics.median(self.known) / statistics.median(self.unknown)

    def summary(self, answer: Answer) -> None:
        """Remember an answer."""
        headers = ((name, value) for name, value in answer.headers.items() if name != "Date")
        self.answers.add((answer.status, tuple(sorted(headers)), answer.body))


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """
    One way of asking.

    Attributes:
        apart_s: Seconds after which nothing of a pair counts against the next.
        has_factor: The people have a second factor.
    """

    path: str
    apart_s: float
    has_factor: bool = False


KINDS = {
    "login": Kind(path="login", apart_s=1_000),
    "forgot": Kind(path="password/forgot", apart_s=3_601),
    "mfa": Kind(path="mfa", apart_s=1_000, has_factor=True),
}


async def run(api_client: ApiClient, pairs: int, name: str = "login") -> Told:
    """Ask so many pairs, each the other way round than the one before."""
    kind = KINDS[name]
    people = [f"{uuid.uuid4().hex}@example.com" for _ in range(min(pairs, _PEOPLE))]
    asked = [await _asked(api_client, email, kind) for email in people]
    told = Told()
    for number in range(pairs):
        known, unknown = asked[number % len(asked)]
        # whoever comes first after a pause is slower, whoever it is: not one of the two
        await _took(api_client, kind, unknown, Told())
        both = [(known, told.known), (unknown, told.unknown)]
        for body, took in both if number % 2 else reversed(both):
            took.append(await _took(api_client, kind, body, told))
        # what is done behind the answer is done between the pairs
        await api_client.send_reset_links()
        api_client.clock.passes(kind.apart_s)
    return told


async def _asked(api_client: ApiClient, email: str, kind: Kind) -> tuple[Body, Body]:
    """Make somebody; return what is asked about them, and the same about nobody."""
    await api_client.identity_world.person(email)
    if kind.has_factor:
        await api_client.identity_world.enrol(email)
        token = (await api_client.login(email)).document["mfa_token"]
        api_client.clock.passes(kind.apart_s)
        known, unknown = ({"mfa_token": each, "code": "123456"} for each in (token, token[::-1]))
        return known, unknown
    wrong = {"password": _WRONG} if kind.path == "login" else {}
    return {"email": email, **wrong}, {"email": f"nobody-{email}", **wrong}


async def _took(api_client: ApiClient, kind: Kind, body: Body, told: Told) -> float:
    """Ask once; return the seconds."""
    began = time.perf_counter()
    answer = await api_client.ask("POST", f"/iam/v1/auth/{kind.path}", body, headers=_TRACE)
    took = time.perf_counter() - began
    told.summary(answer)
    return took


async def main(pairs: int) -> None:
    """Run each kind and say how it went."""
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
    """Run one kind; say whether people and nobody are answered alike."""
    told = await run(api_client, pairs, name)
    known, unknown = (statistics.median(each) * 1000 for each in (told.known, told.unknown))
    sys.stdout.write(
        f"{name}: {pairs} pairs, {len(told.answers)} answer; medians {known:.2f} ms for people,"
        f" {unknown:.2f} ms for nobody, ratio {told.ratio:.3f}\n"
    )
    return len(told.answers) == 1 and abs(told.ratio - 1) <= CLOSE


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else PAIRS))
