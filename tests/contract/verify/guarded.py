"""The sandbox bank behind certificates and access tokens, and a right adapter of it."""

from __future__ import annotations

import dataclasses
from base64 import b64decode
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeVar

import msgspec

from gateway.banks.port.capabilities import Capabilities, EntryField, Lookup, PortCall
from gateway.banks.port.payout_orders import PayoutMethod, PayoutOrder
from gateway.banks.port.providers import Outcome, Page, ProviderAccount, ProviderError
from gateway.banks.port.statements import Balance, Entry
from gateway.core.clocks import Deadline
from gateway.core.windows import Window
from provider_adapters.kit.client import ProviderClient
from provider_adapters.kit.factory import AdapterContext
from provider_adapters.kit.outcomes import Expected, unsent
from provider_adapters.kit.requests import ProviderRequest, as_account
from provider_adapters.kit.secrets import (
    PemCertificate,
    PemKey,
    SecretText,
    client_of_accounts,
    identity_of,
    secrets_of,
)
from provider_adapters.kit.settings import ClientLimits, TlsFiles, settings_of
from provider_adapters.kit.tokens import AccessTokens, ClientCredentials, TokenForm
from provider_adapters.sandbox import mapping, payouts, requests
from provider_adapters.testing import sandbox
from provider_adapters.testing.bank import accounts, certificates
from provider_adapters.testing.bank.accounts import Account
from provider_adapters.testing.bank.books import Books
from provider_adapters.testing.bank.dialect import Admission, BankRequest, Row
from provider_adapters.testing.bank.messages import Answer, Code, Fields, Refusal
from provider_adapters.testing.sandbox import SANDBOX
from provider_adapters.testing.stages import SandboxStage

TOKENS: Final = "/oauth/token"
Value = TypeVar("Value")


class GuardedSecrets(msgspec.Struct, frozen=True, kw_only=True):
    client_id: SecretText
    client_secret: SecretText
    certificate: PemCertificate
    key: PemKey


def _admit(books: Books, account: Account, _: Fields) -> Admission:
    pair, secret = certificates.issue(books, account.id), books.random_hex(16)
    shown = {"client_id": account.id, "client_secret": secret}
    return Admission(
        token=secret, credentials={**shown, "certificate": pair.certificate, "key": pair.key}
    )


def _refused() -> Refusal:
    return Refusal(Code.UNAUTHORIZED, "nobody of ours")


def _token(request: BankRequest) -> Answer:
    """Issue a token for id, secret and certificate of one account."""
    given = b64decode(request.headers.get("Authorization", "").removeprefix("Basic ")).decode()
    name, _, secret = given.partition(":")
    account = accounts.by_token(request.books, secret)
    shown = certificates.account_of(request.books, request.certificate)
    if account is None or not account.id == name == shown:
        raise _refused()
    token = request.books.random_hex(24)
    request.books.keep("token", token, name, account_id=name)
    return Answer(document={"access_token": token, "expires_in": 3600})


def _authenticate(request: BankRequest) -> Account:
    token = request.headers.get("Authorization", "").removeprefix("Bearer ")
    kept = request.books.kept("token", token)
    shown = certificates.account_of(request.books, request.certificate)
    if kept is None or not kept.value == shown == request.path["conta"]:
        raise _refused()
    return accounts.get(request.books, kept.value)


GUARDED: Final = dataclasses.replace(
    SANDBOX,
    rows=(*sandbox.ROWS, Row("POST", TOKENS, "access", _token, is_open=True)),
    authenticate=_authenticate,
    admit=_admit,
    client_certificates=True,
)


class GuardedStage(SandboxStage):
    dialect = GUARDED
    account_secrets = GuardedSecrets
    token_path = TOKENS  # type: ignore[assignment]

    def settings(self, address: str) -> Mapping[str, object]:
        return {"base_url": address, "tls": {"ca": str(self.bank.authority_file)}}

    def stranger(self) -> ProviderAccount:
        first = self.accounts[0]
        wrong = msgspec.structs.replace(first.secrets, client_secret="unknown")  # type: ignore[type-var]
        return dataclasses.replace(first, secrets=wrong)

    async def revoke_tokens(self) -> None:
        kept = self.bank.books
        for account in self.accounts:
            for each in kept.kept_of("token", account.provider_account):
                kept.forget("token", each.name)


class GuardedSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where the bank is."""

    base_url: str
    limits: ClientLimits = ClientLimits()
    tls: TlsFiles = TlsFiles()


@dataclass(frozen=True, kw_only=True)
class GuardedAdapter:
    """Reads and pays with a token of each account, under its certificate."""

    client: ProviderClient
    tokens: AccessTokens
    capabilities: Capabilities

    async def start(self) -> None:
        await self.client.start()

    async def close(self) -> None:
        await self.client.close()

    async def get_balance(self, account: ProviderAccount) -> Balance:
        return await self.reading(
            account,
            lambda known: self.client.read(self.shown(account, known), mapping.balance),
        )

    def shown(self, account: ProviderAccount, known: ProviderAccount) -> ProviderRequest:
        return self.certified(requests.balance(known), account)

    async def list_statement(
        self, account: ProviderAccount, window: Window, cursor: str | None, limit: int
    ) -> Page[Entry]:

        async def read(known: ProviderAccount) -> Page[Entry]:
            request = requests.statement(known, window, cursor, limit)
            return await self.client.read(self.certified(request, account), mapping.statement)

        return await self.reading(account, read)

    async def create_payout(
        self, account: ProviderAccount, order: PayoutOrder, send_by: Deadline
    ) -> Outcome:
        try:
            known = self.known(account, await self.tokens.of(self.credentials(account), send_by))
            request = self.certified(requests.create_payout(known, order), account)
        except ProviderError as failure:
            return unsent(failure)
        expected = payouts.expected(order)
        return await self.client.pay(request, lambda said: payouts.created(said, expected), send_by)

    async def find_payout(
        self, account: ProviderAccount, provider_key: str, provider_id: str
    ) -> Outcome:
        expected = Expected(provider_key)

        async def read(known: ProviderAccount) -> Outcome:
            request = requests.payout(known, provider_key, provider_id)
            return await self.client.read(
                self.certified(request, account),
                lambda said: payouts.found(said, expected),
            )

        return await self.reading(account, read)

    async def reading(
        self, account: ProviderAccount, read: Callable[[ProviderAccount], Awaitable[Value]]
    ) -> Value:
        """Read with a token, and once more with another when it was refused."""
        return await self.tokens.reading(
            self.credentials(account), lambda token: read(self.known(account, token))
        )

    def credentials(self, account: ProviderAccount) -> ClientCredentials:
        held = secrets_of(account, GuardedSecrets)
        return ClientCredentials(
            account_id=account.account_id,
            client_id=held.client_id,
            secret=held.client_secret,
            identity=identity_of(account),
        )

    def known(self, account: ProviderAccount, token: str) -> ProviderAccount:
        """Return the account as the sandbox's requests want it."""
        return dataclasses.replace(account, credentials=token)

    def certified(self, request: ProviderRequest, account: ProviderAccount) -> ProviderRequest:
        return as_account(request, identity_of(account))


class GuardedFactory:
    PORT = 1
    adapter = GuardedAdapter
    settings = GuardedSettings
    account_secrets = GuardedSecrets
    capabilities = Capabilities(
        calls=frozenset(
            {
                PortCall.GET_BALANCE,
                PortCall.LIST_STATEMENT,
                PortCall.CREATE_PAYOUT,
                PortCall.FIND_PAYOUT,
            }
        ),
        destinations=frozenset(PayoutMethod),
        lookup=frozenset(Lookup),
        account_credentials=True,
        entry_fields=frozenset(EntryField),
        blocked_known=True,
        largest_page=500,
    )

    def __call__(self, settings: Mapping[str, object], context: AdapterContext) -> GuardedAdapter:
        chosen = settings_of(context.name, GuardedSettings, settings)
        client = client_of_accounts(context, chosen.base_url, (), chosen.limits, chosen.tls)
        tokens = AccessTokens(client, TokenForm(path=TOKENS), context)
        return self.adapter(client=client, tokens=tokens, capabilities=self.capabilities)
