"""Looks that end at once are noted together, each as if it were alone."""

import asyncio
from dataclasses import replace
from datetime import timedelta

from gateway.app.store import Store
from gateway.payouts.events import probed
from gateway.payouts.model import EventKind, PayoutState
from gateway.payouts.schedule import Checked
from tests.contract.stores.databases import both
from tests.world.stores.due import claim_due
from tests.world.stores.samples import ACCOUNT, NOW, attempt, change, payout

pytestmark = both

LATER = NOW + timedelta(seconds=10)
NEXT = LATER + timedelta(hours=1)
SENDING, UNKNOWN, PAID = PayoutState.SENDING, PayoutState.UNKNOWN, PayoutState.PAID


async def unknown(store: Store, *references: str) -> None:
    for reference in references:
        await store.payouts.add(payout(reference), attempt())
        await store.payouts.record(change(SENDING, UNKNOWN, reference=reference))


def look(reference: str, owner: str = "one", **fields: object) -> Checked:
    plain = Checked(
        account_id=ACCOUNT,
        reference=reference,
        attempt=1,
        state=UNKNOWN,
        owner=owner,
        at=LATER,
        next_check_at=NEXT,
        review=False,
        heard=probed(payout(reference), "not_found", LATER, LATER, {}),
    )
    return replace(plain, **fields)  # type: ignore[arg-type]


async def test_each_status_query_of_a_batch_has_the_result_of_a_single_one(store: Store) -> None:
    """One is claimed by another process, one has moved on, one comes twice, one is absent."""
    await unknown(store, "plain", "theirs", "settled", "twice", "review")
    await claim_due(store, "one", LATER, LATER + timedelta(seconds=60))
    await store.payouts.record(change(UNKNOWN, PAID, reference="settled"))
    looks = [
        look("first"),
        look("plain"),
        look("theirs", "two"),
        look("settled", review=True),
        look("twice"),
        look("twice"),
        look("review", review=True, next_check_at=None, heard=None),
    ]

    noted = await asyncio.gather(*map(store.follow_ups.checked, looks))

    assert noted == [False, True, False, True, True, False, True]
    kept = {each: await store.payouts.find(ACCOUNT, each) for each in ("settled", "review")}
    assert [each and each.review for each in kept.values()] == [False, True]
    counts = {
        each: [event.kind for event in await store.payouts.events(ACCOUNT, each)].count(
            EventKind.PROBED
        )
        for each in ("plain", "theirs", "settled", "twice", "review")
    }
    assert counts == {"plain": 1, "theirs": 0, "settled": 1, "twice": 1, "review": 0}
    looked = {
        each: (await store.payouts.attempts(ACCOUNT, each))[0].last_probe_at for each in counts
    }
    assert {name for name, at in looked.items() if at is None} == {"theirs"}
    again = await claim_due(store, "two", NEXT, NEXT + timedelta(seconds=60))
    assert {each.reference for each in again} == {"plain", "theirs", "twice"}
