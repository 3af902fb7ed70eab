"""
Calls of a bank of API Pix: paths, the account's headers and certificate, tokens.

A refused token is dropped: a read fetches another one at once, a change or an order leaves that
to the next call, because it is sent once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final, TypeVar

import msgspec

from gateway.banks.port.providers import (
    BadReply,
    CredentialsRefused,
    Outcome,
    ProviderAccount,
    ProviderError,
    Reason,
)
from gateway.core.account import Environment
from gateway.core.clocks import Deadline, Now
from gateway.core.money import Money
from provider_adapters.apipix import documents
from provider_adapters.apipix.profiles import Profile
from provider_adapters.apipix.secrets import ApiPixSecrets
from provider_adapters.apipix.words import ERRORS
from provider_adapters.kit import money
from provider_adapters.kit.adapter import BankAdapter
from provider_adapters.kit.answers import ProviderAnswer, listed_error, reader, try_document
from provider_adapters.kit.client import Translate
from provider_adapters.kit.outcomes import unsent
from provider_adapters.kit.requests import ProviderRequest, as_account, get
from provider_adapters.kit.secrets import identity_of, secrets_of
from provider_adapters.kit.tokens import AccessTokens, ClientCredentials

Document = TypeVar("Document")
Value = TypeVar("Value")

OK: Final = frozenset({HTTPStatus.OK.value})
CHANGED: Final = frozenset({HTTPStatus.OK.value, HTTPStatus.CREATED.value})
"""The standard answers 201 to what is made; some banks 200."""
_NO_FIELDS: Final[Mapping[str, str]] = {}


@dataclass(frozen=True, kw_only=True)
class Access(BankAdapter):
    """
    Access to one configured bank.

    Attributes:
        tokens: From the bank's own host, or from a host for tokens alone.
        environment: Part of the input of a charge's txid.
    """

    profile: Profile
    tokens: AccessTokens
    environment: Environment
    now: Now

    def request(
        self,
        account: ProviderAccount,
        operation: str,
        path: str,
        query: Mapping[str, str] = _NO_FIELDS,
        **steps: str,
    ) -> ProviderRequest:
        """
        Build a read under the account's headers and certificate; its token comes when it is sent.

        ``path`` is the whole one, its variable steps in braces.

        Raises:
            Refused: A step cannot stand in a path.
            CredentialsRefused: The account has no credentials for this bank.
        """
        secrets = secrets_of(account, ApiPixSecrets)
        headers, more = (
            {field: getattr(secrets, name) for field, name in fields.items()}
            for fields in (self.profile.account_headers, self.profile.account_query)
        )
        asked = get(operation, path, headers, {**query, **more}, account.account_id, **steps)
        return as_account(asked, identity_of(account))

    async def read(
        self,
        account: ProviderAccount,
        request: ProviderRequest,
        translate: Translate[Value],
        by: Deadline | None = None,
    ) -> Value:
        """Send a read, and again with another token if the first was refused, within one limit."""
        end = by or self.client.read_by()

        async def once(token: str) -> Value:
            return await self.client.read(_bearing(request, token), translate, end)

        return await self.tokens.reading(self._credentials(account), once, end)

    async def change(
        self, account: ProviderAccount, request: ProviderRequest, translate: Translate[Value]
    ) -> Value:
        """Send a change that moves no money, once."""
        credentials = self._credentials(account)
        token = await self.tokens.of(credentials)
        try:
            return await self.client.change(_bearing(request, token), translate)
        except CredentialsRefused:
            await self.tokens.drop(credentials, token)
            raise

    async def pay(
        self,
        account: ProviderAccount,
        request: ProviderRequest,
        translate: Translate[Outcome],
        send_by: Deadline,
    ) -> Outcome:
        """Send an order that moves money, once; without a token it is not sent."""
        credentials = self._credentials(account)
        try:
            token = await self.tokens.of(credentials)
        except ProviderError as failure:
            return unsent(failure)
        outcome = await self.client.pay(_bearing(request, token), translate, send_by)
        if outcome.evidence.http_status == HTTPStatus.UNAUTHORIZED:
            await self.tokens.drop(credentials, token)
        return outcome

    def _credentials(self, account: ProviderAccount) -> ClientCredentials:
        secrets = secrets_of(account, ApiPixSecrets)
        return ClientCredentials(
            account_id=account.account_id,
            client_id=secrets.client_id,
            secret=secrets.client_secret,
            identity=identity_of(account),
        )


def error_code(answer: ProviderAnswer) -> str:
    """Return the bank's error code, in either shape; empty when unreadable."""
    refusal = try_document(answer, documents.RECUSA)
    if refusal is None:
        return ""
    return refusal.nome or refusal.type.rpartition("/")[2] or refusal.error


def failure(answer: ProviderAnswer) -> ProviderError:
    """Return the error of a refusal, for every call but one that moves money."""
    return listed_error(answer, error_code(answer), ERRORS)


def reading(
    decoder: msgspec.json.Decoder[Document],
    shape: Callable[[Document], Value],
    statuses: Collection[int] = OK,
) -> Translate[Value]:
    """Return the reader of a successful answer; it raises the error of any other."""
    return lambda answer: _read(answer, decoder, shape, statuses)


_read: Final = reader(failure)


@contextmanager
def readable() -> Iterator[None]:
    """Convert a value that cannot be built from a document to ``BadReply``."""
    try:
        yield
    except (ValueError, ArithmeticError) as problem:
        raise BadReply(Reason.WRONG_SHAPE) from problem


def amount(text: str) -> Money:
    """Read an amount that has no sign, such as ``"10.50"``; raises ``ValueError``."""
    return money.unsigned(money.from_text(text))


def accepted(answer: ProviderAnswer) -> None:
    """Accept an answer without content that we need."""
    if not HTTPStatus.OK <= answer.status < HTTPStatus.MULTIPLE_CHOICES:
        raise failure(answer)


def _bearing(request: ProviderRequest, token: str) -> ProviderRequest:
    headers = {**request.headers, "Authorization": f"Bearer {token}"}
    return msgspec.structs.replace(request, headers=headers)
