"""The commands of docs/database.md, run exactly as shown."""

from __future__ import annotations

import asyncio
import os
import re
import shlex
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import asyncpg
import pytest
from yarl import URL

from tests.proofs.torture import postgres, processes
from tests.proofs.torture.gateway_client import GatewayClient, TortureWorld, torture_world_in
from tests.proofs.torture.postgres import Postgres
from tests.proofs.torture.processes import OFFSET, ROOT, Command
from tests.servers.process import free_port
from tests.world.extent import WHOLE
from tests.world.waiting import until

pytestmark = pytest.mark.skipif(not WHOLE, reason="`make proofs` alone")

PAGE = (ROOT / "docs/database.md").read_text()
URL_VARIABLE = "PIXGATE_DATABASE_URL"
PASSWORDS = {"OWNER_PASSWORD": "owner's", "PIXGATE_PASSWORD": 'a "b'}


def blocks(heading: str) -> list[str]:
    section = PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    return re.findall(r"^```bash\n(.*?)^```", section, re.MULTILINE | re.DOTALL)


async def shell(script: str, folder: Path, environ: Mapping[str, str]) -> tuple[int, str]:
    """Run commands as bash does; return the status and what was said."""
    paths = f"{Path(sys.executable).parent}:{environ['binaries']}:{os.environ['PATH']}"
    done = await asyncio.create_subprocess_exec(
        *("bash", "-euo", "pipefail", "-c", script),
        cwd=folder,
        env={**os.environ, **PASSWORDS, **environ, "PATH": paths},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    said, _ = await done.communicate()
    return done.returncode or 0, said.decode()


async def succeeds(script: str, folder: Path, environ: Mapping[str, str]) -> str:
    """Run commands that must all succeed; return what was said."""
    status, said = await shell(script, folder, environ)
    assert status == 0, said
    return said


def surroundings(store: Postgres, **environ: str) -> dict[str, str]:
    """Return the variables of a superuser's shell."""
    return {
        "binaries": str(store.binaries),
        "PGHOST": "127.0.0.1",
        "PGPORT": str(store.port),
        "PGUSER": "postgres",
        **environ,
    }


def named(store: Postgres, role: str) -> str:
    """Return the database's address for a role, without a password."""
    return store.url().replace("postgres@", f"{role}@")


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """
    A process with the role for rows alone, and a worker with the owner's.

    Attributes:
        runtime: The database's address for the first.
        shell: Variables of an operator's shell.
    """

    partner: GatewayClient
    worker: Command
    runtime: str
    shell: dict[str, str]

    async def start(self, **environ: str) -> None:
        await self.partner.start(**{URL_VARIABLE: self.runtime}, **environ)

    async def stop(self) -> None:
        for each in (self.partner.command, self.worker):
            each.kill(signal.SIGTERM)
            await each.ended()


async def site_on(store: Postgres, world: TortureWorld) -> Site:
    """Make the roles as the page does, and start both processes."""
    superuser = surroundings(store)
    for script in ("dropdb pixgate", *blocks("Roles")):
        await succeeds(script, world.folder, superuser)
    owner, runtime = (named(store, role) for role in ("pixgate_owner", "pixgate"))
    os.environ[URL_VARIABLE] = owner
    partner = await world.gateway_client(
        "site",
        store="${PIXGATE_DATABASE_URL}",
        database={"url": "${PIXGATE_DATABASE_URL}", "migrate": "never"},
        sandbox_bank={"start": False, "control_port": URL(world.bank.answers).port},
        worker={"run": "apart"},
    )
    worker = processes.worker(partner.config.parent, partner.config, "worker")
    world.opened.callback(worker.kill)
    offset = {OFFSET: str(world.offset_s)}
    worker.start(**offset)
    shell = surroundings(store, PIXGATE_CONFIG=str(partner.config), **offset)
    site = Site(partner=partner, worker=worker, runtime=runtime, shell=shell)
    await site.start()
    return site


async def test_roles_backup_and_restore_follow_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """
    The process on the network owns nothing, and nobody new may connect.

    Payouts lost by the restore are not paid twice.
    """
    monkeypatch.setenv(URL_VARIABLE, "")
    async with postgres.running() as store, torture_world_in(tmp_path) as world:
        site = await site_on(store, world)
        partner = site.partner
        kept = await paid(partner, "kept")
        await until(lambda: partitioned(named(store, "pixgate_owner")))
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await execute(site.runtime, "ALTER TABLE payouts ADD COLUMN channel int")
        await succeeds(*blocks("Backup"), tmp_path, site.shell)
        lost = await paid(partner, "lost")
        before = await rights(store)
        await site.stop()
        await succeeds(*blocks("Restore"), tmp_path, site.shell)
        after = await rights(store)
        compared = await shell("pixgate payouts verify", tmp_path, site.shell)
        await site.start(PIXGATE_LOOK_FIRST="true")
        again = [await partner.pay(each) for each in (*kept, *lost)]
        made = [await partner.executions(each) for each in (*kept, *lost)]

    assert after == before
    assert not any(each.startswith("=") and "c" in each for each in after[1])
    assert (compared[0], compared[1].count("execution_without_row")) == (1, len(lost))
    assert {status for status, _ in again} == {200}
    assert made == [[1050]] * len(again)


async def rights(store: Postgres) -> tuple[str, Sequence[str]]:
    [(owner, granted)] = await execute(
        store.url(),
        "SELECT pg_get_userbyid(datdba), datacl FROM pg_database WHERE datname = 'pixgate'",
    )
    return owner, sorted(granted or [])


async def test_the_failover_drill_follows_the_page(tmp_path: Path):
    """Answered payouts are there; the process reconnects without a restart."""
    async with postgres.running() as store, torture_world_in(tmp_path) as world:
        port = free_port()
        hosts = f"host=127.0.0.1:{store.port}&host=127.0.0.1:{port}"
        url = f"postgresql://postgres@/pixgate?{hosts}&target_session_attrs=read-write"
        partner = await world.gateway_client(
            "site",
            store=store.url(),
            database={"url": url, "migrate": "never"},
            sandbox_bank={"start": False, "control_port": URL(world.bank.answers).port},
        )
        await partner.start()
        before = await paid(partner, "before")
        async with standby(store, port) as promote:
            await store.crash()
            refused = await partner.pay("between")
            await promote()
            await until(lambda: is_paid(partner, "between"))
            read = [(await partner.read(each))[0] for each in before]
            made = await partner.executions("between")

    assert refused[0] in {500, 503}
    assert (read, made) == ([200] * len(before), [1050])


@asynccontextmanager
async def standby(store: Postgres, port: int) -> AsyncIterator[Callable[[], Awaitable[str]]]:
    """Make a standby as the page does; give what promotes it."""
    make, promote = blocks("Failover drill")
    home, who = store.folder / "home", store.account
    home.mkdir()
    who.owns(home)
    become = [] if who.uid is None else [f"--reuid={who.uid}", f"--regid={who.gid}"]
    environ = surroundings(store, STANDBY_PORT=str(port))

    async def does(script: str) -> str:
        words = ["setpriv", *become, "--clear-groups"] if become else ["env"]
        inner = shlex.join([*words, "bash", "-euo", "pipefail", "-c", script])
        return await succeeds(inner, home, environ)

    # Debian's servers keep their socket where root alone may write.
    await does(make.replace("-p $", f"-k {home} -p $"))
    try:
        yield lambda: does(promote)
    finally:
        await does("pg_ctl --pgdata=standby stop --mode=immediate")


async def is_paid(partner: GatewayClient, reference: str) -> bool:
    return (await partner.pay(reference))[0] == 200


async def paid(partner: GatewayClient, name: str) -> list[str]:
    """Make three payouts; return their references."""
    references = [f"{name}-{number}" for number in range(3)]
    assert {(await partner.pay(each))[0] for each in references} == {200}
    return references


async def partitioned(url: str) -> bool:
    rows = await execute(
        url,
        "SELECT count(*) AS made FROM pg_inherits JOIN pg_class c ON "
        "c.oid = inhparent WHERE c.relname = 'request_log'",
    )
    return bool(rows[0]["made"] > 3)


async def execute(url: str, statement: str) -> list[asyncpg.Record]:
    connection = await asyncpg.connect(url, timeout=10)
    try:
        return list(await connection.fetch(statement))
    finally:
        await connection.close()
