"""
Access tokens of banks that give them for a client id and a secret (OAuth 2, client credentials).

A token is fetched once at a time for each account, renewed at 80 % of its life, and once more
when a read was refused with it. A request for one that is refused with 401, or as
``invalid_client``, is sent once more: some banks refuse one in ten without a cause. It is kept in
memory, and in the gateway's cache, so that processes that share one fetch it once. Fetching moves
no money: an adapter that gets no token returns ``unsent`` of ``kit.outcomes``.
"""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated, Final, Literal, TypeVar
from urllib.parse import urlencode

import msgspec

from gateway.banks.port.providers import CredentialsRefused, ProviderError, Reason
from gateway.core.clocks import Deadline
from gateway.core.single_flight import SingleFlight
from provider_adapters.kit.answers import ProviderAnswer, read_document, try_document
from provider_adapters.kit.client import ProviderClient
from provider_adapters.kit.factory import AdapterContext
from provider_adapters.kit.requests import Identity, ProviderRequest, json_body

Value = TypeVar("Value")

_RENEWED_AT: Final = 0.8
"""Of its life: a token that ends on its way to the bank is refused there."""
_UNTOLD_S: Final = 60.0
"""
Life of a token whose life the bank does not state (RFC 6749, 5.1), or states as what is none, such
as 0: shorter than any bank's.
"""
_LONGEST_S: Final = 31_536_000.0
_GIVEN: Final = frozenset({HTTPStatus.OK.value, HTTPStatus.CREATED.value})
"""The standard wants 200; some banks create a token."""
_MOST: Final = 10_000
"""Tokens in memory; a gateway of more accounts fetches some again."""
_FORM: Final = {"Content-Type": "application/x-www-form-urlencoded"}


class _Granted(msgspec.Struct):
    """The bank's answer; the rest of it is of no use."""

    access_token: Annotated[str, msgspec.Meta(pattern=r"^[!-~]+\Z", max_length=8192)]
    """What a header can carry; a damaged one is not kept."""
    expires_in: object = None


class _Kept(msgspec.Struct):
    """A token as the cache has it; ``ends_at`` is a Unix time in seconds."""

    token: str
    ends_at: float
    life_s: float

    def is_fresh(self, now: float) -> bool:
        """Return whether the token need not be renewed yet."""
        return now < self.ends_at - self.life_s * (1 - _RENEWED_AT)


class _Refusal(msgspec.Struct):
    """A refusal (RFC 6749, 5.2)."""

    error: str = ""


_GRANTED: Final = msgspec.json.Decoder(_Granted)
_REFUSAL: Final = msgspec.json.Decoder(_Refusal)
_KEPT: Final = msgspec.json.Decoder(_Kept)


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenForm:
    """
    Form of a bank's token request.

    Attributes:
        path: The path for token requests.
        body: The format of the request.
        proof: Where id and secret stand: in an ``Authorization: Basic`` header, or in the body.
        more: Further fields of the body, such as a scope.
    """

    path: str
    body: Literal["json", "form"] = "form"
    proof: Literal["basic", "body"] = "basic"
    more: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientCredentials:
    """
    The credentials by which an account gets its token.

    Attributes:
        account_id: Two accounts never share a token, even with one id and secret.
        secret: Empty at a bank that identifies a client by its certificate.
        identity: For a bank that wants the account's certificate on this call too.
    """

    account_id: str
    client_id: str
    secret: str
    identity: Identity | None = None

    def __repr__(self) -> str:
        """Show whose they are, and nothing else."""
        return f"ClientCredentials({self.account_id})"


class AccessTokens:
    """The tokens of all accounts of one provider."""

    def __init__(self, client: ProviderClient, form: TokenForm, context: AdapterContext) -> None:
        """
        Fetch nothing yet.

        Args:
            client: The client of the tokens' host, which need not be the bank's other host.
            form: How it is asked.
            context: As the factory was given it: clocks, and the cache where there is one.
        """
        self._client = client
        self._form = form
        self._context = context
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._fetching: SingleFlight[_Kept] = SingleFlight()

    async def of(self, credentials: ClientCredentials, by: Deadline | None = None) -> str:
        """
        Return an account's token, fetched or renewed where needed.

        Raises:
            ProviderError: The bank gave none; one that has not ended is used meanwhile.
        """
        key, now = self._key(credentials), self._now()
        known = self._kept.get(key)
        if known is not None and known.is_fresh(now):
            return known.token
        try:
            fresh = await self._fetching.do(key, lambda: self._found(key, credentials, by))
        except ProviderError:
            if known is not None and now < known.ends_at:
                return known.token
            raise
        return fresh.token

    async def reading(
        self,
        credentials: ClientCredentials,
        read: Callable[[str], Awaitable[Value]],
        by: Deadline | None = None,
    ) -> Value:
        """
        Read something with a token; once more with a new one when it was refused.

        ``by`` bounds the fetching of tokens; the read has limits of its own.

        Raises:
            ProviderError: As the read raises it, or no token was given.
        """
        token = await self.of(credentials, by)
        try:
            return await read(token)
        except CredentialsRefused as refused:
            if refused.http_status == HTTPStatus.FORBIDDEN:
                raise  # it is about rights, which another token does not have
            await self.drop(credentials, token)
            return await read(await self.of(credentials, by))

    async def drop(self, credentials: ClientCredentials, refused: str) -> None:
        """
        Drop a token that the bank refused; a newer token stays.

        ``reading`` does so by itself. Call it for a change or an order, which is not sent again.
        """
        key = self._key(credentials)
        known = self._kept.get(key)
        if known is not None and known.token == refused:
            del self._kept[key]
            if self._context.cache is not None:
                await self._context.cache.drop(key)

    async def _found(self, key: str, credentials: ClientCredentials, by: Deadline | None) -> _Kept:
        """Take the token that another process fetched, or fetch one."""
        cache = self._context.cache
        shared = _read(await cache.get(key)) if cache is not None else None
        if shared is not None and shared.is_fresh(self._now()):
            return self._keep(key, shared)
        fresh = await self._fetched(credentials, by)
        if cache is not None:
            await cache.put(key, [msgspec.json.encode(fresh)], fresh.life_s)
        return self._keep(key, fresh)

    async def _fetched(self, credentials: ClientCredentials, by: Deadline | None) -> _Kept:
        """Fetch a token; a refusal counts when it comes twice."""
        request = self._request(credentials)
        try:
            return await self._client.read(request, self._granted, by)
        except CredentialsRefused:
            return await self._client.read(request, self._granted, by)

    def _keep(self, key: str, token: _Kept) -> _Kept:
        self._kept[key] = token
        self._kept.move_to_end(key)
        if len(self._kept) > _MOST:
            self._kept.popitem(last=False)
        return token

    def _granted(self, answer: ProviderAnswer) -> _Kept:
        """Read the bank's answer; ``invalid_client`` may come with 400 as well as with 401."""
        if answer.status == HTTPStatus.BAD_REQUEST:
            refusal = try_document(answer, _REFUSAL)
            if refusal is not None and refusal.error == "invalid_client":
                raise CredentialsRefused(Reason.CREDENTIALS_REFUSED, http_status=answer.status)
        given = read_document(answer, _GRANTED, lambda document: document, _GIVEN)
        life_s = _life_of(given.expires_in)
        return _Kept(given.access_token, self._now() + life_s, life_s)

    def _request(self, credentials: ClientCredentials) -> ProviderRequest:
        """Build the request; it may be repeated like a read."""
        form = self._form
        fields = {"grant_type": "client_credentials", **(form.more or {})}
        headers = dict(_FORM) if form.body == "form" else {}
        if form.proof == "basic":
            pair = f"{credentials.client_id}:{credentials.secret}".encode()
            headers["Authorization"] = f"Basic {b64encode(pair).decode()}"
        else:
            fields["client_id"] = credentials.client_id
            if credentials.secret:
                fields["client_secret"] = credentials.secret
        return ProviderRequest(
            operation="get_token",
            method="POST",
            template=form.path,
            path=form.path,
            headers=headers,
            body=urlencode(fields).encode() if form.body == "form" else json_body(fields),
            account=credentials.account_id,
            identity=credentials.identity,
        )

    def _key(self, credentials: ClientCredentials) -> str:
        """Return the cache key of a token, by account and secret: a new secret has a new token."""
        parts = (credentials.account_id, credentials.client_id, credentials.secret)
        digest = hashlib.sha256("\0".join(parts).encode()).hexdigest()
        return f"token:{self._context.name}:{digest}"

    def _now(self) -> float:
        return self._context.runtime.now().timestamp()


def _life_of(stated: object) -> float:
    """Return the seconds that a token lives, from any format."""
    try:
        seconds = float(stated) if isinstance(stated, int | float | str) else 0.0
    except (ValueError, OverflowError):
        seconds = 0.0
    return min(seconds, _LONGEST_S) if seconds > 1 else _UNTOLD_S


def _read(text: bytes | None) -> _Kept | None:
    """Read the cache; a value that is no token of ours counts as absent."""
    try:
        return _KEPT.decode(text) if text is not None else None
    except (msgspec.DecodeError, ValueError):
        return None
