"""Partner credentials: issued, rotated and revoked (contract 5.1)."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from gateway.companies.model import KnownCompany
from gateway.domain.accounts.accounts import Accounts
from gateway.domain.accounts.credentials import (
    UNLIMITED,
    Action,
    Credential,
    CredentialLimits,
    Credentials,
    Permission,
    Resource,
    Rotation,
    SecretCollection,
    SecretDigest,
)
from gateway.domain.kernel.storage import AlreadyExists
from gateway.operations.kernel.audit_context import AuditContext, RuleViolation, identifier, name

# A day for a partner to roll the new secret out; at most a month with two secrets in use.
DEFAULT_OVERLAP = timedelta(hours=24)
LONGEST_OVERLAP = timedelta(days=30)


@dataclass(frozen=True, slots=True, kw_only=True)
class CredentialOrder:
    """
    A credential to be issued.

    Attributes:
        company_id: May be empty where ``account_id`` says it.
        account_id: The one account it may act on; None for the whole company.
        permissions: May be empty: such a credential is known and may do nothing.
        expires_at: None for never.
    """

    name: str
    company_id: str = ""
    account_id: str | None = None
    permissions: frozenset[Permission]
    expires_at: datetime | None = None
    limits: CredentialLimits = UNLIMITED


@dataclass(frozen=True, slots=True, kw_only=True)
class Issued:
    """
    A secret on its only way out: it is shown once and kept nowhere.

    Attributes:
        old_ends: When the secret before it ends, after a rotation.
    """

    credential: Credential
    client_secret: str = field(repr=False)
    old_ends: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CredentialSource:
    """
    Where new credentials come from.

    Attributes:
        client_id, client_secret: Make a fresh one.
        digest: Returns the pepper's name and the digest of a secret.
    """

    client_id: Callable[[], str]
    client_secret: Callable[[], str]
    digest: Callable[[str], tuple[str, bytes]]


@dataclass(frozen=True, slots=True, kw_only=True)
class CredentialRecords:
    """The register of credentials."""

    known_company: KnownCompany
    accounts: Accounts
    credentials: Credentials
    acting: AuditContext
    source: CredentialSource

    async def checked(self, order: CredentialOrder) -> str:
        """
        Return the company of a credential that could be issued now.

        Raises:
            RuleViolation: as ``issue`` does.
        """
        name(order.name)
        if order.expires_at is not None and order.expires_at <= self.acting.now():
            message = "the expiry lies in the past"
            raise RuleViolation(message, "past", field="expires_at")
        return await self._scope(order)

    async def issue(
        self, order: CredentialOrder, collection: SecretCollection | None = None
    ) -> Issued:
        """
        Make a credential; the secret in the answer exists nowhere else.

        With ``collection`` as the outcome of an order, once.

        Raises:
            RuleViolation: no such company or account, an account of another
                company, or an expiry that has passed.
            NothingToCollect: the order's secret was fetched before, or too late.
        """
        company_id = await self.checked(order)
        now = self.acting.now()
        secret = self.source.client_secret()
        credential = Credential(
            client_id=self.source.client_id(),
            company_id=company_id,
            account_id=order.account_id and order.account_id.lower(),
            name=name(order.name),
            permissions=order.permissions,
            secrets=(self._digest(secret, now),),
            created_at=now,
            expires_at=order.expires_at,
            limits=order.limits,
        )
        await self._add(credential, collection)
        return Issued(credential=credential, client_secret=secret)

    async def rotatable(self, client_id: str, overlap: timedelta) -> Credential:
        """
        Return a credential that could be given a new secret now.

        Raises:
            RuleViolation: as ``rotate`` does.
        """
        if not timedelta(0) <= overlap <= LONGEST_OVERLAP:
            message = "the overlap is between 0 and 30 days"
            raise RuleViolation(message, "out_of_range", field="overlap_s")
        credential = await self.live(client_id)
        if overlap and (ends := _second_ends(credential, self.acting.now())):
            message = f"two secrets live until {ends:%Y-%m-%dT%H:%M:%SZ}; an overlap of 0 ends both"
            raise RuleViolation(message, "two_secrets")
        return credential

    async def rotate(
        self,
        client_id: str,
        overlap: timedelta = DEFAULT_OVERLAP,
        collection: SecretCollection | None = None,
    ) -> Issued:
        """
        Make a new secret; the current one lives on for ``overlap``, at most 30 days.

        With ``collection`` as the outcome of an order, once.

        Raises:
            RuleViolation: no such live credential, or two secrets live already
                and ``overlap`` is not zero. Zero ends both at once.
            NothingToCollect: the order's secret was fetched before, or too late.
        """
        credential = await self.rotatable(client_id, overlap)
        now = self.acting.now()
        secret = self.source.client_secret()
        new, old_ends = self._digest(secret, now), now + overlap
        event = self.acting.event(
            "credential.rotated", f"credential:{client_id}", {"old_ends": old_ends.isoformat()}
        )
        if not await self.credentials.rotate(client_id, Rotation(new, old_ends, collection), event):
            raise _absent(client_id)
        credential = dataclasses.replace(credential, secrets=(new, *credential.secrets[:1]))
        return Issued(credential=credential, client_secret=secret, old_ends=old_ends)

    async def set_limits(self, client_id: str, limits: CredentialLimits) -> Credential:
        """
        Give a credential these limits and no others.

        Raises:
            RuleViolation: no such live credential.
        """
        credential = await self.live(client_id)
        event = self.acting.event("credential.limited", f"credential:{client_id}", told(limits))
        if not await self.credentials.set_limits(client_id, limits, event):
            raise _absent(client_id)
        return dataclasses.replace(credential, limits=limits)

    async def revoke(self, client_id: str, reason: str = "") -> Credential:
        """
        End a credential now; here at once, in every other process within a second.

        Raises:
            RuleViolation: when there is none, or it has ended already.
        """
        credential = await self.live(client_id)
        now = self.acting.now()
        details = {"reason": name(reason)} if reason else {}
        event = self.acting.event("credential.revoked", f"credential:{client_id}", details)
        if not await self.credentials.revoke(client_id, now, event):
            raise _absent(client_id)
        return dataclasses.replace(credential, revoked_at=now)

    async def list(self, company_id: str | None = None) -> Sequence[Credential]:
        """Return all, or those of one company, oldest first; ended ones included."""
        if company_id is None:
            return await self.credentials.list()
        return await self.credentials.list((await self.known_company(company_id, "company_id")).id)

    async def _scope(self, order: CredentialOrder) -> str:
        """Return the company; the account, where one is named, must be its own."""
        if order.account_id is None:
            return (await self.known_company(order.company_id, "company_id")).id
        account = await self.accounts.find(identifier(order.account_id, "account"))
        if account is None:
            message = f"there is no account {order.account_id}"
            raise RuleViolation(message, "account_unknown", field="account_id")
        if order.company_id and account.company_id != identifier(order.company_id, "company"):
            message = f"the account {account.id} belongs to another company"
            raise RuleViolation(message, "other_company", field="account_id")
        return account.company_id

    async def _add(self, credential: Credential, collection: SecretCollection | None) -> None:
        details = {
            "name": credential.name,
            "company": credential.company_id,
            "account": credential.account_id or "every account of the company",
            "permissions": " ".join(sorted(map(str, credential.permissions))),
            "expires_at": credential.expires_at.isoformat() if credential.expires_at else "never",
            **told(credential.limits),
        }
        event = self.acting.event(
            "credential.issued", f"credential:{credential.client_id}", details
        )
        try:
            await self.credentials.add(credential, event, collection)
        except AlreadyExists as problem:
            message = f"the credential {credential.client_id} exists already"
            raise RuleViolation(message, "taken") from problem

    async def live(self, client_id: str) -> Credential:
        """Return one that has not ended; RuleViolation else."""
        credential = await self.credentials.find(client_id)
        if credential is None:
            raise _absent(client_id)
        if credential.revoked_at is not None:
            message = f"the credential {client_id} is revoked"
            raise RuleViolation(message, "revoked")
        if credential.expires_at is not None and credential.expires_at <= self.acting.now():
            message = f"the credential {client_id} has expired"
            raise RuleViolation(message, "expired")
        return credential

    def _digest(self, secret: str, now: datetime) -> SecretDigest:
        key_id, digest = self.source.digest(secret)
        return SecretDigest(key_id=key_id, digest=digest, created_at=now)


def moves_money(permissions: Iterable[Permission]) -> bool:
    """Say whether a credential of these permissions can pay out."""
    paying = Permission(Resource.WITHDRAW, Action.WRITE)
    return any(each.covers(paying) for each in permissions)


def told(limits: CredentialLimits) -> dict[str, str]:
    """Say for the audit log how much a credential may pay out, in reais."""
    return {
        "limit_per_payout": str(limits.per_payout or "none"),
        "limit_per_day": str(limits.per_day or "none"),
    }


def _second_ends(credential: Credential, now: datetime) -> datetime | None:
    """Return when the rotated-away secret ends, if it still lives."""
    ends = [each.expires_at for each in credential.secrets if each.expires_at is not None]
    return max((each for each in ends if each > now), default=None)


def _absent(client_id: str) -> RuleViolation:
    message = f"there is no credential {client_id}"
    return RuleViolation(message, "credential", field="client_id")
