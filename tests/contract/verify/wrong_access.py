"""Mistakes about credentials, as tired people make them: variations of the guarded adapter."""

from __future__ import annotations

import dataclasses
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, TypeVar

import msgspec

from gateway.banks.port.payout_orders import FailureCode, PayoutOrder
from gateway.banks.port.providers import (
    CredentialsRefused,
    NotSent,
    Outcome,
    ProviderAccount,
    Rejected,
    Unknown,
)
from gateway.banks.port.statements import Balance
from gateway.core.clocks import Deadline
from gateway.core.single_flight import SingleFlight
from provider_adapters.kit.factory import AdapterContext
from provider_adapters.kit.requests import ProviderRequest, as_account
from provider_adapters.kit.secrets import identity_of
from provider_adapters.kit.tokens import AccessTokens, ClientCredentials, TokenForm
from provider_adapters.sandbox import payouts, requests
from tests.contract.verify.guarded import TOKENS, GuardedAdapter, GuardedFactory, GuardedStage
from tests.contract.verify.mistaken import REJECTED, Wrong, asking, saying

Value = TypeVar("Value")
NOBODY: Final = "00000000-0000-4000-8000-000000000000"


class WrongGuardedFactory(GuardedFactory):
    def __init__(self, kind: type[GuardedAdapter]) -> None:
        self.adapter = kind

    def __call__(self, settings: Mapping[str, object], context: AdapterContext) -> GuardedAdapter:
        made = super().__call__(settings, context)
        object.__setattr__(made, "context", context)
        object.__setattr__(made, "kept", {})
        return made


class Forgetful(GuardedAdapter):
    context: AdapterContext

    async def reading(
        self, account: ProviderAccount, read: Callable[[ProviderAccount], Awaitable[Value]]
    ) -> Value:
        fresh = AccessTokens(self.client, TokenForm(path=TOKENS), self.context)
        return await read(self.known(account, await fresh.of(self.credentials(account))))


class Stubborn(GuardedAdapter):
    async def reading(
        self, account: ProviderAccount, read: Callable[[ProviderAccount], Awaitable[Value]]
    ) -> Value:
        return await read(self.known(account, await self.tokens.of(self.credentials(account))))


class Insisting(GuardedAdapter):
    """Asks again and again."""

    async def reading(
        self, account: ProviderAccount, read: Callable[[ProviderAccount], Awaitable[Value]]
    ) -> Value:
        for _ in range(5):
            try:
                return await super().reading(account, read)
            except CredentialsRefused as refused:
                failure = refused
        raise failure


class Repaying(GuardedAdapter):
    """Fetches another token and sends the payout again."""

    async def create_payout(
        self, account: ProviderAccount, order: PayoutOrder, send_by: Deadline
    ) -> Outcome:
        outcome = await super().create_payout(account, order, send_by)
        if isinstance(outcome, NotSent | Unknown) and outcome.evidence.http_status == 401:
            return await super().create_payout(account, order, send_by)
        return outcome


class Rejecting(GuardedAdapter):
    """Takes every 401 for the bank's final word."""

    async def create_payout(
        self, account: ProviderAccount, order: PayoutOrder, send_by: Deadline
    ) -> Outcome:
        known = self.known(account, await self.tokens.of(self.credentials(account), send_by))
        request = self.certified(requests.create_payout(known, order), account)
        expected = payouts.expected(order)

        def judged(answer: Any) -> Outcome:
            if answer.status == 401:
                answer = saying(answer, REJECTED, 400)
            return payouts.created(answer, expected)

        return await self.client.pay(request, judged, send_by)


class GivingUp(GuardedAdapter):
    """Takes what was not sent for what has failed."""

    async def create_payout(
        self, account: ProviderAccount, order: PayoutOrder, send_by: Deadline
    ) -> Outcome:
        outcome = await super().create_payout(account, order, send_by)
        if isinstance(outcome, NotSent):
            return Rejected(evidence=outcome.evidence, failure=FailureCode.REJECTED)
        return outcome


class Sharing(GuardedAdapter):
    """Keeps tokens by what they were asked with, and not by whose they are."""

    def credentials(self, account: ProviderAccount) -> ClientCredentials:
        return dataclasses.replace(super().credentials(account), account_id=NOBODY)


class FirstTokenForAll(GuardedAdapter):
    """Keeps one token for every account."""

    kept: dict[str, ClientCredentials]

    def credentials(self, account: ProviderAccount) -> ClientCredentials:
        return self.kept.setdefault("first", super().credentials(account))

    def known(self, account: ProviderAccount, token: str) -> ProviderAccount:
        return super().known(account, token)


class OneBalance(GuardedAdapter):
    """Joins calls for the same thing, of all accounts."""

    kept: dict[str, SingleFlight[Balance]]

    async def get_balance(self, account: ProviderAccount) -> Balance:
        joined = self.kept.setdefault("joined", SingleFlight())
        return await joined.do("balance", lambda: GuardedAdapter.get_balance(self, account))


class OldCertificate(GuardedAdapter):
    """Goes on showing the certificate that an account was first seen with."""

    kept: dict[str, ProviderAccount]

    async def reading(
        self, account: ProviderAccount, read: Callable[[ProviderAccount], Awaitable[Value]]
    ) -> Value:
        # before its token comes: that of another call may come first
        self.kept.setdefault(account.account_id, account)
        return await super().reading(account, read)

    def certified(self, request: ProviderRequest, account: ProviderAccount) -> ProviderRequest:
        return as_account(request, identity_of(self.kept[account.account_id]))


class AnyCertificate(GuardedAdapter):
    """Shows the last good certificate where an account has none."""

    def certified(self, request: ProviderRequest, account: ProviderAccount) -> ProviderRequest:
        return request

    def credentials(self, account: ProviderAccount) -> ClientCredentials:
        return dataclasses.replace(super().credentials(account), identity=None)


def guarded(name: str, case: str, kind: type[GuardedAdapter], sane: str = "reads.empty") -> Wrong:
    return Wrong(
        name=name, case=case, factory=WrongGuardedFactory(kind), stage=GuardedStage, sane=sane
    )


class GoingAlong:
    """Sends the first account's credential along with every request."""

    def __init__(self) -> None:
        self.first = ""

    def __call__(self, request: ProviderRequest) -> ProviderRequest:
        self.first = self.first or request.headers.get("Authorization", "")
        return msgspec.structs.replace(request, headers={**request.headers, "X-First": self.first})


WRONG: Final[tuple[Wrong, ...]] = (
    guarded("a token for each call", "access.tokens", Forgetful),
    guarded("a refused token is kept", "access.tokens", Stubborn),
    guarded("asked again and again", "access.refused_for_good", Insisting),
    guarded("a payout is repeated with another token", "access.payout_refused", Repaying),
    guarded("a revoked token's payout is repeated", "access.payout_without_token", Repaying),
    guarded("a bare 401 ends a payout", "access.payout_refused", Rejecting),
    guarded("another's certificate ends a payout", "access.certificate_of_another", GivingUp),
    guarded("tokens are kept by secret", "access.tokens", Sharing),
    guarded("one token for all", "access.two_accounts", FirstTokenForAll),
    asking("a credential goes along", "access.two_accounts", GoingAlong()),
    guarded("calls of two accounts are joined", "access.own_balances", OneBalance),
    guarded("certificates are kept", "access.certificate_renewed", OldCertificate),
    guarded("without a certificate it is tried", "access.certificate_absent", AnyCertificate,
            sane="access.certificate_of_another"),
)  # fmt: skip
