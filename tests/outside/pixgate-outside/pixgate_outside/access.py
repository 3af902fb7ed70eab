"""How calls are authenticated: a token, given for a client's id and secret (OAuth 2)."""

from __future__ import annotations

from typing import Final, TypeVar

import msgspec
from gateway.banks.port.providers import Outcome, ProviderAccount, ProviderError
from gateway.core.clocks import Deadline
from provider_adapters.kit.client import ProviderClient, Translate
from provider_adapters.kit.factory import AdapterContext
from provider_adapters.kit.outcomes import unsent
from provider_adapters.kit.requests import ProviderRequest
from provider_adapters.kit.secrets import SecretText, secrets_of
from provider_adapters.kit.tokens import AccessTokens, ClientCredentials, TokenForm

Value = TypeVar("Value")

FORM: Final = TokenForm(path="/v1/token", body="form", proof="basic")
"""How the bank is asked for a token. TODO: as its document says."""


class Secrets(msgspec.Struct, frozen=True, kw_only=True):
    """What an account shows to the bank."""

    client_id: SecretText
    client_secret: SecretText


class Access:
    """Sends requests in the name of an account, with its token."""

    def __init__(self, client: ProviderClient, context: AdapterContext) -> None:
        """Fetch nothing yet."""
        self._client = client
        self._tokens = AccessTokens(client, FORM, context)

    async def read(
        self,
        account: ProviderAccount,
        request: ProviderRequest,
        translate: Translate[Value],
        by: Deadline | None = None,
    ) -> Value:
        """Read something, once more with a new token after a 401; raises a ``ProviderError``."""
        return await self._tokens.reading(
            _credentials(account),
            lambda token: self._client.read(_authorized(request, token), translate, by),
        )

    async def pay(
        self,
        account: ProviderAccount,
        request: ProviderRequest,
        translate: Translate[Outcome],
        send_by: Deadline,
    ) -> Outcome:
        """Send a request that moves money, at most once; without a token, not at all."""
        try:
            token = await self._tokens.of(_credentials(account))
        except ProviderError as failure:
            return unsent(failure)
        return await self._client.pay(_authorized(request, token), translate, send_by)


def _credentials(account: ProviderAccount) -> ClientCredentials:
    secrets = secrets_of(account, Secrets)
    return ClientCredentials(
        account_id=account.account_id,
        client_id=secrets.client_id,
        secret=secrets.client_secret,
    )


def _authorized(request: ProviderRequest, token: str) -> ProviderRequest:
    headers = {**request.headers, "Authorization": f"Bearer {token}"}
    return msgspec.structs.replace(request, headers=headers)
