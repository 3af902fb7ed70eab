"""A statement's pages against the sandbox bank: one walk of the window, however many pages."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import AsyncIterator

import msgspec
import pytest
import pytest_asyncio

from gateway.app.assembly import assemble
from gateway.app.lifecycle import running
from gateway.config.settings import Cache, Settings
from gateway.config.values import Address
from tests.servers.redis import RedisServer
from tests.world.gateway.world import FROM_NOON, World, opened, sandbox

pytestmark = pytest.mark.asyncio(loop_scope="module")

ENTRIES = 10_000
LARGEST_PAGE = 500


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    """A gateway whose main account has ten thousand movements of today, by its own ledger."""
    async with opened(sandbox(tmp_path_factory.mktemp("pages"))) as made:
        await fill(made, ENTRIES)
        yield made


async def fill(world: World, count: int, account: str = "main") -> None:
    """Write Pix movements of today into the bank's statement, so that it has ``count`` in all."""
    record = await world.office.kernel.store.accounts.find(world.demo["accounts"][account]["id"])
    assert record is not None
    has = (await page(world, 1, account=account))["meta"]["total"]
    at = int(world.gateway.kernel.now().timestamp() * 1_000_000)
    rows = [(record.provider_account, at, f"movement {n}") for n in range(count - has)]
    with contextlib.closing(
        sqlite3.connect(world.gateway.kernel.settings.bank_file, timeout=300)
    ) as bank:
        bank.executemany(
            "INSERT INTO statement (account_id, at, description, kind, centavos, name, tax_number)"
            " VALUES (?, ?, ?, 'pix_returned', 1, 'Maria', '52998224725')",
            rows,
        )
        bank.commit()


def path(world: World, number: int, limit: int = 100) -> str:
    return f"/transactions?init={world.today()}&ends={world.today()}&page={number}&limit={limit}"


async def page(world: World, number: int, limit: int = 100, account: str = "main") -> dict:
    role = "company" if account == "sister" else "full"
    answer = await world.ask("GET", world.at(path(world, number, limit), account), by=role)
    assert answer.status == 200, answer.body
    return dict(answer.document)


async def asked(world: World) -> list[str]:
    """Return the statement's requests that the bank has seen since it last forgot them."""
    seen = await world.control.get("calls", query={"limit": 1000})
    return [call["path"] for call in seen["data"] if "/extrato" in call["path"]]


async def test_a_hundred_statement_pages_read_the_bank_s_statement_once(world: World):
    await world.control.delete("calls")

    pages = [await page(world, number) for number in range(1, 102)]  # another test adds one

    total = pages[0]["meta"]["total"]
    ids = [entry["id"] for each in pages for entry in each["data"]]
    assert total >= ENTRIES
    assert len(ids) == len(set(ids)) == total
    assert {each["meta"]["total"] for each in pages} == {total}
    seen = await asked(world)
    assert len([path for path in seen if "cursor=" not in path]) == 1
    assert len(seen) == ENTRIES // LARGEST_PAGE + 1  # with the few movements that are not Pix


async def test_one_account_never_sees_another_s_snapshot(world: World):
    await page(world, 1)

    sister = await page(world, 2, account="sister")

    assert sister["meta"]["total"] < ENTRIES
    assert sister["data"] == []


async def test_two_gateways_share_a_walk_through_redis(
    redis_server: RedisServer, tmp_path_factory: pytest.TempPathFactory
):
    """Page 1 from one of them, page 2 from the other: one walk at the bank."""
    folder = tmp_path_factory.mktemp("shared")
    await redis_server.empty()
    settings = sandbox(folder, cache=Cache(url=Address(redis_server.url)))
    other = msgspec.structs.replace(
        settings,
        sandbox_bank=msgspec.structs.replace(settings.sandbox_bank, start=False),
    )
    async with opened(settings) as one:
        await fill(one, 300)
        async with beside(one, other) as two:
            await one.control.delete("calls")
            totals = [(await page(world, n))["meta"]["total"] for n, world in
                      [(1, one), (2, two), (3, one)]]  # fmt: skip
            walked = await asked(one)

    assert totals == [300, 300, 300]
    assert len(walked) == 1


@contextlib.asynccontextmanager
async def beside(one: World, settings: Settings) -> AsyncIterator[World]:
    """Run a second gateway on the store and the bank of the first one."""
    gateway = assemble(settings, FROM_NOON)
    async with running(gateway):
        yield World(
            gateway=gateway,
            demo=one.demo,
            office=one.office,
            control=one.control,
            session=one.session,
        )
