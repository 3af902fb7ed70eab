"""Minutes of calls to banks, of every process, on both databases."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from gateway.app.store import Store
from gateway.banks.model import MINUTE, FailingCalls, LastFailure, ProviderMinute
from gateway.banks.store import ProviderMinutes
from gateway.store.tables.figures import PLACES
from tests.contract.stores.databases import both
from tests.world.stores.samples import NOW

AT = NOW.replace(second=0, microsecond=0)
TOOK = [*([0] * (PLACES - 1)), 3]
GOOD = ProviderMinute(
    provider="ipe",
    operation="get_balance",
    minute=AT,
    calls=3,
    ok=3,
    last_failure="",
    took=TOOK,
)
BAD = replace(GOOD, ok=1, last_failure="timeout")


@both
async def test_minutes_of_all_processes_are_summed(store: Store):
    minutes = ProviderMinutes(store.database)
    await minutes.add("a", [GOOD, replace(GOOD, operation="create_payout", calls=1, ok=0)])
    await minutes.add("b", [GOOD])
    await minutes.add("b", [replace(GOOD, minute=AT + 2 * MINUTE)])
    await minutes.add("b", [])

    each = await minutes.added_up(AT, MINUTE, None)
    together = await minutes.added_up(AT, timedelta(minutes=15), "ipe")

    assert [(found.operation, found.minute, found.calls, found.ok) for found in each] == [
        ("create_payout", AT, 1, 0),
        ("get_balance", AT, 6, 6),
        ("get_balance", AT + 2 * MINUTE, 3, 3),
    ]
    assert [(found.operation, found.calls, found.took[-1]) for found in together] == [
        ("create_payout", 1, 3),
        ("get_balance", 9, 9),
    ]


@both
async def test_figures_are_filtered_by_window_and_provider(store: Store):
    minutes = ProviderMinutes(store.database)
    await minutes.add("a", [GOOD, replace(BAD, provider="jacaranda")])

    assert await minutes.added_up(AT + MINUTE, MINUTE, None) == []
    assert await minutes.added_up(AT, MINUTE, "ipe") == [GOOD]
    assert await minutes.last_failures(AT, "ipe") == []


@both
async def test_the_last_failure_of_each_provider_is_found(store: Store):
    minutes = ProviderMinutes(store.database)
    later = replace(BAD, minute=AT + MINUTE, last_failure="rate_limited")
    await minutes.add("a", [BAD, later, replace(BAD, provider="jacaranda")])
    await minutes.add("a", [replace(GOOD, minute=AT + 2 * MINUTE)])

    found = await minutes.last_failures(AT, None)

    assert sorted(found, key=lambda each: each.provider) == [
        LastFailure("ipe", "get_balance", AT + MINUTE, "rate_limited"),
        LastFailure("jacaranda", "get_balance", AT, "timeout"),
    ]


@both
async def test_old_rows_are_deleted(store: Store):
    minutes = ProviderMinutes(store.database)
    await minutes.add("a", [GOOD, replace(GOOD, minute=AT + MINUTE)])

    assert await minutes.forget(AT + MINUTE) == 1
    assert len(await minutes.added_up(AT, MINUTE, None)) == 1


@both
async def test_failing_calls_since_the_last_success_are_found(store: Store):
    """By operation, over all processes; an operation that succeeded since is left out."""
    minutes = ProviderMinutes(store.database)
    fails = replace(BAD, ok=0)
    again = replace(GOOD, operation="create_payout")
    await minutes.add("a", [fails, replace(GOOD, minute=AT + MINUTE)])
    await minutes.add("a", [replace(fails, minute=AT + n * MINUTE) for n in (2, 3)])
    last = replace(fails, minute=AT + 3 * MINUTE, last_failure="connect_error")
    await minutes.add("b", [last, replace(fails, provider="jacaranda")])
    await minutes.add("b", [replace(again, ok=0, last_failure="timeout")])
    await minutes.add("b", [replace(again, minute=AT + 2 * MINUTE)])

    assert await minutes.failing(AT, "ipe") == [
        FailingCalls("get_balance", AT + 2 * MINUTE, 9, "connect_error")
    ]
    assert await minutes.failing(AT + 4 * MINUTE, "ipe") == []
