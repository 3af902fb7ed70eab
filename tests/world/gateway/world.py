"""A whole gateway on real sockets: its store, its bank, the demo, and a partner who calls it."""

from __future__ import annotations

import asyncio
import atexit
import base64
import contextlib
import os
import shutil
import sqlite3
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypedDict, Unpack

import aiohttp
import msgspec
from yarl import URL

from gateway.app.assembly import Gateway, assemble
from gateway.app.commands.context import AdminContext
from gateway.app.lifecycle import running
from gateway.app.services import build_credentials
from gateway.app.store import open_store
from gateway.audit.log import audit_keys
from gateway.config.listeners import Admin, Server
from gateway.config.settings import (
    Database,
    FailedCredentials,
    Limits,
    RateLimits,
    Sandbox,
    Settings,
)
from gateway.config.upstream import Breaker, Provider, SandboxBank
from gateway.core.access import Staff
from gateway.core.account import Environment
from gateway.core.audit_context import AuditContext
from gateway.core.limits import CallRate
from gateway.core.permissions import EVERY_PERMISSION, UNLIMITED, CredentialLimits
from gateway.credentials.model import CredentialBody, Issued, PublicKeyBody
from gateway.payouts.model import provider_key
from gateway.process.process import OFFSET, wall_clock
from gateway.security.secrets import new_client_secret
from gateway.store.tables.core import payouts
from provider_adapters.testing.bank.control_client import BankControl
from provider_adapters.testing.demo.ensure import Demo, DemoUrls, Pair, made_demo
from tests.servers.process import free_port
from tests.world.gateway.answers import JSON, Answer, check
from tests.world.identity import LITTLE
from tests.world.standing import NOON
from tests.world.store import migrated
from tests.world.waiting import until

MANY = 100_000
FREE = CallRate(rate=1_000_000, burst=1_000_000)
NOBODY = ""
FROM_NOON: Mapping[str, str] = {OFFSET: str((NOON - datetime.now(UTC)).total_seconds())}
"""Environment of a gateway whose clock was at ``NOON`` when this module was imported: no test
meets the end of a day, and every run has the same date."""

now = wall_clock(Environment.SANDBOX, FROM_NOON)


class Details(TypedDict, total=False):
    """
    What a call has beyond method and path.

    Attributes:
        by: The role of a demo credential, ``NOBODY`` for none; ``full`` when absent.
        pair: Another credential in its place.
        headers: Sent too; an Authorization here takes the credential's place.
        document: Sent as JSON; ``data`` is sent as it stands.
    """

    by: str
    pair: Pair
    headers: Mapping[str, str] | list[tuple[str, str]]
    document: object
    data: bytes | None
    content_type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """
    A running gateway and everything around it.

    Attributes:
        control: The bank's control interface.
    """

    gateway: Gateway
    demo: Demo
    office: AdminContext
    control: BankControl
    session: aiohttp.ClientSession

    @property
    def port(self) -> int:
        return self.gateway.public.port

    def at(self, path: str, account: str = "main") -> str:
        return f"/baas/v1/account/{self.demo['accounts'][account]['id']}{path}"

    def pair(self, role: str) -> Pair:
        return self.demo["credentials"][role]

    def today(self) -> str:
        """Return the gateway's date, as a payout is dated."""
        return self.gateway.kernel.now().date().isoformat()

    async def call(self, method: str, path: str, **details: Unpack[Details]) -> Answer:
        """Call the public listener and check what must hold of every answer."""
        return await send(self.session, f"http://127.0.0.1:{self.port}", method, path, **details)

    async def ask(self, method: str, path: str, **details: Unpack[Details]) -> Answer:
        """Call as a partner of the demo, by default the one with every permission on main."""
        pair = details.pop("pair", None)
        role = details.pop("by", "full")
        if pair is None and role != NOBODY:
            pair = self.pair(role)
        if pair is not None:
            headers = {"Authorization": basic(pair), **dict(details.pop("headers", {}))}
            details["headers"] = headers
        return await self.call(method, path, **details)

    async def pay(self, document: Mapping[str, object], **details: Unpack[Details]) -> Answer:
        return await self.ask("POST", self.at("/withdraw"), document=document, **details)

    async def settled(self, reference: str) -> dict[str, Any]:
        """Read a payout of main until it is settled or failed."""

        async def found() -> dict[str, Any] | None:
            answer = await self.ask("GET", self.at(f"/withdraw/{reference}"))
            return None if answer.document["status"] == "processing" else dict(answer.document)

        return dict(await until(found))

    @asynccontextmanager
    async def failing(self, operation: str, fault: str, **options: object) -> AsyncIterator[None]:
        """Let the bank do an operation wrong, every time unless ``count`` says otherwise."""
        wrong = {"operation": operation, "fault": fault, "count": None, **options}
        await self.control.post("faults", body=wrong)
        try:
            yield
        finally:
            await self.control.delete("faults")

    async def executions(self, reference: str, account: str = "main") -> list[int]:
        """Return the centavos of every payout that the bank really made for a reference."""
        environment = self.gateway.kernel.settings.environment
        key = provider_key(environment, self.demo["accounts"][account]["id"], reference)
        said = await self.control.get("executions", query={"key": key})
        return [row["centavos"] for row in said["data"]]

    async def asked(self, trace_id: str) -> list[dict[str, Any]]:
        """Return the requests that the bank saw under one trace; it keeps the last thousand."""
        said = await self.control.get("calls")
        under = [(each, each["headers"].get("X-Trace-ID")) for each in said["data"]]
        return [each for each, trace in under if trace == trace_id]

    async def run_task(self, name: str) -> None:
        """Run one of the gateway's periodic tasks once, now."""
        (task,) = (each for each in self.gateway.tasks if each.name == name)
        await task._run_once()

    async def look_at_unsettled(self) -> None:
        """Look at every unsettled payout now; the worker takes two seconds to come to one."""
        soon = payouts.update().where(payouts.c.next_check_at.is_not(None))
        async with self.gateway.kernel.store.database.writing() as connection:
            await connection.execute(soon.values(next_check_at=self.gateway.kernel.now()))
        await self.run_task("unsettled payouts")

    async def write_request_log(self) -> None:
        await self.run_task("request log")

    async def hear_changes(self) -> None:
        """Hear what other processes changed; the gateway does so within a second."""
        await self.run_task("change feed")

    @asynccontextmanager
    async def bank_ahead(self, seconds: float = 60) -> AsyncIterator[None]:
        """Put the bank's clock ahead: what settles within that time has settled."""
        await self.control.post("clock", body={"offset_s": seconds})
        try:
            yield
        finally:
            await self.control.post("clock", body={"offset_s": 0})

    async def issue(
        self,
        *,
        expires_at: datetime | None = None,
        limits: CredentialLimits = UNLIMITED,
        office: AdminContext | None = None,
    ) -> Issued:
        """Issue a credential for every account of the main company; also by another process."""
        wanted = CredentialBody(
            name="made by a test",
            company_id=self.demo["companies"]["main"]["id"],
            permissions=[str(each) for each in EVERY_PERMISSION],
            expires_at=expires_at,
            **{f"limit_{name}": each for name, each in msgspec.structs.asdict(limits).items()},
        )
        office = office or self.office
        made = await build_credentials(office.kernel).issue(Staff(office.acting), wanted)
        assert isinstance(made, Issued)
        return made

    async def register_key(self, client_id: str, pem: str) -> None:
        """Register a public key for a credential, as a command does, without approval."""
        keys, who = self.gateway.services.public_keys, Staff(self.office.acting)
        await keys.add(who, client_id, PublicKeyBody(pem))

    @asynccontextmanager
    async def losing(self, *tables: str) -> AsyncIterator[None]:
        """
        Take tables of the SQLite store away, as a failing disk does.

        In a thread: the gateway may be amid a transaction, which it ends on this loop.
        """
        url = self.gateway.kernel.settings.store_url
        path = url.removeprefix("sqlite:///")
        lost = {table: f"lost_{table}" for table in tables}
        await asyncio.to_thread(_rename, path, lost)
        try:
            yield
        finally:
            await asyncio.to_thread(_rename, path, {new: name for name, new in lost.items()})


def _rename(path: str, names: Mapping[str, str]) -> None:
    """Rename all of the tables or none, when no write is open."""
    with contextlib.closing(sqlite3.connect(path, timeout=300, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        for name, new in names.items():
            other.execute(f"ALTER TABLE {name} RENAME TO {new}")
        other.execute("COMMIT")


async def send(
    session: aiohttp.ClientSession,
    base_url: str,
    method: str,
    path: str,
    **details: Unpack[Details],
) -> Answer:
    """Send one request with its path unchanged, and check the answer."""
    headers = list(dict(details.get("headers", {})).items())
    if isinstance(given := details.get("headers"), list):
        headers = given
    data = details.get("data")
    if "document" in details:
        data = msgspec.json.encode(details["document"])
        headers = [("Content-Type", "application/json"), *headers]
    url = URL(base_url + path, encoded=True)
    async with session.request(
        method, url, headers=headers, data=data, allow_redirects=False
    ) as said:
        answer = Answer(status=said.status, headers=said.headers, body=await said.read())
    check(answer, method, details.get("content_type", JSON))
    return answer


def basic(pair: Pair) -> str:
    text = f"{pair['client_id']}:{pair['client_secret']}"
    return f"Basic {base64.b64encode(text.encode()).decode()}"


def other_secret(pair: Pair) -> Pair:
    """Return the same client id with a well-formed secret that is not its own."""
    return Pair(client_id=pair["client_id"], client_secret=new_client_secret(os.urandom))


def sandbox(folder: Path, **changed: object) -> Settings:
    """
    Return the settings of an embedded sandbox in which only what a test changes is scarce.

    It waits for its bank for as long as a busy machine may need; ``hurried`` does not.
    """
    port = free_port()
    provider = Provider(
        adapter="sandbox",
        settings={"base_url": f"http://127.0.0.1:{port}"},
        connect_timeout_s=20,
        waiting_s=20,
        read_timeout_s=21,
        payout_timeout_s=22,
        breaker=Breaker(consecutive=MANY, calls=MANY, open_s=0.1, longest_open_s=0.1),
    )
    failed = FailedCredentials(per_address=MANY, per_address_and_client=MANY, hard_per_address=MANY)
    settings = Settings(
        var=str(folder),
        server=Server(port=0, drain_accept_s=0, drain_s=90),
        admin=Admin(port=0),
        database=Database(auth_timeout_s=60, timeout_s=60),
        # The loop of a module's gateway may stand still between two tests: that is no load.
        limits=Limits(loop_lag_s=3_600, failed_credentials=failed),
        ratelimits=RateLimits(**dict.fromkeys(RateLimits.__struct_fields__, FREE)),
        providers={
            "sandbox": provider,
            "sandbox-read-only": msgspec.structs.replace(provider, read_only=True),
        },
        sandbox=Sandbox(open=True),
        sandbox_bank=SandboxBank(start=True, port=port, control_port=0, settle_after_s=0.05),
    )
    return msgspec.structs.replace(settings, **changed)


def hurried(settings: Settings) -> Settings:
    """Give up on a silent bank after a second: for tests of silence alone."""
    brief = {
        "connect_timeout_s": 0.8,
        "waiting_s": 0.5,
        "read_timeout_s": 1.0,
        "payout_timeout_s": 1.5,
    }
    providers = {
        name: msgspec.structs.replace(each, **brief) for name, each in settings.providers.items()
    }
    return msgspec.structs.replace(settings, providers=providers)


@asynccontextmanager
async def another_process(world: World) -> AsyncIterator[AdminContext]:
    """Open a world's store once more, as a command or another gateway does."""
    settings = world.gateway.kernel.settings
    store = open_store(settings.store_url, chain=audit_keys(world.gateway.kernel.keys))
    try:
        kernel = replace(world.gateway.kernel, store=store)
        yield AdminContext(kernel, AuditContext("test", kernel.now))
    finally:
        await store.close()


@asynccontextmanager
async def opened(
    settings: Settings, environ: Mapping[str, str] = FROM_NOON
) -> AsyncIterator[World]:
    """Run a gateway on the embedded sandbox, with the demo, and call on it."""
    file = Path(settings.store_url.removeprefix("sqlite:///"))
    if file.parent == settings.folder and not any(settings.folder.glob("*")):
        shutil.copytree(await _furnished(environ), settings.folder, dirs_exist_ok=True)
    async with _standing(settings, environ) as (gateway, demo):
        office = AdminContext(gateway.kernel, AuditContext("test", gateway.kernel.now))
        async with (
            aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as session,
            BankControl(demo["sandbox_control_url"]) as control,
        ):
            yield World(gateway=gateway, demo=demo, office=office, control=control, session=session)


@asynccontextmanager
async def _standing(
    settings: Settings, environ: Mapping[str, str]
) -> AsyncIterator[tuple[Gateway, Demo]]:
    """Run a gateway with the demo, which is created if it is missing."""
    gateway = assemble(settings, environ, cost=LITTLE)
    async with running(gateway):
        office = AdminContext(gateway.kernel, AuditContext("test", gateway.kernel.now))
        yield gateway, await made_demo(office, urls_of(gateway), LITTLE)


_FURNISHED: dict[str, Path] = {}
"""Folders with store, keys and bank of a gateway that has stopped, by its clock's offset."""


async def _furnished(environ: Mapping[str, str]) -> Path:
    """Return a folder with the demo, created once: this takes 0.3 s of CPU."""
    clock = environ.get(OFFSET, "")
    if clock not in _FURNISHED:
        folder = Path(tempfile.mkdtemp(prefix="pixgate-demo-"))
        atexit.register(shutil.rmtree, folder)
        migrated(folder / "pixgate.db")
        async with _standing(sandbox(folder), environ):
            _FURNISHED[clock] = folder
    return _FURNISHED[clock]


def urls_of(gateway: Gateway) -> DemoUrls:
    """Say where everything listens by now."""
    assert gateway.bank is not None
    return DemoUrls(
        base_url=f"http://127.0.0.1:{gateway.public.port}",
        ops_url=f"http://127.0.0.1:{gateway.operations.port}",
        sandbox_bank_url=f"http://127.0.0.1:{gateway.bank.port}",
        sandbox_control_url=f"http://127.0.0.1:{gateway.bank.control_port}",
    )


def pair_of(made: Issued) -> Pair:
    return Pair(client_id=made.credential.client_id, client_secret=made.client_secret)


def order(reference: str, day: str, **changed: object) -> dict[str, object]:
    """Return a payout by PIX key that every check lets through."""
    return {
        "method": "pix",
        "reference": reference,
        "value": 10.5,
        "date": day,
        "destination": {
            "name": "Maria Silva",
            "tax_number": "529.982.247-25",
            "key_type": "email",
            "key": "maria@example.com",
        },
        **changed,
    }
