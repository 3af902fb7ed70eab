"""Which companies an act belongs to, found by its subject."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from sqlalchemy import BindParameter, Select, bindparam, select
from sqlalchemy.ext.asyncio.engine import AsyncConnection

from gateway.domain.kernel.audit import AuditEvent
from gateway.store.tables.backoffice import approvals
from gateway.store.tables.core import accounts, companies, credentials, payouts, stops
from gateway.store.tables.identity import users

_KEY: Final[BindParameter[str]] = bindparam("key")
_STOP: Final = "stop"

_OWNERS: Final[Mapping[str, Select[*tuple[Any, ...]]]] = {
    "company": select(companies.c.id).where(companies.c.id == _KEY),
    "account": select(accounts.c.company_id).where(accounts.c.id == _KEY),
    "credential": select(credentials.c.company_id).where(credentials.c.client_id == _KEY),
    "payout": (
        select(accounts.c.company_id)
        .join(payouts, payouts.c.account_id == accounts.c.id)
        .where(payouts.c.provider_key == _KEY)
    ),
    "approval": select(approvals.c.company_id).where(approvals.c.id == _KEY),
    "user": select(users.c.companies).where(users.c.id == _KEY),
}
"""By the kind of a subject; a subject of any other kind is of people without a limit."""

_STOPPED: Final = select(stops.c.scope, stops.c.subject).where(stops.c.id == _KEY)


async def companies_of(connection: AsyncConnection, event: AuditEvent) -> str:
    """
    Return the companies of an act as they are stored: sorted ids with spaces between.

    Most acts are of one. An act on a person is of all that they are limited to;
    empty is for people who are limited to none.
    """
    if event.companies is not None:
        return written(event.companies)
    return await _owner(connection, event.subject)


def written(ids: frozenset[str]) -> str:
    """Write companies in one way, so that equal ones are equal texts."""
    return " ".join(sorted(ids))


async def _owner(connection: AsyncConnection, subject: str) -> str:
    """Look up whose a subject is."""
    kind, _, key = subject.partition(":")
    if kind == _STOP:
        stopped = (await connection.execute(_STOPPED, {"key": key})).one_or_none()
        return await _owner(connection, f"{stopped.scope}:{stopped.subject}") if stopped else ""
    lookup = _OWNERS.get(kind)
    if lookup is None:
        return ""
    found: str | None = (await connection.execute(lookup, {"key": key})).scalar_one_or_none()
    return found or ""
