"""
Payouts that a bank has taken and not settled, stored as the operation stores them.

Run by itself with another tree's modules on the path, it fills a store of that tree.
"""

from __future__ import annotations

import argparse
import asyncio
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

from sqlalchemy import insert, select

from bench import payments
from gateway.app.store import Store, open_store
from gateway.config.reading import read_settings
from gateway.security.keys import load_keys
from gateway.store.tables.core import accounts

_AT_ONCE = 64
_DUE_AGO = timedelta(seconds=5)
_TOKEN = "bench-token"  # noqa: S105 - opens nothing but a stub


async def fill(config: Path, like: str, providers: Sequence[str], number: int) -> None:
    """Store so many payouts, shared out among an account at each provider; all are due."""
    settings = read_settings(config, os.environ)
    store = open_store(settings.store_url)
    try:
        ids = await _opened(store, like, providers, load_keys(settings).sealer.seal)
        waiting = iter(range(number))
        async with asyncio.TaskGroup() as writers:
            for _ in range(_AT_ONCE):
                writers.create_task(_store(store, list(zip(ids, providers, strict=True)), waiting))
    finally:
        await store.close()


async def _opened(
    store: Store, like: str, providers: Sequence[str], seal: Callable[[str, str], bytes]
) -> Sequence[str]:
    """Copy an account to each provider; return their ids."""
    ids = [str(uuid4()) for _ in providers]
    async with store.database.writing() as connection:
        one = await connection.execute(select(accounts).where(accounts.c.id == like))
        model = one.mappings().one()
        made = [
            {**model, "id": each, "provider": name, "sealed_credentials": seal(_TOKEN, each)}
            for each, name in zip(ids, providers, strict=True)
        ]
        await connection.execute(insert(accounts), made)
    return ids


async def _store(store: Store, accounts: Sequence[tuple[str, str]], waiting: Iterator[int]) -> None:
    for number in waiting:
        account_id, provider = accounts[number % len(accounts)]
        payout, attempt = payments.intent(account_id, f"order-{number:09}")
        attempt = replace(attempt, provider=provider)
        payout = replace(payout, provider=provider)
        await store.payouts.add(payout, attempt)
        taken = replace(payments.outcome(payout), provider_id=payout.provider_key, e2e_id="")
        if not await store.payouts.record(replace(taken, at=taken.at - _DUE_AGO)):
            raise RuntimeError(number)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--config", type=Path, required=True)
    parser.add_argument("--like", required=True, help="an account")
    parser.add_argument("--payouts", type=int, required=True)
    parser.add_argument("providers", nargs="+")
    given = parser.parse_args()
    asyncio.run(fill(given.config, given.like, given.providers, given.payouts))
