"""Credentials in the store, each with its current secret and at most one rotated away."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from typing import Any

from sqlalchemy import bindparam, case, delete, insert, literal, or_, select, update
from sqlalchemy.ext.asyncio.engine import AsyncConnection

from gateway.audit import store as audit_log
from gateway.core.approvals import SecretCollection
from gateway.core.audit import AuditEvent
from gateway.core.company_scope import CompanyScope
from gateway.core.money import Money
from gateway.core.permissions import UNLIMITED, CredentialLimits, Permission
from gateway.core.storage import AlreadyExists
from gateway.credentials.model import Credential, words
from gateway.security.secrets import SecretDigest
from gateway.store.kernel.database import Database
from gateway.store.orders import collect
from gateway.store.tables.columns import Record, record_of, row_of
from gateway.store.tables.core import credentials, secrets
from gateway.store.tables.scope import of_company

_CURRENT, _ROTATED = 0, 1
_PERMISSIONS: Mapping[str, Callable[[str], Any]] = {
    "permissions": lambda text: frozenset(map(Permission.parse, text.split()))
}

_ALL = select(
    credentials,
    secrets.c.key_id,
    secrets.c.digest,
    secrets.c.created_at.label("secret_created_at"),
    secrets.c.expires_at.label("secret_expires_at"),
    secrets.c.last_used_at,
).outerjoin_from(credentials, secrets)
_FIND = _ALL.where(credentials.c.client_id == bindparam("client_id")).order_by(secrets.c.position)
EVERY = _ALL.order_by(credentials.c.created_at, credentials.c.client_id, secrets.c.position)
_LIVE = (
    select(credentials.c.client_id)
    .where(credentials.c.client_id == bindparam("client_id"), credentials.c.revoked_at.is_(None))
    .with_for_update()
)


@dataclass(frozen=True, slots=True)
class Rotation:
    """
    A new secret of a credential.

    Attributes:
        old_ends: When the previous secret stops working.
        collection: The order behind it; None where no approval was needed.
    """

    new: SecretDigest
    old_ends: datetime
    collection: SecretCollection | None = None


class StoredCredentials:
    """Credentials by client id, over a database."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._touched = _Touched()
        self._find_all = _ALL.where(database.one_of(credentials.c.client_id, "ids")).order_by(
            credentials.c.client_id, secrets.c.position
        )

    async def find(self, client_id: str) -> Credential | None:
        """Return the credential with an exact id, revoked and expired ones included."""
        rows = await self._database.rows(_FIND, {"client_id": client_id})
        return _credential(rows) if rows else None

    async def visible(self, client_id: str, scope: CompanyScope) -> Credential | None:
        """Return a credential of a company in scope, ended ones included."""
        own = (credentials.c.client_id == client_id, *of_company(credentials.c.company_id, scope))
        rows = await self._database.rows(EVERY.where(*own))
        return next(iter(read_credentials(rows)), None)

    async def find_all(self, client_ids: Sequence[str]) -> Mapping[str, Credential]:
        """Return the existing credentials among several ids, by id."""
        rows = await self._database.rows(self._find_all, {"ids": client_ids})
        return {each.client_id: each for each in read_credentials(rows)}

    async def add(
        self, credential: Credential, event: AuditEvent, collection: SecretCollection | None = None
    ) -> None:
        """
        Store a new credential; AlreadyExists when the id is taken.

        With ``collection`` as the outcome of an order, once; else NothingToCollect.
        """
        async with self._database.writing() as connection:
            if collection is not None:
                await collect(connection, collection)
            if not await self._database.add(connection, credentials, _row(credential)):
                raise AlreadyExists(credential.client_id)
            for position, secret in enumerate(credential.secrets):
                await _keep(connection, credential.client_id, position, secret)
            await audit_log.append(connection, event)

    async def rotate(self, client_id: str, rotation: Rotation, event: AuditEvent) -> bool:
        """
        Make the new secret current, set the end of the former one, and drop older secrets.

        False when there is no such credential, or it was revoked. With a ``collection`` as
        the outcome of an order, once; else NothingToCollect.
        """
        async with self._database.writing() as connection:
            found = await connection.execute(_LIVE, {"client_id": client_id})
            if found.first() is None:
                return False
            if rotation.collection is not None:
                await collect(connection, rotation.collection)
            await _make_room(connection, client_id, rotation.old_ends)
            await _keep(connection, client_id, _CURRENT, rotation.new)
            await audit_log.append(connection, event)
        return True

    async def set_limits(self, client_id: str, limits: CredentialLimits, event: AuditEvent) -> bool:
        """Set a credential's limits; False if it is absent or revoked."""
        change = (
            update(credentials)
            .where(credentials.c.client_id == client_id, credentials.c.revoked_at.is_(None))
            .values(_limit_columns(limits))
        )
        return await audit_log.change(self._database, change, event)

    async def revoke(self, client_id: str, at: datetime, event: AuditEvent) -> bool:
        """End a credential now; False if it is absent or has ended already."""
        end = (
            update(credentials)
            .where(
                credentials.c.client_id == client_id,
                credentials.c.revoked_at.is_(None),
                or_(credentials.c.expires_at.is_(None), credentials.c.expires_at > at),
            )
            .values(revoked_at=at)
        )
        return await audit_log.change(self._database, end, event)

    async def touch(self, client_id: str, digest: bytes, at: datetime) -> None:
        """Record the use of a secret: to the minute, one write a minute and secret."""
        minute = at.replace(second=0, microsecond=0)
        if not self._touched.first(digest, minute):
            return
        used = (
            update(secrets)
            .where(
                secrets.c.client_id == client_id,
                secrets.c.digest == digest,
                or_(secrets.c.last_used_at.is_(None), secrets.c.last_used_at < minute),
            )
            # a secret that is used in the minute it was made in was not used before that
            .values(
                last_used_at=case(
                    (secrets.c.created_at > minute, secrets.c.created_at),
                    else_=literal(minute, secrets.c.last_used_at.type),
                )
            )
        )
        try:
            await self._database.write(used)
        except BaseException:
            self._touched.forget(digest)
            raise


class _Touched:
    """Secrets that this process has recorded in the current minute; bounded by their number."""

    def __init__(self) -> None:
        self._minute: datetime | None = None
        self._digests: set[bytes] = set()

    def first(self, digest: bytes, minute: datetime) -> bool:
        """Return whether it is the first use in this minute, and remember the use."""
        if minute != self._minute:
            self._minute, self._digests = minute, set()
        seen = digest in self._digests
        self._digests.add(digest)
        return not seen

    def forget(self, digest: bytes) -> None:
        """Allow the next use to write, since this write failed."""
        self._digests.discard(digest)


async def _make_room(connection: AsyncConnection, client_id: str, old_ends: datetime) -> None:
    """Drop the older secret and put the current one in its place."""
    own = secrets.c.client_id == client_id
    await connection.execute(delete(secrets).where(own, secrets.c.position == _ROTATED))
    await connection.execute(
        update(secrets)
        .where(own, secrets.c.position == _CURRENT)
        .values(position=_ROTATED, expires_at=old_ends)
    )


async def _keep(
    connection: AsyncConnection, client_id: str, position: int, secret: SecretDigest
) -> None:
    row = row_of(secret) | {"client_id": client_id, "position": position}
    await connection.execute(insert(secrets), row)


def _row(credential: Credential) -> dict[str, object]:
    row = {name: each for name, each in row_of(credential).items() if name in credentials.c}
    return (
        row
        | {"permissions": " ".join(words(credential.permissions))}
        | _limit_columns(credential.limits)
    )


def _limit_columns(limits: CredentialLimits) -> dict[str, object]:
    """Write limits, in centavos."""
    return {
        "limit_payout": limits.per_payout and limits.per_payout.centavos,
        "limit_day": limits.per_day and limits.per_day.centavos,
    }


def _limits(row: Record) -> CredentialLimits:
    """Read limits back."""
    if row.limit_payout is None and row.limit_day is None:
        return UNLIMITED
    return CredentialLimits(per_payout=_money(row.limit_payout), per_day=_money(row.limit_day))


def _money(centavos: int | None) -> Money | None:
    return None if centavos is None else Money(centavos)


def read_credentials(rows: Iterable[Record]) -> list[Credential]:
    """Build credentials from rows of ``EVERY``, grouped by credential, in their order."""
    return [_credential(list(each)) for _, each in groupby(rows, attrgetter("client_id"))]


def _credential(rows: Sequence[Record]) -> Credential:
    """Build a credential from its rows, one for each secret."""
    made = tuple(
        record_of(
            SecretDigest, row, created_at=row.secret_created_at, expires_at=row.secret_expires_at
        )
        for row in rows
        if row.digest is not None
    )
    return record_of(Credential, rows[0], _PERMISSIONS, secrets=made, limits=_limits(rows[0]))
