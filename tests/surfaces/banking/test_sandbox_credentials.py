"""Credentials that a partner gets by themselves: what they open, how many, and their end."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest
import pytest_asyncio
from sqlalchemy import select, update

from gateway.config.settings import Settings
from gateway.sandbox.self_service import LASTS, OF_NETWORK
from gateway.store.tables.core import accounts, audit, sandbox_accounts
from provider_adapters.testing.demo.ensure import Pair
from tests.world.gateway.answers import Answer
from tests.world.gateway.world import NOBODY, World, opened, order, sandbox
from tests.world.waiting import until

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    """Behind a proxy that names the address of the caller."""
    settings = sandbox(tmp_path_factory.mktemp("world"))
    server = msgspec.structs.replace(
        settings.server, trusted_peers="127.0.0.1", client_address="forwarded"
    )
    async with opened(msgspec.structs.replace(settings, server=server)) as made:
        yield made


async def get(world: World, address: str, document: object = None) -> Answer:
    details: dict[str, Any] = {} if document is None else {"document": document}
    headers = {"X-Forwarded-For": address}
    return await world.ask("POST", "/sandbox/v1/credentials", by=NOBODY, headers=headers, **details)


def pair_of(answer: Answer) -> Pair:
    made = answer.document
    return Pair(client_id=made["client_id"], client_secret=made["client_secret"])


async def test_a_credential_does_all_that_a_partner_needs(world: World):
    made = await get(world, "192.0.2.1")
    own, pair = made.document, pair_of(made)
    account = f"account/{own['account_id']}"

    async def ask(method: str, path: str, document: object = None) -> Any:
        details: dict[str, Any] = {} if document is None else {"document": document}
        answer = await world.ask(method, path, pair=pair, **details)
        assert answer.status == 200, answer.body
        return answer.document

    balance = await ask("GET", f"/baas/v1/{account}/balance")
    cursor = (await ask("GET", f"/events/v1/{account}/events"))["next"]
    body = {"reference": "a", "type": "Dynamic", "key": own["pix_key"], "value": 25.00}
    await ask("POST", f"/sandbox/v1/{account}/charges", body)
    await ask("POST", f"/sandbox/v1/{account}/charges/a/pay", {})
    await ask("POST", f"/baas/v1/{account}/withdraw", order("b", world.today()))

    async def both() -> list[str] | None:
        part = await ask("GET", f"/events/v1/{account}/events?after={cursor}")
        told = sorted(each["type"] for each in part["data"] if "reference" in each["data"])
        return told if len(told) > 1 else None

    assert made.status == 201
    assert balance["balance"] == 100_000.00
    assert await until(both) == ["payout.paid", "pix.received"]
    assert (await ask("GET", f"/baas/v1/{account}/pix/transactions/a"))["status"] == "paid"


async def test_a_credential_opens_its_own_account_alone(world: World):
    pair = pair_of(await get(world, "192.0.2.2"))

    answer = await world.ask("GET", world.at("/balance"), pair=pair)

    assert answer.verdict == (404, "SVC.ACC.001")


async def test_the_secret_is_in_the_answer_alone_and_each_step_in_the_audit_log(world: World):
    made = (await get(world, "192.0.2.3", {})).document
    database = world.gateway.kernel.store.database

    rows = await database.rows(select(audit).where(audit.c.actor == "sandbox"))
    acts = [row.action for row in rows if made["account_id"][:8] in row.details + row.subject]

    assert {"company.created", "account.created", "credential.issued"} <= set(acts)
    assert made["client_secret"] not in "".join(str(tuple(row)) for row in rows)


async def test_an_address_gets_five_in_a_day_whatever_else_it_claims_to_be(world: World):
    """All addresses of one /48 of IPv6 are one: that much a provider gives one customer."""
    made = [await get(world, f"2001:db8:0:{number}::1") for number in range(OF_NETWORK)]
    sixth = await get(world, "203.0.113.9, 2001:db8:0:ff00::1")
    other = await get(world, "2001:db8:1::1")

    assert [each.status for each in made] == [201] * OF_NETWORK
    assert sixth.verdict == (429, "SVC.GTW.005")
    assert "/top-up pays money in" in sixth.document["message"]
    assert 86_000 < int(sixth.headers["Retry-After"]) <= 86_400
    assert other.status == 201


@pytest.mark.parametrize("document", [{"name": "x"}, [], "x", 1])
async def test_a_body_that_says_anything_is_refused(world: World, document: object):
    answer = await get(world, "192.0.2.4", document)

    assert answer.verdict == (400, "SVC.VAL.011")


async def test_a_bank_that_is_away_uses_up_nothing(world: World):
    tools = world.gateway.services.sandbox
    assert tools is not None
    there, tools.control = tools.control, type(tools.control)(lambda: "http://127.0.0.1:1")
    try:
        away = [(await get(world, "192.0.2.5")).verdict for _ in range(OF_NETWORK + 1)]
    finally:
        tools.control = there

    assert away == [(502, "SVC.ACC.005")] * (OF_NETWORK + 1)
    assert (await get(world, "192.0.2.5")).status == 201


async def test_a_credential_is_given_and_its_account_closed_on_either_store(
    settings_on_either_store: Settings,
):
    async with opened(settings_on_either_store) as other:
        made = await other.ask("POST", "/sandbox/v1/credentials", by=NOBODY)
        path = f"/baas/v1/account/{made.document['account_id']}/balance"
        first = await other.ask("GET", path, pair=pair_of(made))
        await end(other, made.document["account_id"])
        await other.run_task("sandbox accounts")
        closed = await other.ask("GET", path, pair=pair_of(made))

    assert [made.status, first.status] == [201, 200]
    assert closed.verdict == (400, "SVC.ACC.002")


async def end(world: World, account_id: str) -> None:
    """Let the credential of an account have ended two hours ago."""
    ended = world.gateway.kernel.now() - timedelta(hours=2)
    own = sandbox_accounts.c.account_id == account_id
    change = update(sandbox_accounts).where(own).values(opened_at=ended - LASTS, ends_at=ended)
    await world.gateway.kernel.store.database.write(change)


async def test_no_credential_is_issued_without_the_sandbox_bank(tmp_path: Path):
    """An open sandbox at banks of others."""
    settings = sandbox(tmp_path)
    reading = {"sandbox": settings.providers["sandbox-read-only"]}
    async with opened(msgspec.structs.replace(settings, providers=reading)) as other:
        answer = await other.ask("POST", "/sandbox/v1/credentials", by=NOBODY)

    assert answer.verdict == (422, "SVC.ACC.005")


async def test_the_worker_closes_an_account_that_has_ended(world: World):
    made = await get(world, "192.0.2.6")
    own, pair = made.document["account_id"], pair_of(made)
    database = world.gateway.kernel.store.database
    await end(world, own)

    await world.run_task("sandbox accounts")
    await world.run_task("sandbox accounts")

    [account] = await database.rows(select(accounts).where(accounts.c.id == own))
    assert (account.active, account.provider, account.sealed_credentials) == (False, "", b"")
    rows = await database.rows(select(audit).where(audit.c.subject == f"account:{own}"))
    assert [row.action for row in rows] == ["account.created", "account.updated"]
    left = await database.rows(select(sandbox_accounts).where(sandbox_accounts.c.account_id == own))
    assert left == []
    refused = await world.ask("GET", f"/baas/v1/account/{own}/balance", pair=pair)
    assert refused.verdict == (400, "SVC.ACC.002")


async def test_an_account_is_closed_only_after_its_payouts_are_proven(world: World):
    """Whatever the bank did meanwhile: without it nobody could ask what became of the money."""
    made = await get(world, "192.0.2.8")
    own, pair = made.document["account_id"], pair_of(made)
    drive, path = f"/sandbox/v1/account/{own}/faults", f"/baas/v1/account/{own}/withdraw"
    fault = {"fault": "reset_after", "reference": "late"}
    await world.ask("POST", drive, pair=pair, document=fault)
    for _ in range(9):
        unread = {"fault": "status", "operation": "payout_read"}
        await world.ask("POST", drive, pair=pair, document=unread)
    sent = await world.ask("POST", path, pair=pair, document=order("late", world.today()))
    await end(world, own)

    await world.run_task("sandbox accounts")
    under_way = await active(world, own)
    await world.control.delete("faults")

    async def paid() -> bool:
        await world.look_at_unsettled()
        answer = await world.ask("GET", f"{path}/late", pair=pair)
        return bool(answer.document["status"] == "paid")

    await until(paid)
    await world.run_task("sandbox accounts")

    assert sent.verdict == (502, "SVC.PIX.010")
    assert (under_way, await active(world, own)) == (True, False)


async def active(world: World, account_id: str) -> bool:
    wanted = select(accounts.c.active).where(accounts.c.id == account_id)
    [row] = await world.gateway.kernel.store.database.rows(wanted)
    found: bool = row.active
    return found


async def test_the_credential_ends_by_itself_after_a_day(world: World):
    answer = await get(world, "192.0.2.7")

    first = await world.ask(
        "GET",
        f"/baas/v1/account/{answer.document['account_id']}/balance",
        pair=pair_of(answer),
    )

    ends = answer.document["expires_at"]
    assert first.headers["X-Credential-Expires"] == ends
    assert ends[:10] == (world.gateway.kernel.now() + LASTS).date().isoformat()
