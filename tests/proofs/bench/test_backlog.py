"""A store is filled with payouts that are due, each found as the gateway finds any other."""

from __future__ import annotations

from dataclasses import replace

from bench import backlog, payments
from gateway.store.engine import open_store

TIMES = 50


async def test_copies_of_payouts_are_all_due_and_have_their_attempts(migrated_postgres_url: str):
    """Their digests are those of their references; each has an id of its own at its bank."""
    store, database = (
        open_store(migrated_postgres_url),
        migrated_postgres_url.replace("+asyncpg", ""),
    )
    account = await payments.open_account(store)
    payout, attempt = payments.intent(account, "order")
    await store.payouts.add(payout, attempt)
    taken = replace(payments.outcome(payout), provider_id=payout.provider_key)
    assert await store.payouts.record(taken)

    await backlog.copy(database, TIMES)
    await backlog.make_due(database)

    found = [await store.payouts.find(account, f"order-{each + 1}") for each in range(TIMES)]
    tried = await store.payouts.attempts(account, f"order-{TIMES}")
    await store.close()
    made = [each for each in found if each is not None]
    assert await backlog.standing(database) == (TIMES + 1, 0)
    assert len(made) == TIMES
    assert {len(each.provider_key) for each in made} == {32}
    assert len({each.provider_id for each in made}) == TIMES
    assert [each.trace_id for each in tried] == [f"order-{TIMES}"]
