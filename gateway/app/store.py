"""All stores over one database URL, SQLite or PostgreSQL."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Final

from sqlalchemy import literal, select

from gateway.accounts.store import StoredAccounts
from gateway.approvals.store import StoredApprovals
from gateway.audit.changes import Changes
from gateway.audit.store import StoredAudit
from gateway.core.account import Environment
from gateway.core.clocks import Now
from gateway.core.storage import WritesRefused
from gateway.credentials.store import StoredCredentials
from gateway.identity.store import IdentityStore
from gateway.net.common.runtime import utc_now
from gateway.payouts.due import StoredFollowUps
from gateway.payouts.store import StoredPayouts
from gateway.store import schema
from gateway.store.kernel.address import address, is_sqlite
from gateway.store.kernel.chain import NO_KEYS, ChainKeys
from gateway.store.kernel.clock import DatabaseClock
from gateway.store.kernel.database import DEFAULT_LIMITS, Database, FactSealing, Limits
from gateway.store.kernel.leases import StoredTaskLeases
from gateway.store.kernel.partitions import EVENTS, FEEDS, REQUESTS
from gateway.store.kernel.processes import StoredProcesses
from gateway.store.opening import open_database
from gateway.store.stamp import Stamp, StoreRefused, check_environment, stamped


@dataclass(frozen=True, slots=True, kw_only=True)
class Store:
    """
    An opened store; belongs to the event loop that first uses it.

    Attributes:
        url: As given, password included.
    """

    url: str = field(repr=False)
    database: Database = field(repr=False)
    accounts: StoredAccounts
    credentials: StoredCredentials
    payouts: StoredPayouts
    follow_ups: StoredFollowUps
    audit: StoredAudit
    changes: Changes
    leases: StoredTaskLeases
    processes: StoredProcesses
    identity: IdentityStore
    approvals: StoredApprovals

    async def check(self) -> None:
        """Check that the store answers; StoreUnavailable when it does not."""
        await self.database.first(select(literal(1)))

    async def check_writes(self) -> None:
        """
        Check that the store can be written, with room for new rows.

        Raises:
            WritesRefused: it is full or read-only.
            StoreUnavailable: it does not answer.
        """
        async with self.database.writing() as connection:
            if not await self.database.takes_writes(connection):
                problem = "the database is read-only, as a standby is"
                raise WritesRefused(problem)

    async def read_time(self, clock: DatabaseClock) -> None:
        """Have a clock read the server's; StoreUnavailable when it does not answer."""
        if self.database.server_time is not None:
            async with self.database.reading() as connection:
                await clock.read(partial(self.database.server_time, connection))

    async def server_load(self) -> tuple[int, int] | None:
        """
        Return the server's open connections and its maximum.

        None where the store is a file; StoreUnavailable when it does not answer.
        """
        if self.database.server_load is None:
            return None
        async with self.database.reading() as connection:
            return await self.database.server_load(connection)

    async def partitions_end(self) -> Mapping[str, datetime]:
        """
        Return by table until when its partitions exist; empty for SQLite.

        StoreUnavailable when it does not answer.
        """
        if is_sqlite(address(self.url)):
            return {}
        now = self.database.now()
        async with self.database.reading() as connection:
            made = (REQUESTS, EVENTS, FEEDS)
            return {each.table.name: await each.end(connection, now) for each in made}

    async def close(self) -> None:
        """Finish running writes, then close connections and threads."""
        await self.payouts.close()
        await self.follow_ups.close()
        await self.database.close()


_NO_SERVER: Final = "postgresql://none.invalid/none"


def open_store(  # noqa: PLR0913 - one parameter for each part of a store
    url: str,
    limits: Limits = DEFAULT_LIMITS,
    chain: ChainKeys = NO_KEYS,
    facts: FactSealing | None = None,
    now: Now = utc_now,
    *,
    os_user: str = "",
) -> Store:
    """
    Open a store; its schema and environment are not checked (see ``prepare``).

    Without the keys of the audit log everything but its proof can be read, and an audited act is
    StoreUnavailable. Without the key of ``facts``, payout events neither store nor show the bank's
    answers.

    Raises:
        ValueError: the URL has an unknown form (see ``address``).
        StoreUnavailable: the file or its folder cannot be created.
    """
    opened = open_database(url, limits)
    database = replace(opened, chain=chain, facts=facts, now=now, os_user=os_user)
    return _store_on(database, url)


def absent_store(url: str) -> Store:
    """
    Build a store that never answers, for routes that are described and not served.

    Nothing is opened; only the dialect of ``url`` is loaded.
    """
    if url.startswith("sqlite"):
        from gateway.store.kernel.sqlite import nowhere  # noqa: PLC0415 - (see ``open_database``)

        return _store_on(nowhere(DEFAULT_LIMITS), "")
    return _store_on(open_database(_NO_SERVER, DEFAULT_LIMITS), "")


def _store_on(database: Database, url: str) -> Store:
    return Store(
        url=url,
        database=database,
        accounts=StoredAccounts(database),
        credentials=StoredCredentials(database),
        payouts=StoredPayouts(database),
        follow_ups=StoredFollowUps(database),
        audit=StoredAudit(database),
        changes=Changes(database),
        leases=StoredTaskLeases(database),
        processes=StoredProcesses(database),
        identity=IdentityStore.over(database),
        approvals=StoredApprovals(database),
    )


async def prepare(
    store: Store,
    environment: Environment,
    *,
    migrate: bool,
    now: Now,
    new_id: Callable[[], str] = lambda: str(uuid.uuid4()),
) -> Stamp:
    """
    Check that the store is ours and has our schema; a fresh store is stamped.

    Args:
        store: Opened, not used yet.
        environment: The gateway's.
        migrate: Bring an older schema up to ours rather than refuse it.
        now: Dates the stamp.
        new_id: Names the store.

    Raises:
        StoreRefused: it belongs to the other environment, or its schema is newer than
            ours, or older and ``migrate`` is False.
        StoreUnavailable: the store does not answer.
    """
    await _bring_up(store, environment, migrate=migrate)
    fresh = Stamp(environment=environment, id=new_id(), created_at=now())
    stamp = await stamped(store.database, fresh, schema.COMPATIBLE_WITH)
    check_environment(stamp, environment)
    return stamp


async def _bring_up(store: Store, environment: Environment, *, migrate: bool) -> None:
    """Migrate if allowed, but never the other environment's store."""
    if not await schema.is_older(store.database, environment):
        return
    if not migrate:
        raise StoreRefused(schema.outdated(await schema.revision_of(store.database)))
    await schema.upgrade(store.url)
    # A newer release may have been faster.
    await schema.is_older(store.database, environment)
