"""Companies, their accounts at banks, and the ports to both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from gateway.domain.kernel.audit import AuditEvent


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


class Companies(Protocol):
    """Owners of accounts."""

    async def add(self, company: Company, event: AuditEvent) -> None:
        """Store a new one; AlreadyExists when the id is taken."""
        ...

    async def find(self, company_id: str) -> Company | None:
        """Return one by id."""
        ...

    async def list(self) -> Sequence[Company]:
        """Return all, oldest first."""
        ...


class Accounts(Protocol):
    """Accounts by id."""

    async def find(self, account_id: str) -> Account | None:
        """Return one by its lower-case id."""
        ...

    async def find_at(self, provider: str, provider_account: str) -> Account | None:
        """Return the account with this name at the bank; the oldest if several have it."""
        ...

    async def some_at(self, provider: str, skip: int, most: int) -> Sequence[Account]:
        """Return some accounts of a provider, by id: ``most`` of them after the first ``skip``."""
        ...

    async def add(self, account: Account, event: AuditEvent) -> None:
        """Store a new one; AlreadyExists, also BankAccountTaken, when something is taken."""
        ...

    async def replace(
        self, account: Account, event: AuditEvent, seen: Account | None = None
    ) -> bool:
        """Overwrite one; False when there is none, or it is not as it was ``seen``; see ``add``."""
        ...

    async def list(self, company_id: str | None = None) -> Sequence[Account]:
        """Return all, or those of one company, oldest first."""
        ...
