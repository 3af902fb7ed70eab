"""
``pixgate config check --probe``: reaches the store, the cache and the banks.

It changes nothing: the write to the store has no effect, and what is written to the cache is used
by nothing else and expires within two minutes.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine, Iterator
from datetime import UTC, datetime
from typing import Any, cast

from msgspec import convert, to_builtins
from sqlalchemy import select

from gateway.app.banks import connect, make_address
from gateway.app.cache import build_cache, build_limits
from gateway.app.commands.store import is_missing, opened_store
from gateway.app.kernel import SilentObserver
from gateway.app.store import Store
from gateway.banks.client.tls import TlsFiles, TlsFilesRefused, check_files
from gateway.banks.port.capabilities import PortCall
from gateway.banks.port.providers import EveryCall, ProviderAdapter, ProviderError
from gateway.config.settings import Settings
from gateway.core.account import Environment
from gateway.core.audit_context import RuleViolation
from gateway.core.cache import CacheUnavailable
from gateway.core.storage import StoreUnavailable
from gateway.credentials.store import is_live, without_limits, without_rule
from gateway.net.common.runtime import utc_now
from gateway.security.keys import Derivation
from gateway.store import schema
from gateway.store.kernel.clock import DatabaseClock
from gateway.store.stamp import StoreRefused
from gateway.store.tables.core import credentials
from provider_adapters.checks import refused_if_raised
from provider_adapters.kit.factory import AdapterRefused

# Whether callbacks can be proven does not depend on the keys, and loading them may write some.
_NO_KEYS = Derivation({"none": bytes(32)}, "none")
# Long enough for a cold TLS connection, short enough for somebody who waits at a terminal.
_PROBE_S = 10.0

_NO_RULE = "may pay out and is refused everywhere: decide with pixgate credential networks"
_NO_LIMITS = (
    "may pay out without a limit of a payout or of a day: set them with pixgate credential limits"
)

Finding = tuple[str, str]


def unmakeable(settings: Settings) -> Iterator[Finding]:
    """
    Return the providers whose adapter, callback proof or files are unusable.

    Every adapter and every proof is built; nothing is opened.
    """
    for name, provider in settings.providers.items():
        try:
            adapter = connect(name, settings, SilentObserver()).adapter
            make_address(name, settings, _NO_KEYS, adapter)
            check_files(convert(to_builtins(provider.tls), TlsFiles))
        except AdapterRefused as problem:
            yield _placed(name, str(problem))
        except TlsFilesRefused as problem:
            yield _placed(name, f"providers.{name}.{problem}")


def _placed(name: str, message: str) -> Finding:
    """Split a message that begins with the path of a setting; others are the provider's."""
    path, colon, rest = message.partition(": ")
    within = colon and path.startswith(f"providers.{name}")
    return (path, rest) if within else (f"providers.{name}", message)


async def probed(settings: Settings) -> list[Finding]:
    """Reach the store, the cache and every provider; return the unusable ones."""
    found = [*await _store(settings), *await _cache(settings)]
    for name in settings.providers:
        adapter = connect(name, settings, SilentObserver()).adapter
        found += await _told(name, _reached(adapter))
        found += await _told(name, adapter.close())
    return found


async def _store(settings: Settings) -> list[Finding]:
    """Check the store, unless the next start will create or migrate it."""
    try:
        if is_missing(settings.store_url):
            missing = "the store's file is not there yet: run `pixgate db upgrade`"
            return [] if settings.migrates else [("database.url", missing)]
        older = {None, *schema.REVISIONS[:-1]}
        if settings.migrates and await schema.current(settings.store_url) in older:
            return []
        async with opened_store(settings, migrate=False) as store:
            await store.check()
            try:
                await store.check_writes()  # which a standby does not take
            except StoreUnavailable as problem:
                return [("database.url", f"the store cannot be written: {problem}")]
            return await _clock(settings, store)
    except (RuleViolation, StoreRefused, ValueError) as problem:  # a URL of no store: ValueError
        return [("database.url", str(problem))]
    except StoreUnavailable as problem:
        return [("database.url", f"the store does not answer: {problem}")]


async def _clock(settings: Settings, store: Store) -> list[Finding]:
    """Compare this machine's clock with the server's; raises StoreUnavailable."""
    clock = DatabaseClock(utc_now, time.monotonic, settings.database.clock_tolerance_s)
    await store.read_time(clock)
    if clock.is_in_step():
        return []
    ahead = f"this machine's clock is {clock.ahead_s():+.0f} s ahead of the database's"
    return [("database.clock_tolerance_s", f"{ahead}: no process here is ready")]


async def undecided(settings: Settings) -> list[Finding]:
    """
    Return live credentials that may pay out and lack a rule of where they are used, or limits.

    Limits are expected in production alone.
    """
    if is_missing(settings.store_url):
        return []
    lacking = [(without_rule(), _NO_RULE)]
    if settings.environment is Environment.PRODUCTION:
        lacking.append((without_limits(), _NO_LIMITS))
    live, found = is_live(datetime.now(UTC)), list[Finding]()
    async with opened_store(settings, migrate=False) as store:
        for condition, message in lacking:
            wanted = select(credentials.c.client_id).where(live, condition)
            rows = await store.database.rows(wanted.order_by(credentials.c.client_id))
            found += [(row.client_id, message) for row in rows]
    return found


async def _cache(settings: Settings) -> list[Finding]:
    """Use the cache and the limits that processes share as serving does."""
    count = SilentObserver().count
    cache = build_cache(settings, _NO_KEYS, count)
    limits = build_limits(_NO_KEYS, cache, count)
    try:
        await cache.check()
        if limits is not None:
            await limits.check()
    except CacheUnavailable as problem:
        return [("cache.url", f"the cache cannot be used: {problem}")]
    finally:
        await cache.close()
    return []


async def _reached(adapter: ProviderAdapter) -> None:
    """Reach one bank without touching an account; a bank without such a call is only started."""
    await adapter.start()
    if PortCall.PROBE in adapter.capabilities.calls:
        await cast("EveryCall", adapter).probe()


async def _told(name: str, asking: Coroutine[Any, Any, None]) -> list[Finding]:
    """Await an adapter, and return the result; any exception is a finding."""
    where = f"providers.{name}"
    try:
        async with asyncio.timeout(_PROBE_S):
            with refused_if_raised(f"{where}: the adapter"):
                await asking
    except ProviderError as problem:
        return [(where, f"does not answer as it should: {problem.reason}")]
    except TimeoutError:
        return [(where, f"does not answer within {_PROBE_S:.0f} seconds")]
    except AdapterRefused as problem:
        return [_placed(name, str(problem))]
    return []
