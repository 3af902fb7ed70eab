"""A store that does not answer: fail closed, and lose nothing."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import msgspec
import pytest

from gateway.config.settings import Auth, Basic, Database
from gateway.config.values import Address
from tests.world.gateway import routes
from tests.world.gateway.answers import Answer
from tests.world.gateway.world import (
    NOBODY,
    World,
    opened,
    order,
    other_secret,
    pair_of,
    sandbox,
)
from tests.world.stores.relay import relayed
from tests.world.waiting import until

AWAY = (503, "SVC.SYS.002")
BRIEF = Auth(basic=Basic(cache_ttl_s=0.4, cache_negative_ttl_s=0.1))


async def balance(world: World, by: str = "full") -> Answer:
    return await world.ask("GET", world.at("/balance"), by=by)


SHARED = pytest.mark.asyncio(loop_scope="module")


@SHARED
async def test_a_cached_record_is_served_without_the_store(world: World):
    before = await balance(world)
    async with world.losing("credentials", "accounts"):
        kept = await balance(world)

    assert (before.status, kept.status) == (200, 200)


@pytest.mark.parametrize("table", ["credentials", "accounts"])
async def test_a_cached_record_is_served_until_it_expires(tmp_path: Path, table: str):
    """Then 503 with Retry-After; and all is well when the store is back."""
    async with opened(sandbox(tmp_path, auth=BRIEF)) as world:

        async def refused() -> Answer | None:
            answer = await balance(world)
            return None if answer.status == 200 else answer

        await balance(world)
        async with world.losing(table):
            away = await until(refused)
        after = await balance(world)

    assert (away.verdict, after.status) == (AWAY, 200)
    assert away.headers["Retry-After"] == "2"


@SHARED
async def test_an_unknown_credential_is_refused_without_the_store(world: World):
    """Fails closed: a secret without a valid checksum is also refused without the store."""
    made = await world.issue()
    unseen = pair_of(made)
    headers: dict[str, dict[str, str]] = {
        "SVC.AUT.001": {},
        "SVC.AUT.009": {"Authorization": "Bearer abc"},
        "SVC.AUT.002": {"Authorization": "Basic %%%"},
        "SVC.AUT.010": {"Authorization": "Basic Y2xpX2E6Z3dzX2I="},
    }
    async with world.losing("credentials"):
        away = [
            await world.ask("GET", world.at("/balance"), pair=pair)
            for pair in (unseen, other_secret(unseen))
        ]
        refused = [
            await world.call("GET", world.at("/balance"), headers=each) for each in headers.values()
        ]

    assert [each.verdict for each in away] == [AWAY, AWAY]
    assert [each.verdict for each in refused] == [(401, code) for code in headers]


@SHARED
async def test_unreadable_payouts_are_a_500(world: World):
    """The balance does not need them."""
    stored = [
        place
        for place in routes.PARTNER
        if place.route.name in {"banking.payout", "banking.payouts"}
    ]
    async with world.losing("payouts"):
        answers = [await routes.ask(world, place) for place in stored]
        read = await balance(world)

    assert [each.verdict for each in answers] == [(500, "SVC.SYS.001")] * 2
    assert read.status == 200


@SHARED
async def test_a_payout_that_cannot_be_stored_is_not_sent(world: World):
    """500, and not a byte to the bank; the same request pays once the store is back."""
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


async def test_a_process_without_its_store_is_ready_and_reports_it(
    tmp_path: Path, migrated_postgres_url: str
):
    """The gateway itself answers partners 503, within the look-up's half second."""
    port = urlsplit(migrated_postgres_url).port
    assert port is not None
    async with relayed(port) as road:
        url = migrated_postgres_url.replace(f":{port}/", f":{road.port}/")
        database = Database(url=Address(url), auth_timeout_s=0.5, timeout_s=1, migrate="always")
        settings = sandbox(tmp_path, database=database, auth=BRIEF)
        async with opened(settings) as world:
            await until(partial(answers, world, True, (200, "")))
            await road.close()
            await until(partial(answers, world, False, AWAY))
            health = await world.ask("GET", "/baas/v1/health", by=NOBODY)
            await road.open()
            await until(partial(answers, world, True, (200, "")))

    assert health.status == 200


async def answers(world: World, passes: bool, verdict: tuple[int, str]) -> bool:
    """Say whether the process is ready, its checks pass or fail so, and a call is answered so."""
    found = await readiness(world), (await balance(world)).verdict
    return found == ((200, passes), verdict)


async def test_a_silent_store_is_treated_as_unavailable(tmp_path: Path, migrated_postgres_url: str):
    """The look-up ends at its own time limit, not at the store's."""
    port = urlsplit(migrated_postgres_url).port
    assert port is not None
    async with relayed(port) as road:
        url = migrated_postgres_url.replace(f":{port}/", f":{road.port}/")
        database = Database(url=Address(url), auth_timeout_s=0.3, timeout_s=3600, migrate="always")
        async with opened(sandbox(tmp_path, database=database, auth=BRIEF)) as world:
            await until(partial(answers, world, True, (200, "")))
            road.silent = True

            async def is_away() -> bool:
                return (await balance(world)).verdict == AWAY

            await until(is_away)
            road.silent = False
            await road.cut()


async def readiness(world: World) -> tuple[int, bool]:
    """Ask the operations listener; return the status, and whether every check passed."""
    async with world.session.get(f"{world.demo['ops_url']}/readyz") as said:
        shown = msgspec.json.decode(await said.read())
    return said.status, all(shown["checks"].values())
