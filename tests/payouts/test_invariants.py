"""
Random lives of a payout, against a bank that keeps a ledger.

Whatever happens in whatever order: money moves at most once, what was answered stays true, and
every life can be brought to an end. The lives are seeded, so a failing one can be lived again;
``make test-random`` draws others.
"""

import random
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

import pytest

from gateway.banks.port.capabilities import Repeat
from gateway.banks.port.payout_orders import PayoutOrder
from gateway.banks.port.providers import NotFound, Outcome, ProviderAccount, Unavailable
from gateway.core.clocks import Deadline
from gateway.core.money import Money
from gateway.payouts.model import FINAL_STATES, Certainty, Payout, PayoutState, certainty_of
from tests.world.extent import SEED, WHOLE
from tests.world.payouts import (
    ACCEPTED,
    BAD,
    CAREFUL,
    FAILED,
    FORBIDDEN,
    IS_ACCEPTED,
    IS_NOT_SENT,
    IS_REJECTED,
    IS_SETTLED,
    IS_UNKNOWN,
    NO_STORE,
    OK,
    PAID,
    REJECTED,
    SENDING,
    UNKNOWN,
    PayoutWorld,
    ScriptedBank,
    asking,
)
from tests.world.standing import Clock

STEPS = 40
ABSENT, DOWN = NotFound("absent"), Unavailable("down")
PAUSES_S = [1, 1, 30, 61, 300, 700, 700, 6 * 3600, 24 * 3600]
# As late as an order can still execute: within its lease and the bank's quiet period.
LATEST_S = 60 + 600 - 1
LIVES = range(100 if WHOLE else 6)


@dataclass
class Ledger(ScriptedBank):
    """
    A bank that executes for real, now or later, and may say something else.

    Attributes:
        standing: Orders it has, by our key: ordered, paid or failed.
        moved: How often money moved, by our key.
        coming: Orders still on their way inside the bank, with the time they arrive.
        is_well: False: it answers as the dice fall.
        is_reached: An order came as far as the bank, whatever it made of it.
    """

    dice: random.Random = field(default_factory=random.Random)
    clock: Clock = field(default_factory=Clock)
    standing: dict[str, str] = field(default_factory=dict)
    moved: dict[str, int] = field(default_factory=dict)
    coming: list[tuple[datetime, str]] = field(default_factory=list)
    is_well: bool = False
    is_reached: bool = False

    async def create_payout(
        self, account: ProviderAccount, order: PayoutOrder, send_by: Deadline
    ) -> Outcome:
        self.orders.append(order)
        falls = 7 if self.is_well else self.dice.randrange(8)
        if falls == 0:
            return IS_NOT_SENT
        self.is_reached = True
        if falls == 1 and order.provider_key not in self.standing:
            return IS_REJECTED
        if falls in {2, 3}:
            self._delay(order.provider_key, is_lost=falls == 2)
            return IS_UNKNOWN
        taken = self._take(order.provider_key)
        return IS_UNKNOWN if falls == 4 else taken

    async def find_payout(
        self, account: ProviderAccount, provider_key: str, provider_id: str
    ) -> Outcome:
        self.arrive()
        if not self.is_well and self.dice.random() < 0.2:
            raise DOWN
        match self.standing.get(provider_key):
            case None:
                raise ABSENT
            case "ordered":
                return IS_ACCEPTED
            case "paid":
                return IS_SETTLED
        return IS_REJECTED

    def arrive(self) -> None:
        """Let what was on its way arrive, and what was ordered be settled now and then."""
        for at, key in list(self.coming):
            if at <= self.clock.now():
                self.coming.remove((at, key))
                self._take(key)
        for key, stands in self.standing.items():
            if stands == "ordered" and (self.is_well or self.dice.random() < 0.5):
                self._end(key)

    def _delay(self, key: str, *, is_lost: bool) -> None:
        """Lose an order, or let it arrive late."""
        late = timedelta(seconds=self.dice.randrange(LATEST_S))
        if not is_lost:
            self.coming.append((self.clock.now() + late, key))

    def _take(self, key: str) -> Outcome:
        """Order a payout; one that is known is not ordered twice, if the bank looks at keys."""
        if key in self.standing and self.capabilities.repeat is not Repeat.IGNORES:
            return IS_ACCEPTED
        if key in self.standing:
            self.moved[key] = self.moved.get(key, 0) + 1
        self.standing[key] = "ordered"
        return IS_ACCEPTED

    def _end(self, key: str) -> None:
        self.standing[key] = self.dice.choice(["paid", "paid", "failed"])
        if self.standing[key] == "paid":
            self.moved[key] = self.moved.get(key, 0) + 1


class Life:
    """One reference, and everything that was ever said about it."""

    def __init__(self, payout_world: PayoutWorld, seed: int, repeat: Repeat) -> None:
        self.dice = random.Random(SEED + seed)
        can = replace(CAREFUL, repeat=repeat)
        self.bank = Ledger(dice=self.dice, clock=payout_world.clock, capabilities=can)
        self.payout_world = PayoutWorld(payout_world.store.inner, self.bank, payout_world.clock)
        self.clock = payout_world.clock
        self.clock.step_s = 3.0
        self.ended: PayoutState | None = None
        self.is_refused = False

    @property
    def money(self) -> int:
        return sum(self.bank.moved.values())

    async def row(self) -> Payout | None:
        return await self.payout_world.row() if await self.payout_world.has_row() else None

    async def post(self) -> None:
        """A caller repeats its request, and every answer must be true."""
        before, sent = await self.row(), len(self.bank.orders)
        day = self.clock.now().date()

        answer = await self.payout_world.post(asking(day=day))

        if answer == OK:
            assert await self.payout_world.has_row()
        if answer == NO_STORE:
            assert len(self.bank.orders) == sent
        if before and before.state in {SENDING, UNKNOWN, ACCEPTED, PAID}:
            assert (
                not answer.startswith("4") or (await self.payout_world.row()).state in FINAL_STATES
            )
            assert len(self.bank.orders) == sent
        self.is_refused |= answer in {BAD, FORBIDDEN}

    async def post_other(self) -> None:
        before, sent = await self.row(), len(self.bank.orders)
        if before is None:
            return

        assert await self.payout_world.post(asking(value=Money(1))) in {BAD, NO_STORE}

        assert (await self.row(), len(self.bank.orders)) == (before, sent)

    async def look(self) -> None:
        sent = len(self.bank.orders)
        if await self.payout_world.has_row():
            await self.payout_world.look()
        assert len(self.bank.orders) == sent

    async def step(self) -> None:
        """Something happens, while the store may break at any call."""
        calls = ["find", "add", "claim", "record"]
        broken = {self.dice.choice(calls)} if self.dice.random() < 0.25 else set()
        when = self.dice.choice(["fails_before", "fails_after"])
        setattr(self.payout_world.store, when, broken)
        await self.dice.choice([self.post, self.post, self.post_other, self.look, self.look])()
        setattr(self.payout_world.store, when, set())
        self.clock.passes(self.dice.choice(PAUSES_S))
        self.bank.arrive()
        await self.holds()

    async def holds(self) -> None:
        """The invariants."""
        row = await self.row()
        assert self.money <= 1, "paid twice"
        assert row or not self.bank.orders, "sent without a row"
        if row is None:
            return
        if row.state in {FAILED, REJECTED}:
            assert self.money == 0, "failed, and paid"
        if row.state is PAID:
            assert self.money == 1, "paid, and nothing moved"
        if self.is_refused:
            assert self.money == 0, "refused, and paid"
        if certainty_of(row) is Certainty.NOT_SENT:
            assert not self.bank.is_reached, "called never sent, and the bank was reached"
        if self.ended:
            assert row.state is self.ended, "a final state changed"
        if row.state in FINAL_STATES:
            self.ended = row.state


@pytest.mark.parametrize("seed", LIVES)
@pytest.mark.parametrize("repeat", [Repeat.SAME_ANSWER, Repeat.REFUSES])
async def test_no_sequence_of_events_breaks_an_invariant_of_a_payout(
    payout_world: PayoutWorld, seed: int, repeat: Repeat
):
    life = Life(payout_world, seed, repeat)
    for _ in range(STEPS):
        await life.step()

    life.bank.is_well = True
    await life.post()
    for _ in range(4):
        life.clock.passes(24 * 3600)
        await life.look()
        await life.holds()

    assert life.ended


@pytest.mark.parametrize("seed", LIVES)
async def test_a_bank_that_ignores_our_key_pays_only_once_as_well(
    payout_world: PayoutWorld, seed: int
):
    """Such a payout may stay unknown: then a person decides."""
    life = Life(payout_world, seed, Repeat.IGNORES)

    for _ in range(STEPS):
        await life.step()
