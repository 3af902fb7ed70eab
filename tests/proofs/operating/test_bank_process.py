"""The sandbox bank in a process of its own, which sends callbacks to the gateway in another."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, closing
from functools import partial
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from gateway.core.account import Environment
from gateway.payouts.model import provider_key
from tests.world.gateway.answers import Answer
from tests.world.gateway.processes import GatewaySite, place, today
from tests.world.gateway.world import basic, order, send
from tests.world.waiting import until


@asynccontextmanager
async def both(where: GatewaySite) -> AsyncIterator[None]:
    """Run the bank and then the gateway, each until the block ends."""
    port = where.ports["PIXGATE_BANK_PORT"]
    where.ports["PIXGATE_BANK_CONTROL_PORT"] = port + 1
    bank = where.start("bank", "sandbox", "--first-port", str(port))
    gateway = where.start()
    try:
        await until_listening(where, bank, gateway)
        yield
    finally:
        for process in (gateway, bank):
            process.kill()
            process.wait()


async def until_listening(where: GatewaySite, *processes: subprocess.Popen[bytes]) -> None:
    def is_listening() -> bool:
        said = where.said.read_text()
        assert {each.poll() for each in processes} == {None}, said
        return all(word in said for word in ("control http", "operations "))

    await until(is_listening)


async def done(where: GatewaySite, command: str, *options: str) -> None:
    process = where.start(command, *options)
    assert await asyncio.to_thread(process.wait) == 0, where.said.read_text()


async def registered(where: GatewaySite) -> None:
    account = where.demo["accounts"]["main"]["id"]
    config = ("--config", str(where.config))
    await done(where, "callbacks", "register", *config, "--account", account)


async def paid(where: GatewaySite, *references: str) -> str:
    """Pay from the demo's main account one by one, and return the first provider key."""
    headers = {"Authorization": basic(where.demo["credentials"]["full"])}
    async with aiohttp.ClientSession() as session:
        ask = partial(send, session, where.base_url, headers=headers)
        for each in references:
            document = order(each, today(), value=1)
            said = await ask("POST", where.at("/withdraw"), document=document)
            assert said.status == 200, said.body
            await until(partial(is_settled, ask, where.at(f"/withdraw/{each}")))
    return provider_key(Environment.SANDBOX, where.demo["accounts"]["main"]["id"], references[0])


async def is_settled(ask: Callable[..., Awaitable[Answer]], path: str) -> bool:
    return bool((await ask("GET", path)).document["status"] == "paid")


def taken(where: GatewaySite, subject: str) -> list[tuple[Any, ...]]:
    query = "SELECT provider, kind, state, body FROM callbacks WHERE subject = ?"
    with closing(sqlite3.connect(where.folder / "pixgate.db")) as store:
        return store.execute(query, [subject]).fetchall()


async def test_a_bank_in_another_process_sends_callbacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("PIXGATE_BANKS_SECRET", "a secret that both were given")
    where = place(tmp_path, start="false", secret="${PIXGATE_BANKS_SECRET}")

    async with both(where):
        await done(where, "demo")
        await registered(where)
        key = await paid(where, "told-1")

        def ended() -> list[tuple[Any, ...]] | None:
            found = taken(where, key)
            return found if found and found[0][2] == "done" else None

        found = await until(ended)

    assert [each[:3] for each in found] == [("sandbox", "payout", "done")]
    assert json.loads(found[0][3])["chave"] == key


async def test_a_bank_without_a_registration_sends_no_callback(tmp_path: Path):
    where = place(tmp_path, start="false")

    async with both(where):
        await done(where, "demo")
        key = await paid(where, "told-1", "told-2", "told-3")

    assert taken(where, key) == []
