"""Sandbox and production: two deployments that share nothing."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest

from gateway.app.assembly import Gateway, assemble
from gateway.app.lifecycle import running
from gateway.config.identity import Identity, Mail
from gateway.config.listeners import Admin, Server
from gateway.config.reading import ConfigError
from gateway.config.settings import Auth, Basic, Database, Limits, Sealing, Settings
from gateway.config.values import Address, Secret
from gateway.core.account import Environment
from gateway.store.stamp import StoreRefused
from tests.world.gateway.answers import Answer
from tests.world.gateway.world import basic, opened, sandbox, send

KEY = base64.b64encode(bytes(range(32))).decode()
PEPPER = "a pepper of 32 bytes or more 0123456789"


def production(folder: Path, url: str) -> Settings:
    """Return the settings of a production gateway without a bank, on a machine however busy."""
    return Settings(
        environment=Environment.PRODUCTION,
        var=str(folder),
        server=Server(port=0, single_process=True),
        admin=Admin(port=0),
        database=Database(url=Address(url), migrate="always", auth_timeout_s=60, timeout_s=60),
        limits=Limits(loop_lag_s=3_600),
        auth=Auth(basic=Basic(pepper=Secret(PEPPER))),
        sealing=Sealing(key=Secret(KEY)),
        identity=Identity(origin="https://pix.example", mail=Mail(host="127.0.0.1")),
    )


@asynccontextmanager
async def produced(settings: Settings) -> AsyncIterator[Gateway]:
    gateway = assemble(settings, {})
    async with running(gateway):
        yield gateway


async def asked(gateway: Gateway, path: str, authorization: str = "") -> Answer:
    headers = {"Authorization": authorization} if authorization else {}
    async with aiohttp.ClientSession() as session:
        url = f"http://127.0.0.1:{gateway.public.port}"
        return await send(session, url, "GET", path, headers=headers)


async def test_a_sandbox_credential_does_not_open_production(tmp_path: Path, postgres_url: str):
    """Contract part 1: 401 ``SVC.AUT.010``."""
    async with opened(sandbox(tmp_path / "sandbox")) as world:
        header, path = basic(world.pair("full")), world.at("/balance")
        here = await world.ask("GET", path)
        async with produced(production(tmp_path, postgres_url)) as gateway:
            there = await asked(gateway, path, header)

    assert here.status == 200
    assert there.verdict == (401, "SVC.AUT.010")


async def test_each_gateway_names_its_environment(tmp_path: Path, postgres_url: str):
    async with produced(production(tmp_path, postgres_url)) as gateway:
        info = await asked(gateway, "/baas/v1/info")
        document = await asked(gateway, "/openapi.json")

    assert info.document == {"name": "pixgate", "version": "1.0.0", "environment": "production"}
    assert document.verdict == (404, "SVC.GTW.001")


async def test_production_refuses_a_file(tmp_path: Path):
    """SQLite is allowed there only by an explicit setting."""
    settings = production(tmp_path, f"sqlite:///{tmp_path}/store.db")

    with pytest.raises((StoreRefused, ConfigError), match="PostgreSQL"):
        async with produced(settings):
            pytest.fail("it started")
