"""Claims of due payouts, as far as one database shows: the contract suite has the rest."""

import pytest

from gateway.app.store import Store
from gateway.core.storage import StoreUnavailable
from gateway.payouts.due import _claiming
from gateway.payouts.model import PayoutState
from gateway.payouts.schedule import MOST_ACCOUNTS, DueClaim
from tests.unit.gateway.payouts.followups import LATER, LOOK
from tests.world.stores.due import claim_due
from tests.world.stores.samples import ACCOUNT, NOW, attempt, change, payout


def test_places_left_over_are_of_nobody():
    """One that is named twice would take the room of what is due."""
    cases = [(1, 1), (2, 4), (4, 4), (5, MOST_ACCOUNTS), (16, MOST_ACCOUNTS)]

    for accounts, places in cases:
        ids = [f"account-{number}" for number in range(accounts)]
        wanted = DueClaim(
            provider="bank", owner="me", at=NOW, until=NOW, account_ids=ids, each=1, most=1
        )

        _, asked = _claiming(wanted)

        given = [asked[f"account_{place}"] for place in range(places)]
        assert given == ids + [""] * (places - accounts)
        assert f"account_{places}" not in asked


def test_the_text_is_kept():
    """A server keeps plans by it."""
    wanted = DueClaim(
        provider="bank", owner="me", at=NOW, until=NOW, account_ids=["one"], each=1, most=1
    )

    assert _claiming(wanted)[0] is _claiming(wanted)[0]


async def test_a_look_that_nobody_claimed_is_not_noted(store: Store) -> None:
    await store.payouts.add(payout(), attempt())

    assert not await store.follow_ups.checked(LOOK)
    [kept] = await store.payouts.attempts(ACCOUNT, "order-1")
    assert kept.last_probe_at is None


async def test_a_claimed_payout_is_read_whole(store: Store) -> None:
    await store.payouts.add(payout(), attempt())
    await store.payouts.record(change(PayoutState.SENDING, PayoutState.UNKNOWN))

    claimed = await claim_due(store, "one", LATER, LATER)

    assert claimed == [await store.payouts.find(ACCOUNT, "order-1")]


async def test_an_empty_store_has_nothing_to_do(store: Store) -> None:
    assert await claim_due(store, "one", LATER, LATER) == []
    assert await store.follow_ups.unresolved() == []
    assert await store.follow_ups.standing() == []


@pytest.mark.parametrize("name", ["unresolved", "standing"])
async def test_a_store_that_is_away_says_so(store: Store, name: str) -> None:
    async with store.database.writing() as connection:
        await connection.exec_driver_sql("ALTER TABLE payouts RENAME TO lost")

    with pytest.raises(StoreUnavailable):
        await getattr(store.follow_ups, name)()


async def test_a_store_that_is_closed_says_so(store: Store) -> None:
    await store.payouts.add(payout(), attempt())
    await store.follow_ups.close()

    with pytest.raises(StoreUnavailable):
        await store.follow_ups.checked(LOOK)
