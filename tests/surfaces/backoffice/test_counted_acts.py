"""Refused and read-only acts of strangers and users are in the audit log as well."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from gateway.audit.routes import NDJSON
from tests.world.backoffice.client import NOBODY, BackofficeClient
from tests.world.gateway.world import opened, sandbox

WRONG = "uma frase que ninguém escolheu"


async def fails(backoffice_client: BackofficeClient, email: str) -> tuple[int, str]:
    given = {"email": email, "password": WRONG}
    return (await backoffice_client.ask("POST", "/iam/v1/auth/login", given, by=NOBODY)).verdict


async def test_a_stopping_process_writes_counted_acts(tmp_path: Path):
    """Guesses at somebody and at nobody are answered alike, and told apart in the log alone."""
    settings = sandbox(tmp_path)
    async with opened(settings) as world:
        backoffice_client = BackofficeClient(world)
        victim = world.demo["users"]["approver"]["email"]
        user = await world.gateway.services.identity.users.find(victim)
        answers = {
            await fails(backoffice_client, who) for who in (victim, victim, "nobody@example.com")
        }
        refused = await backoffice_client.ask("GET", "/backoffice/v1/users", by="viewer")
        day = world.today()
        report = await backoffice_client.read(f"/report?init={day}&ends={day}&format=json")
        exported = await backoffice_client.ask(
            "GET", "/backoffice/v1/audit/export", by="security", kind=NDJSON
        )

    with closing(sqlite3.connect(tmp_path / "pixgate.db")) as store:
        counted = store.execute(
            "SELECT actor, action, subject, json_extract(details, '$.count') FROM audit "
            "WHERE json_extract(details, '$.count') IS NOT NULL"
        ).fetchall()
    assert answers == {(401, "INVALID_CREDENTIALS")}
    assert (refused.status, report.status, exported.status) == (403, 200, 200)
    told = {(action, subject): (actor, count) for actor, action, subject, count in counted}
    assert told[("sign_in.failed", f"user:{user.id}")] == ("address:127.0.0.1", "2")
    assert told[("sign_in.failed", "address:127.0.0.1")] == ("address:127.0.0.1", "1")
    account = world.demo["accounts"]["main"]["id"]
    operator = world.demo["users"]["operator"]["email"]
    assert told[("report.downloaded", f"account:{account}")] == (f"user:{operator}", "1")
    assert {action for action, _ in told} == {
        *("sign_in.failed", "access.refused", "report.downloaded", "audit.exported"),
    }
