"""Who is served: companies, their accounts, and the credentials that may act."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

import msgspec

from gateway.domain.money import Money
from gateway.domain.permissions import Permission


class Environment(StrEnum):
    """The two deployments; they share no data (contract part 1)."""

    SANDBOX = "sandbox"
    PRODUCTION = "production"


@dataclass(frozen=True, slots=True)
class Company:
    """An owner of accounts; ``id`` is a lower-case UUID."""

    id: str
    name: str
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class BankCoordinates:
    """Where an account is held: COMPE number, ISPB, branch, number with check digit."""

    bank_number: str = ""
    ispb: str = ""
    branch: str = ""
    account: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """
    An account a partner acts on.

    Attributes:
        id: A lower-case hyphenated UUID.
        provider: The name of a configured provider; empty when there is none.
        provider_account: The provider's own name of the account.
        sealed_credentials: What the provider wants from us, encrypted with the
            account id bound to it; empty when the provider needs nothing.
        name, tax_number: Of the holder.
    """

    id: str
    company_id: str
    name: str
    tax_number: str
    active: bool
    verified: bool
    provider: str
    provider_account: str
    sealed_credentials: bytes
    coordinates: BankCoordinates
    created_at: datetime


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
        """Say whether ``new`` lets more through than these do."""
        return _above(new.per_payout, self.per_payout) or _above(new.per_day, self.per_day)


UNLIMITED = CredentialLimits()


def _above(new: Money | None, old: Money | None) -> bool:
    """Compare two limits, of which None is the highest."""
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
    """A caller whose secret was right."""

    client_id: str
    company_id: str
    account_id: str | None
    permissions: frozenset[Permission]
    limits: CredentialLimits = UNLIMITED
