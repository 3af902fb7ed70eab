"""Credentials in the store, each with its current secret and at most one rotated away."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from typing import Any, Final, NamedTuple

import msgspec
from sqlalchemy import (
    ColumnElement,
    Update,
    and_,
    bindparam,
    case,
    delete,
    insert,
    literal,
    or_,
    select,
    update,
)
from sqlalchemy.ext.asyncio.engine import AsyncConnection

from gateway.audit import store as audit_log
from gateway.core.approvals import SecretCollection
from gateway.core.audit import AuditEvent
from gateway.core.caller_rules import UNDECIDED, CallerRule
from gateway.core.company_scope import CompanyScope
from gateway.core.money import Money
from gateway.core.permissions import EVERY_PERMISSION, UNLIMITED, CredentialLimits, Permission
from gateway.core.public_keys import PublicKey
from gateway.core.storage import AlreadyExists
from gateway.credentials.model import PAYS, Credential, SeenAddress, words
from gateway.security.secrets import SecretDigest
from gateway.store.kernel.database import Database
from gateway.store.kernel.structs import from_row
from gateway.store.orders import collect
from gateway.store.tables.columns import Record, record_of, row_of
from gateway.store.tables.core import credential_addresses, credentials, secrets
from gateway.store.tables.scope import of_company

_CURRENT, _ROTATED = 0, 1
_ADDRESSES_KEPT: Final = 50
"""As many as a rule may have networks; the one used longest ago makes room."""
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
_CURRENT_MADE = select(secrets.c.created_at).where(
    secrets.c.client_id == bindparam("client_id"), secrets.c.position == _CURRENT
)

_LIMITS: Final = {
    f"limit_{name.removeprefix('per_')}": name for name in CredentialLimits.__struct_fields__
}
"""The columns of limits, each with its field."""

PAYING: Final = or_(
    *(
        credentials.c.permissions.contains(str(held))
        for held in EVERY_PERMISSION
        if held.covers(PAYS)
    )
)
"""The SQL condition: the credential may pay out."""


def is_live(now: datetime) -> ColumnElement[bool]:
    """Return the SQL condition: the credential is valid at an instant."""
    lasts = or_(credentials.c.expires_at.is_(None), credentials.c.expires_at > now)
    return and_(credentials.c.revoked_at.is_(None), lasts)


def without_rule() -> ColumnElement[bool]:
    """Return the SQL condition: the credential may pay out, and where it is used is not decided."""
    return and_(PAYING, credentials.c.callers.is_(None))


def without_limits() -> ColumnElement[bool]:
    """Return the SQL condition: may pay out, without a limit per payout or per day."""
    unlimited = or_(credentials.c.limit_payout.is_(None), credentials.c.limit_day.is_(None))
    return and_(PAYING, unlimited)


class MadeFor(NamedTuple):
    """The users who ordered and approved a secret; empty for the command line, and without one."""

    ordered_by: str = ""
    approved_by: str = ""


NOBODY: Final = MadeFor()


@dataclass(frozen=True, slots=True)
class Rotation:
    """
    A new secret of a credential.

    Attributes:
        old_ends: When the previous secret stops working.
        collection: The order behind it; None where no approval was needed.
        old_made_at: When the previous secret was made; None for whichever is current.
    """

    new: SecretDigest
    old_ends: datetime
    collection: SecretCollection | None = None
    old_made_at: datetime | None = None
    made_for: MadeFor = NOBODY


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
        self,
        credential: Credential,
        event: AuditEvent,
        collection: SecretCollection | None = None,
        made_for: MadeFor = NOBODY,
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
                await _keep(connection, credential.client_id, position, secret, made_for)
            await audit_log.append(connection, event)

    async def rotate(self, client_id: str, rotation: Rotation, event: AuditEvent) -> bool:
        """
        Make the new secret current, set the end of the former one, and drop older secrets.

        False when there is no such credential, it was revoked, or another secret is current.
        With a ``collection`` as the outcome of an order, once; else NothingToCollect.
        """
        async with self._database.writing() as connection:
            found = await connection.execute(_LIVE, {"client_id": client_id})
            if found.first() is None:
                return False
            if rotation.old_made_at is not None:
                current = await connection.execute(_CURRENT_MADE, {"client_id": client_id})
                if current.scalar() != rotation.old_made_at:
                    return False
            if rotation.collection is not None:
                await collect(connection, rotation.collection)
            await _make_room(connection, client_id, rotation.old_ends)
            await _keep(connection, client_id, _CURRENT, rotation.new, rotation.made_for)
            await audit_log.append(connection, event)
        return True

    async def set_limits(
        self, client_id: str, before: CredentialLimits, after: CredentialLimits, event: AuditEvent
    ) -> bool:
        """Set the limits; False if they are not ``before``, or it is absent or revoked."""
        change = _unrevoked(client_id).where(*_are(_limit_columns(before)))
        return await audit_log.change(self._database, change.values(_limit_columns(after)), event)

    async def set_callers(
        self,
        client_id: str,
        before: CallerRule,
        after: CallerRule,
        event: AuditEvent,
        at: datetime,
    ) -> bool:
        """Set where it may be used; False if that is not ``before``, or it is absent or revoked."""
        change = _unrevoked(client_id).where(*_are(_callers_column(before)))
        columns = _callers_column(after) | {"rules_changed_at": at}
        return await audit_log.change(self._database, change.values(columns), event)

    async def set_public_keys(
        self,
        client_id: str,
        before: Sequence[PublicKey],
        after: Sequence[PublicKey],
        event: AuditEvent,
        at: datetime,
    ) -> bool:
        """Set the public keys; False if they are not ``before``, or it is absent or revoked."""
        column = credentials.c.public_keys
        change = _unrevoked(client_id).where(column.is_not_distinct_from(_keys_text(before)))
        return await audit_log.change(
            self._database,
            change.values(public_keys=_keys_text(after), rules_changed_at=at),
            event,
        )

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

    async def touch_address(
        self, client_id: str, address: str, at: datetime, *, is_refused: bool
    ) -> None:
        """
        Record from where a right secret came, to the minute, and whether the rule refused it.

        Of each credential the 50 addresses used last are kept.
        """
        minute, use = at.replace(second=0, microsecond=0), (client_id, address, is_refused)
        if not self._touched.first(use, minute):
            return
        own = credential_addresses.c.client_id == client_id
        newest = (
            select(credential_addresses.c.address)
            .where(own)
            .order_by(credential_addresses.c.last_used_at.desc())
            .limit(_ADDRESSES_KEPT)
        )
        changed = {"last_used_at": minute, **({"refused_at": minute} if is_refused else {})}
        row = {
            "client_id": client_id,
            "address": address,
            "first_used_at": minute,
            "refused_at": None,
            **changed,
        }
        later = credential_addresses.c.last_used_at <= minute
        try:
            async with self._database.writing() as connection:
                await self._database.put(connection, credential_addresses, row, changed, later)
                await connection.execute(
                    delete(credential_addresses).where(
                        own, credential_addresses.c.address.not_in(newest)
                    )
                )
        except BaseException:
            self._touched.forget(use)
            raise

    async def was_shown(self, user_id: str, client_id: str, since: datetime) -> bool:
        """Return whether a user ordered a secret of a credential that was valid after ``since``."""
        wanted = select(secrets.c.position).where(
            secrets.c.client_id == client_id,
            secrets.c.ordered_by == user_id,
            or_(secrets.c.expires_at.is_(None), secrets.c.expires_at > since),
        )
        return await self._database.first(wanted.limit(1)) is not None

    async def addresses(self, client_id: str) -> Sequence[SeenAddress]:
        """Return the addresses that showed a right secret, the one used last first."""
        rows = await self._database.rows(
            select(credential_addresses)
            .where(credential_addresses.c.client_id == client_id)
            .order_by(credential_addresses.c.last_used_at.desc(), credential_addresses.c.address)
        )
        return [from_row(row, SeenAddress) for row in rows]


class _Touched:
    """Uses that this process has recorded in the current minute; bounded by their number."""

    def __init__(self) -> None:
        self._minute: datetime | None = None
        self._uses: set[Hashable] = set()

    def first(self, use: Hashable, minute: datetime) -> bool:
        """Return whether it is the first use in this minute, and remember the use."""
        if minute != self._minute:
            self._minute, self._uses = minute, set()
        seen = use in self._uses
        self._uses.add(use)
        return not seen

    def forget(self, use: Hashable) -> None:
        """Allow the next use to write, since this write failed."""
        self._uses.discard(use)


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
    connection: AsyncConnection,
    client_id: str,
    position: int,
    secret: SecretDigest,
    made_for: MadeFor,
) -> None:
    own = {"client_id": client_id, "position": position, **made_for._asdict()}
    await connection.execute(insert(secrets), row_of(secret) | own)


def _row(credential: Credential) -> dict[str, object]:
    row = {name: each for name, each in row_of(credential).items() if name in credentials.c}
    return (
        row
        | {"permissions": " ".join(words(credential.permissions))}
        | _limit_columns(credential.limits)
        | _callers_column(credential.callers)
        | {"public_keys": _keys_text(credential.public_keys)}
    )


def _unrevoked(client_id: str) -> Update:
    """Return a change of one credential that was not revoked."""
    return update(credentials).where(
        credentials.c.client_id == client_id, credentials.c.revoked_at.is_(None)
    )


def _are(columns: Mapping[str, Any]) -> Iterator[ColumnElement[bool]]:
    return (credentials.c[name].is_not_distinct_from(each) for name, each in columns.items())


def _limit_columns(limits: CredentialLimits) -> dict[str, object]:
    given = {column: getattr(limits, name) for column, name in _LIMITS.items()}
    return {column: each and each.centavos for column, each in given.items()}


def _callers_column(callers: CallerRule) -> dict[str, object]:
    """Write a rule; one that says nothing is absent."""
    is_decided = callers.is_decided
    return {"callers": msgspec.json.encode(callers).decode() if is_decided else None}


def _callers(text: str | None) -> CallerRule:
    return UNDECIDED if text is None else msgspec.json.decode(text, type=CallerRule)


def _keys_text(keys: Sequence[PublicKey]) -> str | None:
    """Write public keys; none are absent."""
    return msgspec.json.encode(keys).decode() if keys else None


def _keys(text: str | None) -> tuple[PublicKey, ...]:
    return () if text is None else msgspec.json.decode(text, type=tuple[PublicKey, ...])


def _limits(row: Record) -> CredentialLimits:
    found = {name: _money(getattr(row, column)) for column, name in _LIMITS.items()}
    return CredentialLimits(**found) if any(found.values()) else UNLIMITED


def _money(centavos: int | None) -> Money | None:
    return None if centavos is None else Money(centavos)


def read_credentials(rows: Iterable[Record]) -> list[Credential]:
    """Build credentials from rows of ``EVERY``, grouped by credential, in their order."""
    return [_credential(list(each)) for _, each in groupby(rows, attrgetter("client_id"))]


def _credential(rows: Sequence[Record]) -> Credential:
    made = tuple(
        record_of(
            SecretDigest, row, created_at=row.secret_created_at, expires_at=row.secret_expires_at
        )
        for row in rows
        if row.digest is not None
    )
    first = rows[0]
    return record_of(
        *(Credential, first, _PERMISSIONS),
        secrets=made,
        limits=_limits(first),
        callers=_callers(first.callers),
        public_keys=_keys(first.public_keys),
    )
