"""A batch of many writes what batches of one would write, and each write has the same result."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random

import pytest

from gateway.app.store import Store
from gateway.banks.port.payout_orders import FailureCode
from gateway.core.money import Money
from gateway.core.permissions import CredentialLimits
from gateway.core.storage import LimitReached
from gateway.payouts.model import (
    SUCCESSORS,
    Attempt,
    Change,
    Claim,
    Failure,
    Intent,
    Payout,
    PayoutState,
)
from gateway.payouts.writes import Write, WriteResult, write_batch
from tests.contract.stores.databases import both
from tests.world.extent import WHOLE
from tests.world.stores.samples import (
    ACCOUNT,
    CLIENT,
    EVIDENCE,
    NOW,
    SISTER,
    attempt,
    change,
    credential,
    event,
    of,
    payout,
)

SENDING, UNKNOWN, NOT_SENT = PayoutState.SENDING, PayoutState.UNKNOWN, PayoutState.NOT_SENT
THERE = {"sending": SENDING, "unsent": NOT_SENT, "unknown": UNKNOWN}
NAMES = (*THERE, "new", "newer", "newest")
KINDS: Sequence[type] = (Intent, Claim, Change)
# Of the three that are there two count: two more fit.
LIMIT = Money(4 * 1050)


@dataclass(frozen=True)
class World:
    store: Store
    account_id: str
    client_id: str

    async def fill(self) -> None:
        limits = CredentialLimits(per_day=LIMIT)
        await self.store.credentials.add(
            replace(credential(self.client_id), limits=limits), event()
        )
        for name, state in THERE.items():
            await self.write(Intent(self.payout(name), attempt()))
            if state is not SENDING:
                await self.write(of(change(SENDING, state), reference=name))

    async def write(self, *writes: Write) -> Sequence[WriteResult | None]:
        own = [self._own(each) for each in writes]
        try:
            async with self.store.database.writing() as connection:
                return await write_batch(self.store.database, connection, own)
        except LimitReached as above:
            return [above]

    async def stand(self) -> list[tuple[Payout | None, Sequence[Attempt]]]:
        payouts = self.store.payouts
        return [
            (
                self.shown(await payouts.find(self.account_id, name)),
                await payouts.attempts(self.account_id, name),
            )
            for name in NAMES
        ]

    def payout(self, reference: str, centavos: int = 1050) -> Payout:
        made = payout(reference, account_id=self.account_id, centavos=centavos)
        return replace(made, client_id=self.client_id)

    def shown(self, found: Payout | None) -> Payout | None:
        if found is None:
            return None
        return replace(found, account_id="", client_id="", provider_key="")

    def _own(self, write: Write) -> Write:
        if isinstance(write, Change):
            return replace(write, account_id=self.account_id)
        mine = self.payout(write.payout.reference, write.payout.value.centavos)
        return replace(write, payout=mine)


def drawn(chance: Random, *, limited: bool) -> Write:
    name = chance.choice(NAMES)
    kind = chance.choice(["intent", "claim", "step", "step"])
    if kind == "intent":
        made = payout(name, centavos=chance.choice([1050, 1050, 5000]))
        return Intent(made, attempt(), limited=limited)
    if kind == "claim":
        return Claim(payout(name), attempt(2), limited=limited)
    after = chance.choice([*SUCCESSORS[SENDING]])
    before = [state for state, following in SUCCESSORS.items() if after in following]
    return of(
        change(SENDING, after),
        reference=name,
        before=frozenset(chance.sample(before, chance.randint(1, len(before)))),
        attempt=chance.choice([1, 1, 1, 2]),
        provider_id=chance.choice(["", "p-1"]),
        settled_at=NOW if after is PayoutState.PAID else None,
        evidence=chance.choice([None, EVIDENCE]),
        failure=Failure(FailureCode.OTHER) if after is PayoutState.REJECTED else None,
    )


@both
@pytest.mark.parametrize("seed", range(40 if WHOLE else 10))
async def test_batched_writes_have_the_same_results_as_single_writes(
    store: Store, seed: int
) -> None:
    """As if made one after another: new payouts, claims, steps, then the undecided rest."""
    chance = Random(seed)
    limited = chance.random() < 0.7
    writes = [drawn(chance, limited=limited) for _ in range(chance.randint(2, 9))]
    together = World(store, ACCOUNT, CLIENT)
    one_by_one = World(store, SISTER, "cli_zyxwvutsrqponmlkjihg")
    for world in (together, one_by_one):
        await world.fill()

    results = dict(enumerate(await together.write(*writes)))
    decided = [number for number, result in results.items() if result is not None]
    undecided = [number for number, result in results.items() if result is None]
    for number in undecided:
        [results[number]] = await together.write(writes[number])
    order = sorted(decided, key=lambda number: KINDS.index(type(writes[number])))
    expected = {}
    for number in [*order, *undecided]:
        [expected[number]] = await one_by_one.write(writes[number])

    assert told(together, results) == told(one_by_one, expected)
    assert None not in results.values()
    assert await together.stand() == await one_by_one.stand()


def told(world: World, results: dict[int, WriteResult | None]) -> dict[int, str]:
    return {
        number: str(world.shown(result) if isinstance(result, Payout) else repr(result))
        for number, result in sorted(results.items())
    }
