"""
Wrong passwords for people who exist and for nobody, over a socket: the same bytes, the same time.

``python -m tests.identity.enumeration [PAIRS]`` tries 2,000 pairs, with digests that
cost what they cost in production.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass, field

from gateway.domain.accounts import Environment
from gateway.security.phc import Cost
from gateway.store.engine import open_store
from gateway.store.stamp import prepare
from tests.surfaces.answers import Answer
from tests.surfaces.house import House, house_on
from tests.unit.standing import Clock

PAIRS = 2_000
CLOSE = 0.1
"""How far the medians may be apart."""

_PEOPLE = 50
"""More tries of one person than a hundred in a row would be refused for that."""

_APART_S = 1_000
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

    def tells(self, answer: Answer) -> None:
        """Remember an answer."""
        headers = ((name, value) for name, value in answer.headers.items() if name != "Date")
        self.answers.add((answer.status, tuple(sorted(headers)), answer.body))


async def run(house: House, pairs: int) -> Told:
    """Try so many pairs, each the other way round than the one before."""
    people = [f"person-{number}@example.com" for number in range(min(pairs, _PEOPLE))]
    for email in people:
        await house.door.person(email)
    told = Told()
    for number in range(pairs):
        email = people[number % len(people)]
        both = [(email, told.known), (f"nobody-{email}", told.unknown)]
        for tried, took in both if number % 2 else reversed(both):
            took.append(await _took(house, tried, told))
        # nothing of this pair counts against the next
        house.clock.passes(_APART_S)
    return told


async def _took(house: House, email: str, told: Told) -> float:
    """Try once; return the seconds."""
    body = {"email": email, "password": _WRONG}
    began = time.perf_counter()
    answer = await house.ask("POST", "/iam/v1/auth/login", body, headers=_TRACE)
    took = time.perf_counter() - began
    told.tells(answer)
    return took


async def main(pairs: int) -> None:
    """Run it and say how it went."""
    clock = Clock()
    with tempfile.TemporaryDirectory() as folder:
        store = open_store(f"sqlite:///{folder}/store.db")
        await prepare(store, Environment.SANDBOX, migrate=True, now=clock.now)
        async with house_on(store, clock, cost=Cost()) as house:
            told = await run(house, pairs)
        await store.close()
    known, unknown = (statistics.median(each) * 1000 for each in (told.known, told.unknown))
    sys.stdout.write(
        f"{pairs} pairs: {len(told.answers)} answer; medians {known:.2f} ms for people,"
        f" {unknown:.2f} ms for nobody, ratio {told.ratio:.3f}\n"
    )
    assert len(told.answers) == 1, told.answers
    assert abs(told.ratio - 1) <= CLOSE, told.ratio


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else PAIRS))
