"""Payouts in the store a command line works on."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from gateway.app.store import Store, open_store
from tests.unit.standing_payouts import review, stand
from tests.world.shell import Shell
from tests.world.stores import samples

Done = TypeVar("Done")
__all__ = ["review", "stand"]


def people(shell: Shell) -> None:
    shell.says("company", "create", "--name", "Padaria", "--id", samples.COMPANY)
    for account_id in (samples.ACCOUNT, samples.SISTER):
        shell.says(
            "account", "create", "--company", samples.COMPANY, "--id", account_id, "--name", "P",
            "--tax-number", "52998224725", "--provider", "sandbox",
            "--provider-account", account_id,
        )  # fmt: skip


def stored(shell: Shell, work: Callable[[Store], Awaitable[Done]]) -> Done:
    """Do something with the store, as a gateway beside the command line does."""

    async def run() -> Done:
        store = open_store(f"sqlite:///{shell.folder}/pixgate.db")
        try:
            return await work(store)
        finally:
            await store.close()

    return asyncio.run(run())
