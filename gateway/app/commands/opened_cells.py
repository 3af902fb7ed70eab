"""The cells that a command opens, each with the configuration and variables of its processes."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from gateway.app.banks import tokens_of
from gateway.app.commands.context import AdminContext
from gateway.app.commands.shared_secrets import variables_of
from gateway.app.commands.store import opened_store, this_command
from gateway.app.kernel import Kernel
from gateway.cells.model import Cell, Cells
from gateway.cells.moving import Side
from gateway.cells.routing import Claims, arriving_in, companies_of
from gateway.cli.configuration import keys_of, settings_of
from gateway.cli.console import Terminal
from gateway.core.audit_context import AuditContext, RuleViolation
from gateway.core.key_rotation import PEPPER, SEALING, key_conflicts, key_ids
from gateway.process.process import wall_clock
from gateway.process.registration import refuse_conflicts
from gateway.stops.service import Stops
from gateway.store.kernel.address import address, is_sqlite
from gateway.store.kernel.database import Limits

READING: Final = Limits(pool_size=1, statement_s=60.0, whole_s=60.0)
"""For all ids of a cell: a timer's run that hangs must not keep the next one waiting."""
MOVING: Final = Limits(pool_size=3, statement_s=21_600.0, whole_s=21_600.0)
"""All rows of a company are copied by one transaction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedCell:
    """One cell, over its opened store."""

    name: str
    kernel: Kernel

    async def claims(self) -> Claims:
        """Read what the cell serves."""
        settings, database = self.kernel.settings, self.kernel.store.database
        tokens = [tokens_of(name, self.kernel.keys.derivation) for name in settings.providers]
        host = urlsplit(settings.identity.origin).hostname
        companies = await companies_of(database)
        return Claims(
            cell=self.name,
            companies=companies,
            arriving=await arriving_in(database),  # last: what arrives now is not ours
            tokens=[current for current, *_ in tokens],
            former_tokens=[each for _, *former in tokens for each in former],
            hosts=[host] if host else [],
        )

    async def side(self, terminal: Terminal) -> Side:
        """
        Prepare the cell for a move.

        Raises:
            RuleViolation: its store is a file.
        """
        kernel = self.kernel
        if is_sqlite(address(kernel.store.url)):
            message = f"cell {self.name}: companies are moved between PostgreSQL servers alone"
            raise RuleViolation(message)
        office = AdminContext(kernel, AuditContext(terminal.actor, kernel.now))
        keys = {purpose: frozenset(kernel.keys.ids[purpose]) for purpose in (SEALING, PEPPER)}
        known = dict(keys)
        for process in await kernel.store.processes.alive(kernel.now()):
            known = {purpose: ids & {*key_ids(process, purpose)} for purpose, ids in known.items()}
        return Side(
            name=self.name,
            environment=kernel.settings.environment,
            database=kernel.store.database,
            stops=office.service(Stops),
            staff=office.staff,
            keys=keys,
            known_keys=known,
            providers={name: each.adapter for name, each in kernel.settings.providers.items()},
        )


@asynccontextmanager
async def opened_cells(known: Cells, limits: Limits) -> AsyncIterator[Mapping[str, OpenedCell]]:
    """
    Open every cell.

    Raises:
        RuleViolation: one cannot be used; the message names the cell.
        StoreUnavailable: a database does not answer.
    """
    async with AsyncExitStack() as stack:
        yield {name: await _opened(stack, name, cell, limits) for name, cell in known.cells.items()}


async def _opened(stack: AsyncExitStack, name: str, cell: Cell, limits: Limits) -> OpenedCell:
    try:
        settings = settings_of(cell.config, variables_of(cell.environment, os.environ))
        keys = keys_of(settings)
        opening = opened_store(settings, migrate=False, keys=keys, limits=limits)
        store = await stack.enter_async_context(opening)
        now = wall_clock(settings.environment, os.environ)
        refuse_conflicts(key_conflicts(this_command(keys), await store.processes.alive(now())))
    except (OSError, ValueError, RuleViolation) as problem:
        message = f"cell {name}: {problem}"
        raise RuleViolation(message) from problem
    return OpenedCell(name=name, kernel=Kernel(settings=settings, store=store, keys=keys, now=now))
