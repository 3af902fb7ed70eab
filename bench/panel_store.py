"""A gateway with very many payouts and rows of a statement, and its bank in another process."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace

import aiohttp
import msgspec

from bench import bulk_rows, system
from gateway.app.assembly import assemble
from gateway.app.commands.context import AdminContext
from gateway.app.lifecycle import running
from gateway.config.settings import Settings
from gateway.core.audit_context import AuditContext
from tests.browser import seeds
from tests.browser.panel_site import PanelSite
from tests.browser.people import People
from tests.world.gateway.world import FROM_NOON, World, opened


@asynccontextmanager
async def filled(settings: Settings, payouts: int, rows: int) -> AsyncIterator[PanelSite]:
    """Make a gateway with so many payouts and rows of a statement, and serve it."""
    async with opened(settings) as world:
        planted = await seeds.plant(world)
        main = await world.gateway.kernel.store.accounts.find(planted["main"])
        assert main is not None  # noqa: S101 - the demo has it
    accounts = [planted["main"], planted["other_company"]]
    bulk = bulk_rows.Bulk(rows=payouts)
    await bulk_rows.fill_payouts(str(settings.store_url), accounts, bulk)
    bulk_rows.fill_statement(settings.bank_file, main.provider_account, rows)
    with bank(settings):
        async with _beside_its_bank(settings, world) as served:
            yield PanelSite(world=served, people=People(world=served), seeds=planted)


@contextmanager
def bank(settings: Settings) -> Iterator[int]:
    """Run the sandbox bank, with the file it has, in a process of its own; return its id."""
    port, config = settings.sandbox_bank.port, settings.folder / "bank.yaml"
    config.write_text(json.dumps({"var": str(settings.folder)}))  # JSON is YAML
    settings.bank_file.rename(settings.folder / "sandbox.db")
    command = [
        *(sys.executable, "-m", "gateway", "bank", "sandbox", "--config", str(config)),
        *("--folder", str(settings.folder), "--first-port", str(port)),
    ]
    with system.running(command, None, settings.folder, lambda: bool(system.answers(port))) as pid:
        yield pid


@asynccontextmanager
async def _beside_its_bank(settings: Settings, before: World) -> AsyncIterator[World]:
    """Run a gateway without the bank in it; what is remembered of hours is counted before."""
    apart = msgspec.structs.replace(settings.sandbox_bank, start=False)
    gateway = assemble(msgspec.structs.replace(settings, sandbox_bank=apart), FROM_NOON)
    async with running(gateway), aiohttp.ClientSession() as session:
        await gateway.services.overviews.remember()
        office = AdminContext(gateway.kernel, AuditContext("bench", gateway.kernel.now))
        yield replace(before, gateway=gateway, office=office, session=session)
