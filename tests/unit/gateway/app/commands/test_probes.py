"""What ``pixgate config check --probe`` reaches."""

import concurrent.futures
import os
import re
import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from msgspec.structs import replace
from redis.asyncio import Redis

from gateway.app.commands import probes
from gateway.app.commands.probes import probed, undecided, unmakeable
from gateway.cli.configuration import settings_of
from gateway.config.reading import settings_from
from gateway.core.account import Environment
from gateway.store import schema
from tests.world.banks.authority import Authority
from tests.world.shell import CONFIG

NOWHERE = "postgresql://somebody:hidden@127.0.0.1:1/pixgate"


async def found(shell, text: str = "") -> list[tuple[str, str]]:
    """Probe as the shell's environment says."""
    environ = {**os.environ, **shell.environ}
    return await probed(settings_from(text or CONFIG.read_text(), environ))


async def test_a_working_configuration_has_no_finding(shell, bank):
    shell_database(shell)

    assert await found(shell) == []


async def test_an_embedded_store_not_yet_created_is_no_finding(shell, bank):
    """The next start creates it."""
    (shell.folder / "pixgate.db").unlink()

    assert await found(shell) == []
    assert not (shell.folder / "pixgate.db").exists()


async def test_a_missing_store_is_reported_and_not_created(fresh_shell):
    text = f"var: {fresh_shell.folder}\ndatabase: {{migrate: never}}\n"

    ((path, message),) = await found(fresh_shell, text)

    assert (path, "`pixgate db upgrade`" in message) == ("database.url", True)
    assert list(fresh_shell.folder.iterdir()) == []


async def test_a_store_that_needs_a_manual_migration_is_a_finding(shell):
    shell_database(shell)
    with sqlite3.connect(shell.folder / "pixgate.db") as database:
        database.execute("DROP TABLE pixgate_schema")
    database.close()
    text = f"var: {shell.folder}\ndatabase: {{migrate: %s}}\n"

    assert await found(shell, text % "auto") == []
    ((path, _),) = await found(shell, text % "never")
    assert path == "database.url"


async def test_an_unreachable_store_is_named_without_its_password(shell, bank):
    shell.environ["PIXGATE_DATABASE_URL"] = NOWHERE

    (finding,) = await found(shell)

    assert finding == ("database.url", "the store does not answer: ConnectionRefusedError")


async def test_an_invalid_store_url_is_named_without_its_password(shell, bank):
    shell.environ["PIXGATE_DATABASE_URL"] = "mysql://somebody:hidden@127.0.0.1/pixgate"

    ((path, message),) = await found(shell)

    assert (path, "hidden" in message) == ("database.url", False)


async def test_a_store_of_the_other_environment_is_a_finding(shell, bank):
    shell_database(shell)
    with sqlite3.connect(shell.folder / "pixgate.db") as database:
        database.execute("UPDATE store_stamp SET environment = 'production'")
    database.close()

    ((path, message),) = await found(shell)

    assert path == "database.url"
    assert "belongs to production" in message


async def test_a_read_only_store_is_a_finding(shell, bank, postgres_url: str):
    """A standby answers reads, but cannot store payouts."""
    shell.environ["PIXGATE_DATABASE_URL"] = postgres_url
    shell_database(shell)
    connection = await asyncpg.connect(postgres_url.replace("+asyncpg", ""))
    name = await connection.fetchval("SELECT current_database()")
    await connection.execute(f'ALTER DATABASE "{name}" SET default_transaction_read_only = on')
    await connection.close()

    ((path, message),) = await found(shell)

    assert (path, "read-only" in message) == ("database.url", True)


async def test_a_wrong_clock_is_a_finding(shell, bank, postgres_url: str, monkeypatch):
    """Found before a start: the process would not be ready."""
    await schema.upgrade(postgres_url)
    shell.environ["PIXGATE_DATABASE_URL"] = postgres_url
    behind = timedelta(hours=2)
    monkeypatch.setattr(probes, "utc_now", lambda: datetime.now(UTC) - behind)

    [(path, message)] = await found(shell)

    assert path == "database.clock_tolerance_s"
    assert re.search(r"clock is -7[12]\d\d s ahead", message)


async def test_paying_credentials_without_limits_are_a_finding_in_production(
    shell, bank, postgres_url: str
):
    shell.environ["PIXGATE_DATABASE_URL"] = postgres_url
    shell_database(shell)
    company_id = in_thread(shell.reads, "company", "create", "--name", "Padaria")["id"]
    issue = ("credential", "issue", "--company", company_id, "--permission", "withdraw:write")
    half = in_thread(shell.reads, *issue, "--name", "half", "--limit-per-day", "5")
    limits = ("--limit-per-day", "5", "--limit-per-payout", "5")
    in_thread(shell.reads, *issue, "--name", "limited", *limits)
    settings = settings_from(CONFIG.read_text(), {**os.environ, **shell.environ})

    elsewhere = await undecided(settings)
    connection = await asyncpg.connect(postgres_url.replace("+asyncpg", ""))
    await connection.execute("UPDATE store_stamp SET environment = 'production'")
    await connection.close()
    production = await undecided(replace(settings, environment=Environment.PRODUCTION))

    assert elsewhere == []
    assert [client_id for client_id, _ in production] == [half["client_id"]]
    assert "pixgate credential limits" in production[0][1]


async def test_an_unusable_shared_cache_is_a_finding(shell, bank, redis_url: str):
    """Without it pages of statements may disagree, although no request would fail."""
    shell_database(shell)
    said = {}
    async with Redis.from_url(redis_url) as server:
        for case, url in {"fit": redis_url, "nobody": "redis://127.0.0.1:1"}.items():
            shell.environ["PIXGATE_CACHE_URL"] = url
            said[case] = await found(shell)
        shell.environ["PIXGATE_CACHE_URL"] = redis_url
        await server.replicaof("127.0.0.1", "1")
        said["a copy of another"] = await found(shell)
        await server.replicaof("NO", "ONE")

    assert said == {
        "fit": [],
        "nobody": [("cache.url", "the cache cannot be used: ConnectionError")],
        "a copy of another": [("cache.url", "the cache cannot be used: ReadOnlyError")],
    }


async def test_a_shared_cache_without_scripting_is_a_finding(shell, bank, redis_url: str):
    """The Redis user may not run scripts, so each process would count alone."""
    shell_database(shell)
    shell.environ["PIXGATE_CACHE_URL"] = redis_url.replace("//", "//pix:word@")
    async with Redis.from_url(redis_url) as server:
        await server.acl_setuser(
            "pix",
            enabled=True,
            passwords=["+word"],
            keys=["*"],
            commands=["+get", "+set", "+hello"],
        )
        said = await found(shell)
        await server.acl_deluser("pix")

    ((path, message),) = said
    assert (path, "may not run every command" in message) == ("cache.url", True)


async def test_an_unreachable_bank_is_a_finding(shell):
    shell.environ["PIXGATE_BANK_PORT"] = "1"

    assert [path for path, _ in await found(shell)] == [
        "providers.sandbox",
        "providers.sandbox-read-only",
    ]


def test_invalid_adapter_settings_are_a_finding():
    text = "providers: {bank: {adapter: sandbox, settings: {base_url: 'http://10.0.0.1'}}}"

    [(path, message)] = unmakeable(settings_from(text, {}))
    assert (path, message) == (
        "providers.bank.settings.base_url",
        "must be a loopback address",
    )


def test_the_sandbox_s_adapters_can_be_made(monkeypatch):
    monkeypatch.delenv("PIXGATE_BANK_PORT", raising=False)

    assert list(unmakeable(settings_of(CONFIG))) == []


def shell_database(shell) -> None:
    """Make the store."""
    in_thread(shell.says, "db", "upgrade")


def in_thread(deed: Callable[..., Any], *arguments: str) -> Any:
    """Run a command in a thread, since it has a loop of its own."""
    with concurrent.futures.ThreadPoolExecutor() as pool:
        return pool.submit(deed, *arguments).result()


@pytest.mark.parametrize("part", ["ca", "certificate", "key"])
def test_unusable_tls_files_are_findings(tmp_path: Path, part: str):
    """The service would refuse to start; this must be known before."""
    authority = Authority(tmp_path)
    files = {"ca": authority.file, "certificate": authority.sign("we"), "key": tmp_path / "key"}
    (tmp_path / "key").write_text(authority.pair("others").key)
    if part != "key":
        (tmp_path / "none").write_text("canary")
        files = {part: tmp_path / "none"}
    tls = ", ".join(f"{name}: '{file}'" for name, file in files.items())

    [(path, message)] = unmakeable(
        settings_from(f"providers: {{bank: {{adapter: sandbox, tls: {{{tls}}}}}}}", {})
    )

    assert path == f"providers.bank.tls.{part}"
    assert "canary" not in message
