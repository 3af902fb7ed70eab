"""
Credentials of partners: their permissions, secrets and limits, and the port to them.

A permission is a resource and an action; a higher action covers the lower ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import IntEnum, StrEnum
from typing import Final, Protocol

import msgspec

from gateway.domain.kernel.audit import AuditEvent
from gateway.domain.kernel.money import Money


class Resource(StrEnum):
    """What a credential may be allowed to touch (contract 5.2)."""

    BALANCE = "balance"
    TRANSACTION = "transaction"
    WITHDRAW = "withdraw"
    PIX_KEY = "pix_key"
    QRCODE = "qrcode"


class Action(IntEnum):
    """What it may do there: manage covers write, write covers read."""

    READ = 1
    WRITE = 2
    MANAGE = 3


@dataclass(frozen=True, slots=True)
class Permission:
    """One ``resource:action``."""

    resource: Resource
    action: Action

    def __str__(self) -> str:
        """Write it as the contract does, ``balance:read``."""
        return f"{self.resource}:{self.action.name.lower()}"

    def covers(self, needed: Permission) -> bool:
        """Say whether holding this one is enough for ``needed``."""
        return self.resource is needed.resource and self.action >= needed.action

    @classmethod
    def parse(cls, text: str) -> Permission:
        """
        Read ``resource:action``.

        Raises:
            ValueError: when either word is not ours.
        """
        resource, _, word = text.partition(":")
        for action in Action:
            if word == action.name.lower():
                return cls(Resource(resource), action)
        problem = f"no such action: {word!r}"
        raise ValueError(problem)


EVERY_PERMISSION: tuple[Permission, ...] = tuple(
    Permission(resource, action) for resource in Resource for action in Action
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretDigest:
    """
    What is kept of a client secret.

    Attributes:
        key_id: Which pepper the digest was made under.
        digest: HMAC-SHA-256, 32 bytes.
        expires_at: When a rotated secret ends; None for the current one.
        last_used_at: To the minute.
    """

    key_id: str
    digest: bytes
    created_at: datetime
    expires_at: datetime | None = None
    last_used_at: datetime | None = None


class CredentialLimits(msgspec.Struct, frozen=True, kw_only=True):
    """
    How much a credential may pay out; None for as much as the account has.

    Attributes:
        per_payout: The most that one payout may be.
        per_day: The most that all of a UTC day may sum up to.
    """

    per_payout: Money | None = None
    per_day: Money | None = None

    def raised_by(self, new: CredentialLimits) -> bool:
        """Say whether ``new`` allows more than these limits."""
        return _above(new.per_payout, self.per_payout) or _above(new.per_day, self.per_day)


UNLIMITED = CredentialLimits()


def _above(new: Money | None, old: Money | None) -> bool:
    """Compare two limits; None means no limit."""
    return old is not None and (new is None or new > old)


@dataclass(frozen=True, slots=True, kw_only=True)
class Credential:
    """
    A partner's credential as stored.

    Attributes:
        account_id: The one account it may act on; None for every account of
            the company (contract 5.1).
        secrets: The current secret first, then at most one rotated away.
    """

    client_id: str
    company_id: str
    account_id: str | None
    name: str
    permissions: frozenset[Permission]
    secrets: tuple[SecretDigest, ...]
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    limits: CredentialLimits = UNLIMITED


class Principal(msgspec.Struct, frozen=True, kw_only=True):
    """A partner that has proven its credential."""

    client_id: str
    company_id: str
    account_id: str | None
    permissions: frozenset[Permission]
    limits: CredentialLimits = UNLIMITED


COLLECTED_WITHIN: Final = timedelta(minutes=15)
"""After the approval: long enough to fetch a secret at once, too short to forget about it."""


@dataclass(frozen=True, slots=True)
class SecretCollection:
    """
    The single read of the secret that an approved order made.

    Attributes:
        approved_after: It holds only if the order was approved later than that.
    """

    approval_id: str
    at: datetime

    @property
    def approved_after(self) -> datetime:
        """The earliest approval whose secret can still be collected."""
        return self.at - COLLECTED_WITHIN


@dataclass(frozen=True, slots=True)
class Rotation:
    """
    A new secret of a credential.

    Attributes:
        old_ends: When the previous secret stops working.
        collection: The order it is the outcome of; None where nobody had to agree.
    """

    new: SecretDigest
    old_ends: datetime
    collection: SecretCollection | None = None


class Credentials(Protocol):
    """Credentials by client id."""

    async def find(self, client_id: str) -> Credential | None:
        """Return one by its exact id, revoked and expired ones included."""
        ...

    async def find_all(self, client_ids: Sequence[str]) -> Mapping[str, Credential]:
        """Return those that there are of several, as ``find`` does, by id."""
        ...

    async def add(
        self, credential: Credential, event: AuditEvent, collection: SecretCollection | None = None
    ) -> None:
        """
        Store a new one; AlreadyExists when the id is taken.

        With ``collection`` as the outcome of an order, once; else NothingToCollect.
        """
        ...

    async def rotate(self, client_id: str, rotation: Rotation, event: AuditEvent) -> bool:
        """
        Make the new secret current and drop all but the one before it; False if there is none.

        ``rotation.collection`` is that of ``add``.
        """
        ...

    async def set_limits(self, client_id: str, limits: CredentialLimits, event: AuditEvent) -> bool:
        """Give one these limits; False when there is none, or it was revoked."""
        ...

    async def revoke(self, client_id: str, at: datetime, event: AuditEvent) -> bool:
        """End one now; False when there is none or it has ended already."""
        ...

    async def list(self, company_id: str | None = None) -> Sequence[Credential]:
        """Return all, or those of one company, oldest first."""
        ...

    async def touch(self, client_id: str, digest: bytes, at: datetime) -> None:
        """Remember that a secret was used."""
        ...
