"""
``python -m bench.archive``: what a settled payout takes in PostgreSQL, and what is left of it.

Payouts of an old month are stored and settled by the store's own statements, then archived as the
command does it. Sizes are those of the tables with their indexes. A table from which rows were
deleted does not get smaller: its room is for the next payouts, once it is vacuumed.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from sqlalchemy import text

from bench import payments
from gateway.app.store import Store, prepare
from gateway.core.account import Environment
from gateway.payouts.model import PayoutState
from tests.servers import postgres
from tests.world.archive import write
from tests.world.store import open_store

_AT_ONCE: Final = 64
_OLD: Final = timedelta(days=300)
_LIVE: Final = ("payouts", "payout_attempts", "payout_names", "payout_checks")
_LEFT: Final = ("archived_payouts", "archive_files")
_SENT: Final = {
    "name": "Maria",
    "tax_number": "529.982.247-25",
    "key_type": "email",
    "key": "maria@example.com",
}


async def _settle(store: Store, account_id: str, reference: str, at: datetime) -> None:
    payout, attempt = payments.intent(account_id, reference)
    payout = replace(
        payout, created_at=at, updated_at=at, lease_until=at, date=at.date(), destination_sent=_SENT
    )
    await store.payouts.add(payout, replace(attempt, started_at=at, lease_until=at))
    accepted = payments.outcome(payout)
    step = replace(accepted, at=at, provider_id=reference[:30], e2e_id=f"E{reference[-31:]}")
    await store.payouts.record(step)
    end = replace(step, before=frozenset({step.after}), after=PayoutState.PAID, settled_at=at)
    await store.payouts.record(end)


async def _bytes(store: Store, tables: tuple[str, ...]) -> int:
    sizes = " + ".join(f"pg_total_relation_size('{each}')" for each in tables)
    row = await store.database.first(text(f"SELECT {sizes}"))
    return 0 if row is None else int(row[0])


async def measured(url: str, folder: Path, payouts: int) -> list[tuple[str, float]]:
    """Return each figure with what it is of."""
    store = open_store(url)
    try:
        await prepare(store, Environment.SANDBOX, migrate=True, now=payments.now)
        account_id = await payments.open_account(store)
        empty = [await _bytes(store, each) for each in (_LIVE, _LEFT)]
        month = (payments.now() - _OLD).replace(day=1, hour=12)
        names = payments.references()
        for number in range(payouts // _AT_ONCE):
            at = month + timedelta(seconds=number)
            batch = [next(names) for _ in range(_AT_ONCE)]
            await asyncio.gather(*(_settle(store, account_id, each, at) for each in batch))
        stored = payouts // _AT_ONCE * _AT_ONCE
        before = await _bytes(store, _LIVE) - empty[0]
        began = time.perf_counter()
        await write(store.database, folder, payments.now)
        took = time.perf_counter() - began
        left = await _bytes(store, _LEFT) - empty[1]
    finally:
        await store.close()
    return [
        ("payouts", float(stored)),
        ("bytes of a settled payout in PostgreSQL", before / stored),
        ("bytes that are left of it", left / stored),
        ("archived a second", stored / took),
    ]


def main() -> None:
    """Print the figures."""
    options = argparse.ArgumentParser(prog="python -m bench.archive")
    options.add_argument("--payouts", type=int, default=20_000)
    asked = options.parse_args()
    with postgres.running() as server, tempfile.TemporaryDirectory() as folder:
        for what, value in asyncio.run(measured(server.plain, Path(folder), asked.payouts)):
            sys.stdout.write(f"{value:>10,.0f}  {what}\n")


if __name__ == "__main__":
    main()
