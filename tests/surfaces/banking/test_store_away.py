"""A store that does not answer: fail closed, and lose nothing."""

from __future__ import annotations

import asyncio
from pathlib import Path
from urllib.parse import urlsplit

import msgspec
import pytest

from gateway.config.settings import Auth, Basic, Database
from gateway.config.values import Address
from gateway.http.table import RoutedRow
from tests.world.gateway import rows
from tests.world.gateway.answers import Answer
from tests.world.gateway.world import NOBODY, World, opened, order, other_secret, sandbox
from tests.world.stores.relay import relayed

AWAY = (503, "SVC.SYS.002")
BRIEF = Auth(basic=Basic(cache_ttl_s=0.4, cache_negative_ttl_s=0.1))


async def balance(world: World, by: str = "full") -> Answer:
    return await world.ask("GET", world.at("/balance"), by=by)


@pytest.mark.parametrize("table", ["credentials", "accounts"])
async def test_a_record_serves_to_the_end_of_its_time(tmp_path: Path, table: str):
    """Then 503 with Retry-After; and all is well when the store is back."""
    async with opened(sandbox(tmp_path, auth=BRIEF)) as world:
        before = await balance(world)
        async with world.losing(table):
            cached = await balance(world)
            await asyncio.sleep(0.5)
            away = await balance(world)
        after = await balance(world)

    assert (before.status, cached.status, after.status) == (200, 200, 200)
    assert away.verdict == AWAY
    assert away.headers["Retry-After"] == "2"


async def test_a_credential_nobody_has_seen_is_not_let_in(tmp_path: Path):
    """Never fail open."""
    async with opened(sandbox(tmp_path)) as world, world.losing("credentials"):
        unseen = await balance(world, by="company")
        wrong = await world.ask(
            "GET", world.at("/balance"), pair=other_secret(world.pair("company"))
        )

    assert unseen.verdict == wrong.verdict == AWAY


@pytest.mark.parametrize(
    ("header", "code"),
    [
        (None, "SVC.AUT.001"),
        ("Bearer abc", "SVC.AUT.009"),
        ("Basic %%%", "SVC.AUT.002"),
        ("Basic Y2xpX2E6Z3dzX2I=", "SVC.AUT.010"),
    ],
    ids=["missing", "wrong scheme", "malformed", "no checksum"],
)
async def test_what_needs_no_store_is_answered_without_it(
    tmp_path: Path, header: str | None, code: str
):
    """A secret without its checksum is refused before anybody is asked."""
    headers = {} if header is None else {"Authorization": header}
    async with opened(sandbox(tmp_path)) as world, world.losing("credentials"):
        answer = await world.call("GET", world.at("/balance"), headers=headers)

    assert answer.verdict == (401, code)


STORED = [
    place for place in rows.PARTNER if place.row.name in {"banking.payout", "banking.payouts"}
]


@pytest.mark.parametrize("place", STORED, ids=rows.name)
async def test_payouts_that_cannot_be_read_are_our_failure(tmp_path: Path, place: RoutedRow):
    async with opened(sandbox(tmp_path)) as world, world.losing("payouts"):
        answer = await rows.ask(world, place)

    assert answer.verdict == (500, "SVC.SYS.001")


async def test_a_payout_that_cannot_be_stored_is_not_sent(tmp_path: Path):
    """500, and not a byte to the bank; the same request pays once the store is back."""
    async with opened(sandbox(tmp_path)) as world:
        sent = order("unstored", world.today())
        async with world.losing("payouts"):
            failed = await world.pay(sent)
        asked = await world.asked(failed.trace_id)
        looked_up = await world.ask("GET", world.at("/withdraw/unstored"))
        again = await world.pay(sent)
        asked_again = await world.asked(again.trace_id)
        executed = await world.executions("unstored")

    assert failed.verdict == (500, "SVC.SYS.001")
    assert (asked, len(asked_again)) == ([], 1)
    assert looked_up.verdict == (404, "SVC.PIX.011")
    assert (again.status, executed) == (200, [1050])


async def test_reads_of_the_bank_need_no_payouts(tmp_path: Path):
    async with opened(sandbox(tmp_path)) as world, world.losing("payouts"):
        answer = await balance(world)

    assert answer.status == 200


async def test_readiness_follows_the_store(tmp_path: Path, migrated_postgres_url: str):
    """And so do the partners: a server that is cut off is 503 within the look-up's half second."""
    port = urlsplit(migrated_postgres_url).port
    assert port is not None
    async with relayed(port) as road:
        url = migrated_postgres_url.replace(f":{port}/", f":{road.port}/")
        database = Database(url=Address(url), auth_timeout_s=0.5, timeout_s=1, migrate="always")
        settings = sandbox(tmp_path, database=database, auth=BRIEF)
        async with opened(settings) as world:
            ready = await readiness(world), (await balance(world)).status
            await road.close()
            await asyncio.sleep(0.5)
            cut_off = await readiness(world), (await balance(world)).verdict
            health = await world.ask("GET", "/baas/v1/health", by=NOBODY)
            await road.open()
            again = await readiness(world), (await balance(world)).status

    assert ready == again == (200, 200)
    assert cut_off == (503, AWAY)
    assert health.status == 200


async def test_a_store_that_is_silent_is_one_that_is_away(
    tmp_path: Path, migrated_postgres_url: str
):
    """The look-up is given up after its time, not after the store's."""
    port = urlsplit(migrated_postgres_url).port
    assert port is not None
    loop = asyncio.get_running_loop()
    async with relayed(port) as road:
        url = migrated_postgres_url.replace(f":{port}/", f":{road.port}/")
        database = Database(url=Address(url), auth_timeout_s=0.3, timeout_s=20, migrate="always")
        async with opened(sandbox(tmp_path, database=database, auth=BRIEF)) as world:
            await balance(world)
            road.silent = True
            await asyncio.sleep(0.5)
            began = loop.time()
            answer = await balance(world)
            took = loop.time() - began
            road.silent = False
            await road.cut()

    assert answer.verdict == AWAY
    assert took < 10


async def readiness(world: World) -> int:
    """Ask the operations listener."""
    url = f"{world.demo['ops_url']}/readyz"
    async with world.session.get(url) as said:
        shown = msgspec.json.decode(await said.read())
    assert shown["checks"]["store"] is (said.status == 200), shown
    return said.status
