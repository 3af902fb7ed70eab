"""The identity providers of companies in the store; their secrets are sealed."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any, Final

import msgspec
from sqlalchemy import Select, Text, delete, func, literal, or_, select, type_coerce, update
from sqlalchemy.ext.asyncio.engine import AsyncConnection

from gateway.audit import store as audit_log
from gateway.core.audit import AuditEvent
from gateway.core.storage import AlreadyExists
from gateway.core.user import User
from gateway.identity.context import LocalSignIn
from gateway.identity.store import read_user
from gateway.security.sealing import Sealer
from gateway.single_sign_on.model import IdentityProvider, RoleValue
from gateway.store.kernel.database import Database
from gateway.store.tables.columns import Record
from gateway.store.tables.identity import challenges, identity_providers, sessions, users

_P: Final = identity_providers.c
_NAMES_LOCK: Final = 0x7069_7867_7373_6F6E
"""A number of our own for PostgreSQL's advisory locks; any other would do as well."""
_MAPPING: Final = msgspec.json.Decoder(tuple[RoleValue, ...])


class IdentityProviderRecords:
    """The providers, and the users that they name; ``StoreUnavailable`` without a store."""

    def __init__(self, database: Database, sealer: Sealer) -> None:
        self._database = database
        self._sealer = sealer

    async def find(self, company_id: str) -> IdentityProvider | None:
        """Return the provider of a company."""
        found = select(identity_providers).where(_P.company_id == company_id)
        row = await self._database.first(found)
        return None if row is None else _provider(row)

    async def named(self, short_name: str, domain: str) -> IdentityProvider | None:
        """Return the provider of a short name, or of a domain of e-mail addresses."""
        found = select(identity_providers).where(_is_named(short_name, [domain]))
        row = await self._database.first(found)
        return None if row is None else _provider(row)

    async def local_sign_in(self, user: User) -> LocalSignIn:
        """
        Return whether a user may sign in without a provider; see ``IdentityContext``.

        One of several companies, or of all, is the operator's: no company's provider names them.
        """
        if len(user.companies) != 1:
            return LocalSignIn.FREE
        found = await self.find(next(iter(user.companies)))
        if found is None:
            return LocalSignIn.FREE
        return LocalSignIn.BREAK_GLASS if user.id in found.break_glass else LocalSignIn.REFUSED

    async def secret(self, company_id: str) -> str:
        """
        Return the secret of our client at a company's provider; empty without one.

        Raises:
            SealBroken: it is sealed under a key that is not here.
        """
        found = select(_P.sealed_secret).where(_P.company_id == company_id)
        row = await self._database.first(found)
        return "" if row is None else self._sealer.open(row.sealed_secret, _bound(company_id))

    async def others_named(
        self, company_id: str, short_name: str, domains: Collection[str]
    ) -> Sequence[IdentityProvider]:
        """Return other companies' providers of the same short name, or of one of the domains."""
        taken = _others(company_id, short_name, domains)
        return [_provider(row) for row in await self._database.rows(taken)]

    async def put(
        self,
        provider: IdentityProvider,
        secret: str,
        before: datetime | None,
        event: AuditEvent,
    ) -> bool:
        """
        Store a provider; with an empty ``secret`` the stored one stays.

        Returns:
            False where the stored one was not last changed at ``before``; None for no stored one.

        Raises:
            AlreadyExists: the short name or a domain is another company's by now.
        """
        row: dict[str, Any] = msgspec.to_builtins(provider, builtin_types=(datetime,))
        row["mapping"] = msgspec.json.encode(provider.mapping).decode()
        if secret:
            row["sealed_secret"] = self._sealer.seal(secret, _bound(provider.company_id))
        async with self._database.writing() as connection:
            await _require_own_names(connection, provider)
            if before is None:
                if not await self._database.add(connection, identity_providers, row):
                    return False
            else:
                same = (_P.company_id == provider.company_id, _P.changed_at == before)
                changing = update(identity_providers).where(*same).values(row)
                if (await connection.execute(changing)).rowcount == 0:
                    return False
            await audit_log.append(connection, event)
        return True

    async def remove(self, provider: IdentityProvider, event: AuditEvent) -> bool:
        """Delete a provider with its secret; False where it was changed or is gone."""
        same = (_P.company_id == provider.company_id, _P.changed_at == provider.changed_at)
        return await audit_log.change(
            self._database, delete(identity_providers).where(*same), event
        )

    async def user_of(self, issuer: str, subject: str) -> str | None:
        """Return the id of the user who is this subject."""
        same = (users.c.issuer == issuer, users.c.subject == subject)
        row = await self._database.first(select(users.c.id).where(*same))
        return None if row is None else str(row.id)

    async def new_since(self, provider: IdentityProvider, since: datetime) -> int:
        """Return how many users of a provider were made since an instant."""
        named = (users.c.issuer == provider.issuer, users.c.companies == provider.company_id)
        counted = select(func.count().label("made")).where(*named, users.c.created_at > since)
        row = await self._database.first(counted)
        return 0 if row is None else int(row.made)

    async def people_of(self, company_id: str) -> Sequence[User]:
        """Return the users who are limited to one company."""
        wanted = select(users, literal(None).label("passkey_at"))
        rows = await self._database.rows(wanted.where(users.c.companies == company_id))
        return [read_user(row) for row in rows]

    async def void_challenges(self, user_id: str, at: datetime) -> None:
        """Use up what a user's sign-ins at a provider still wait for."""
        waiting = (challenges.c.user_id == user_id, challenges.c.issuer_company != "")
        voiding = update(challenges).where(*waiting, challenges.c.used_at.is_(None))
        await self._database.write(voiding.values(used_at=at))

    async def void_challenges_of(self, company_id: str, sid: str, at: datetime) -> None:
        """Use up what the sign-ins by one session at the provider still wait for."""
        same = (challenges.c.issuer_sid == sid, challenges.c.issuer_company == company_id)
        voiding = update(challenges).where(*same, challenges.c.used_at.is_(None))
        await self._database.write(voiding.values(used_at=at))

    async def sessions_of(self, company_id: str, sid: str) -> Sequence[tuple[str, str]]:
        """Return id and user of the sessions that began by one session at the provider."""
        same = (sessions.c.issuer_sid == sid, sessions.c.issuer_company == company_id)
        wanted = select(sessions.c.id, sessions.c.user_id).where(*same)
        rows = await self._database.rows(wanted)
        return [(row.id, row.user_id) for row in rows]


async def _require_own_names(connection: AsyncConnection, provider: IdentityProvider) -> None:
    """
    Refuse names of another company.

    Transactions that set providers are serialised: SQLite has one writer anyhow, PostgreSQL a lock.
    """
    if connection.dialect.name == "postgresql":
        await connection.execute(select(func.pg_advisory_xact_lock(_NAMES_LOCK)))
    taken = _others(provider.company_id, provider.short_name, provider.domains)
    if (await connection.execute(taken)).first() is not None:
        raise AlreadyExists(provider.subject)


def _others(company_id: str, short_name: str, domains: Collection[str]) -> Select[*tuple[Any, ...]]:
    """Select other companies' providers of the same short name, or of one of the domains."""
    named = _is_named(short_name, domains)
    return select(identity_providers).where(_P.company_id != company_id, named)


def _is_named(short_name: str, domains: Collection[str]) -> Any:  # noqa: ANN401 - of SQLAlchemy
    listed = literal(" ") + type_coerce(_P.domains, Text) + literal(" ")
    of_domain = [listed.contains(f" {each} ", autoescape=True) for each in domains if each]
    return or_(_P.short_name == short_name, *of_domain)


def _provider(row: Record) -> IdentityProvider:
    values = {name: getattr(row, name) for name in IdentityProvider.__struct_fields__}
    return IdentityProvider(**{**values, "mapping": _MAPPING.decode(row.mapping)})


def _bound(company_id: str) -> str:
    return f"identity_provider:{company_id}"
