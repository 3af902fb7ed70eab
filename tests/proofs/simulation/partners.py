"""Partners that retry as the contract says, and some that do not."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import date

from gateway.core.money import Money
from gateway.payouts.model import PayoutRequest
from tests.proofs.simulation.invariants import Answer, Call
from tests.proofs.simulation.world import LOST, World, call_of
from tests.world.payouts import asking

_PATIENCE_S = 30.0
_LATER_S = 13.5 * 3600
_AGAIN = {0, 502, 503}


class Partner:
    """
    Wants one payout made under one reference.

    Attributes:
        content: The amount in centavos; a stranger asks for another one.
    """

    def __init__(self, world: World, reference: str, content: int) -> None:
        self.world, self.reference, self.content = world, reference, content
        self._tries = 0

    async def pay(self) -> None:
        """Ask until there is an answer that ends it, or patience does."""
        world = self.world
        if not world.scenario.crowd:
            latest = world.chance.choice((0.0, 0.0, 0.1, 3.0, 150.0))
            await asyncio.sleep(latest * world.chance.random())
        day = world.now().date()
        answer = LOST
        while self._tries < world.scenario.posts:
            answer = await self._post(day)
            if not await self._goes_on(answer):
                break
            await asyncio.sleep(self._backoff())
            if world.chance.random() < 0.5:
                day = world.now().date()
        if world.scenario.restore and answer.status not in {400, 403}:
            await self._ask_after_restore()
        if world.chance.random() < 0.5:
            await self._get()

    async def _ask_after_restore(self) -> None:
        """Repeat payouts that the store may have lost; the partner was not informed."""
        world = self.world
        while not world.counts["restores"]:
            await asyncio.sleep(300.0)
        for _ in range(int(world.chance.random() * 4)):
            answer = await self._post(world.now().date())
            if not await self._goes_on(answer):
                return
            await asyncio.sleep(self._backoff())

    async def _goes_on(self, answer: Answer) -> bool:
        """Say whether the contract asks for the same request again."""
        if answer.status == 500:
            return (await self._get()).status != 200
        if answer.status in _AGAIN:
            return True
        # asked again without need: the answer must not change for that
        return self.world.chance.random() < 0.3

    async def _post(self, day: date) -> Answer:
        world = self.world
        if world.nodes[0].up or world.nodes[1].up:
            self._tries += 1
        world.counts["posts"] += 1
        call = call_of("POST", self.reference, self.content)
        return await self._ask(call, self._request(day))

    async def _get(self) -> Answer:
        return await self._ask(call_of("GET", self.reference, self.content), None)

    async def _ask(self, call: Call, request: PayoutRequest | None) -> Answer:
        """Give up waiting after half a minute; the node works on."""
        node = self.world.nodes[int(self.world.chance.random() * 2) if self._wanders() else 0]
        try:
            async with asyncio.timeout(_PATIENCE_S):
                return await node.ask(call, request)
        except TimeoutError:
            return LOST

    def _wanders(self) -> bool:
        """A crowd comes to one door, mostly."""
        return not self.world.scenario.crowd or self.world.chance.random() < 0.3

    def _request(self, day: date) -> PayoutRequest:
        return replace(asking(self.reference, day=day), value=Money(self.content))

    def _backoff(self) -> float:
        """Up to minutes, longer without any answer; some come back much later."""
        world = self.world
        if not any(node.up for node in world.nodes):
            return 300.0 * (1 + world.chance.random())
        if world.bank.may(world.scenario.patient, "partner waits a day"):
            return _LATER_S * (1 + world.chance.random())
        longest = 2.0 if world.scenario.crowd else world.chance.choice((2.0, 20.0, 90.0, 900.0))
        # whole seconds: what happens at the same instant may happen in any order
        return float(round(longest * (0.5 + world.chance.random() / 2)))


def partners(world: World) -> list[Partner]:
    found = []
    for number in range(world.scenario.references):
        reference, content = f"order-{number}", 1000 + number % 2
        for _ in range(world.scenario.partners):
            is_stranger = world.chance.random() < world.scenario.strangers
            found.append(Partner(world, reference, content + 7 * is_stranger))
    return found
