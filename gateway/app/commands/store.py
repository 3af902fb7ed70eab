"""The store that a command opens."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from gateway.app.store import Store, open_store, prepare
from gateway.audit.log import audit_keys
from gateway.cli.os_user import os_user
from gateway.config.checks import unsafe_sqlite
from gateway.config.settings import Settings
from gateway.core.audit_context import RuleViolation
from gateway.core.key_rotation import LiveProcess
from gateway.payouts.store import EventSealing
from gateway.process.process import wall_clock
from gateway.security.keys import Keys
from gateway.store.kernel.address import address, is_sqlite
from gateway.store.kernel.chain import NO_KEYS
from gateway.store.kernel.database import DEFAULT_LIMITS, Limits
from gateway.store.stamp import StoreRefused


def this_command(keys: Keys) -> LiveProcess:
    """Describe this command as a process; it is not registered, since it ends in a moment."""
    return LiveProcess(id="", name="this command", keys=keys.ids)


def is_missing(url: str) -> bool:
    """Return whether opening the store would create its file."""
    where = address(url)
    return is_sqlite(where) and not Path(where.database or "").exists()


@asynccontextmanager
async def opened_store(
    settings: Settings,
    *,
    migrate: bool,
    keys: Keys | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> AsyncIterator[Store]:
    """
    Open the store, check that it is ours, and close it in the end.

    Without ``keys``, nothing that the audit log records can be done.

    Raises:
        RuleViolation: the store has another environment or schema, or must not be used.
        StoreUnavailable: the store does not answer.
    """
    now = wall_clock(settings.environment, os.environ)
    async with own_store(settings, keys, limits) as store:
        await prepare(store, settings.environment, migrate=migrate, now=now)
        yield store


@asynccontextmanager
async def own_store(
    settings: Settings, keys: Keys | None = None, limits: Limits = DEFAULT_LIMITS
) -> AsyncIterator[Store]:
    """
    Open the store with any schema, and close it in the end.

    Raises:
        RuleViolation: the store must not be used, or the block raised ``StoreRefused``.
        StoreUnavailable: the store does not answer.
    """
    try:
        for finding in unsafe_sqlite(settings):
            raise RuleViolation(str(finding))
        chain = audit_keys(keys) if keys is not None else NO_KEYS
        facts = EventSealing(keys.derivation) if keys is not None else None
        now = wall_clock(settings.environment, os.environ)
        store = open_store(settings.store_url, limits, chain, facts, now, os_user=os_user())
    except (StoreRefused, ValueError) as problem:
        raise RuleViolation(str(problem)) from problem
    try:
        yield store
    except StoreRefused as problem:
        raise RuleViolation(str(problem)) from problem
    finally:
        await store.close()
