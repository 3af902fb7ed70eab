"""Credentials that partners of an open sandbox get by themselves, and their end after a day."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from math import ceil
from typing import Final

from gateway.accounts.model import NO_BANK, AccountChange, AccountRequest, ProviderRequest
from gateway.accounts.service import Accounts
from gateway.companies.model import CompanyRequest
from gateway.companies.service import Companies
from gateway.core import errors
from gateway.core.access import Staff
from gateway.core.audit_context import AuditContext, RuleViolation
from gateway.core.browsers import ClientInfo
from gateway.core.clocks import Now
from gateway.core.errors import ServiceError
from gateway.core.money import Money
from gateway.core.networks import site
from gateway.core.permissions import Permission, Resource, actions_on
from gateway.core.schemas import instant
from gateway.credentials.model import CredentialBody, Issued
from gateway.credentials.service import Credentials
from gateway.sandbox.control import Reply
from gateway.sandbox.model import NothingBody, SandboxCredential
from gateway.sandbox.service import SandboxTools
from gateway.sandbox.store import OpenedAccount, OpenedAccounts

LASTS: Final = timedelta(hours=24)
"""Also the window in which the credentials of an address are counted."""
OF_NETWORK: Final = 5
IN_ALL: Final = 1_000
_GO_ON: Final = (
    f"An address gets {OF_NETWORK} credentials in 24 hours, and {IN_ALL:,} are given in all. Go on"
    " with one that you have: it serves any number of programs, and POST"
    " /sandbox/v1/account/{account_id}/top-up pays money in."
)
_ACTOR: Final = "sandbox"
_NAME: Final = "Sandbox partner"
_CNPJ: Final = "11222333000181"
_MONEY: Final = Money(100_000_00)
_PERMISSIONS: Final = [str(Permission(each, max(actions_on(each)))) for each in Resource]
_GRACE: Final = timedelta(hours=1, minutes=5)
"""The bank holds a payout for an hour at most: then little of the account is under way."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SelfService:
    """
    Opens a company with an account at the sandbox bank and a credential, for unknown callers.

    Attributes:
        tools: As for ``PartnerSandbox``.
        provider: The configured provider of the account; empty where none is the sandbox bank.
        credentials: Without a second person, and without mail to operators.
        new_id: Makes a UUID.
    """

    tools: SandboxTools
    opened: OpenedAccounts
    companies: Companies
    accounts: Accounts
    credentials: Credentials
    provider: str
    new_id: Callable[[], str]
    now: Now

    async def open(self, client: ClientInfo, _wanted: NothingBody) -> SandboxCredential:
        """
        Get a company with an account, money on it, and a credential for a day.

        Not repeated by itself: the secret of a lost answer is lost, and counts.

        Raises:
            ServiceError: ``SVC.GTW.005`` beyond 5 a day of an address, or 1,000 in all;
                ``SVC.ACC.005`` (422) where no provider is the sandbox bank, and (502) while that
                does not answer.
            StoreUnavailable: it may be that a company was made.
        """
        if not self.provider:
            raise ServiceError(errors.PROVIDER_NOT_CONFIGURED, "no_provider")
        now, account_id = self.now(), self.new_id()
        ends_at = now + LASTS
        free_at = await self.opened.add(
            OpenedAccount(
                account_id=account_id,
                network=site(client.address),
                opened_at=now,
                ends_at=ends_at,
            )
        )
        if free_at is not None:
            wait_s = max(1, ceil((free_at - now).total_seconds()))
            raise ServiceError(
                errors.TOO_MANY_REQUESTS,
                "sandbox_credentials",
                {"Retry-After": str(wait_s)},
                detail=_GO_ON,
            )
        try:
            at_bank, pix_key = await self._at_bank(account_id)
        except RuleViolation as problem:
            await self.opened.forget(account_id)
            raise ServiceError(errors.PROVIDER_BUSY, problem.reason) from problem
        who = Staff(AuditContext(_ACTOR, self.now))
        company = await self.companies.create(who, CompanyRequest(f"{_NAME} {account_id[:8]}"))
        request = AccountRequest(
            id=account_id,
            company_id=company.id,
            name=_NAME,
            tax_number=_CNPJ,
            active=True,
            verified=True,
            **{name: at_bank[name] for name in ("bank_number", "ispb", "branch", "account")},
        )
        bank = ProviderRequest(self.provider, at_bank["id"], at_bank["token"])
        await self.accounts.create(who, request, bank)
        made = await self.credentials.issue(
            who,
            CredentialBody(
                name=_NAME, account_id=account_id, permissions=_PERMISSIONS, expires_at=ends_at
            ),
        )
        if not isinstance(made, Issued):
            raise TypeError(made)
        return SandboxCredential(
            account_id=account_id,
            client_id=made.credential.client_id,
            client_secret=made.client_secret,
            pix_key=pix_key,
            expires_at=instant(ends_at),
        )

    async def close_ended(self) -> None:
        """
        Deactivate the accounts whose credential has ended, and take them from their bank.

        One of which a payout is still followed up waits until its outcome is proven, or people
        decide: a day at most. What they did stays on record. Safe to repeat, and to break off.
        """
        who = Staff(AuditContext(_ACTOR, self.now))
        while ended := await self.opened.ended(self.now() - _GRACE):
            for account_id in ended:
                account = await self.accounts.store.find(account_id)
                if account is not None:
                    change = AccountChange(active=False)
                    await self.accounts.change(who, account, change, bank=NO_BANK)
                await self.opened.forget(account_id)

    async def _at_bank(self, account_id: str) -> tuple[Reply, str]:
        """Open an account at the bank, with a key; raises ``RuleViolation``."""
        opened = {"id": account_id, "name": _NAME, "tax_number": _CNPJ, "balance": _MONEY}
        account = await self.tools.control.post("accounts", body=opened)
        key = await self.tools.control.post("accounts", account_id, "keys", body={"type": "evp"})
        return account, str(key["key"])
