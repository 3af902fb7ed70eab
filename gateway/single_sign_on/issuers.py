"""
Identity providers over HTTP: what they publish, their keys, and codes that are exchanged.

Addresses are typed by people and published by providers: all calls are made as those to partners'
endpoints, never inward. What was read is kept; a provider that fails is left alone for a moment, so
that its outage costs nobody else.
"""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Final, TypeVar
from urllib.parse import quote_plus

from gateway.core.audit_context import RuleViolation
from gateway.core.clocks import Monotonic
from gateway.deliveries.sender import FetchFailed, Sender
from gateway.endpoints.addresses import read_address
from gateway.single_sign_on.signed_tokens import Key

Value = TypeVar("Value")

KEPT_S: Final = 3_600.0
"""Providers announce new keys days ahead; a new ``kid`` is looked for at once."""
KEYS_AGAIN_S: Final = 60.0
"""Between two reads of keys for a ``kid`` that is not among them: anybody may send one."""
FAILED_S: Final = 10.0
"""After a failure; who clicks again gets the same answer without a call."""
AT_ONCE: Final = 20
"""Waits for one provider in a process; one that hangs leaves the places of strangers to others."""
_DOCUMENT: Final = 128 * 1024
_TOKENS: Final = 256 * 1024
_ADDRESSES: Final = ("authorization_endpoint", "token_endpoint", "jwks_uri")


class IssuerUnreachable(Exception):
    """A provider did not answer, or not usably."""


class CodeRefused(Exception):
    """A provider does not take a code, or our client."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Discovery:
    """
    What a provider publishes of itself (OpenID Connect Discovery, part 3).

    Attributes:
        names_itself: Its answers name it by ``iss`` (RFC 9207).
        by_header: Our secret goes into the header; else into the form.
    """

    authorization: str
    token: str
    keys: str
    names_itself: bool
    by_header: bool


@dataclass(slots=True)
class _Kept:
    """What is known of one provider; one call at a time reads each part."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    discovery: Discovery | None = None
    read_at: float = 0.0
    keys: Sequence[Key] = ()
    keys_at: float | None = None
    failed_at: float | None = None
    waits: int = 0

    @contextmanager
    def place(self) -> Iterator[None]:
        """Take one of the few places of those who wait for this provider."""
        if self.waits >= AT_ONCE:
            raise IssuerUnreachable
        self.waits += 1
        try:
            yield
        finally:
            self.waits -= 1


@dataclass(slots=True)
class Issuers:
    """
    Calls identity providers; close it in the end.

    Attributes:
        allow_local: Their addresses may be on this machine; in the sandbox alone.
    """

    sender: Sender
    clock: Monotonic
    allow_local: bool
    _kept: dict[str, _Kept] = field(default_factory=dict, init=False)

    async def discovery(self, issuer: str) -> Discovery:
        """
        Return what a provider publishes; read once an hour.

        Raises:
            IssuerUnreachable: it does not answer, or publishes something else; or too many wait
                for it already.
        """
        kept = self._of(issuer)
        with kept.place():
            async with kept.lock:
                return await self._discovery(issuer, kept)

    async def keys(self, issuer: str, key_id: str) -> Sequence[Key]:
        """
        Return the keys of a ``kid``; all of them for an empty one.

        Keys are read again for a ``kid`` that is not known, at most once a minute.

        Raises:
            IssuerUnreachable: it does not answer, or not usably; as ``discovery``.
        """
        kept = self._of(issuer)
        with kept.place():
            async with kept.lock:
                age = None if kept.keys_at is None else self.clock() - kept.keys_at
                found = _named(kept.keys, key_id)
                if age is None or age >= KEPT_S or (not found and age >= KEYS_AGAIN_S):
                    found = _named(await self._read_keys(issuer, kept), key_id)
                return found

    async def exchange(self, issuer: str, client: tuple[str, str], form: Mapping[str, str]) -> str:
        """
        Exchange a code; return the ID token.

        Args:
            issuer: The provider.
            client: Our id and secret there.
            form: The code and its verifier.

        Raises:
            IssuerUnreachable: it does not answer usably; as ``discovery``.
            CodeRefused: it answers with another status than 200.
        """
        found, (client_id, secret) = await self.discovery(issuer), client
        headers: Mapping[str, str] = {}
        if found.by_header:
            pair = f"{quote_plus(client_id)}:{quote_plus(secret)}".encode()
            headers = {"Authorization": f"Basic {base64.b64encode(pair).decode()}"}
        else:
            form = {**form, "client_id": client_id, "client_secret": secret}
        try:
            with self._of(issuer).place():
                status, body = await self.sender.ask(found.token, _TOKENS, form, headers)
        except FetchFailed as problem:
            raise IssuerUnreachable(issuer) from problem
        if HTTPStatus.BAD_REQUEST <= status < HTTPStatus.INTERNAL_SERVER_ERROR:
            raise CodeRefused(str(status))
        token = _object(body, status).get("id_token")
        if not isinstance(token, str):
            raise CodeRefused
        return token

    async def close(self) -> None:
        """Close every connection."""
        await self.sender.close()

    def _of(self, issuer: str) -> _Kept:
        """Return what is known; issuers are those of the store alone, so they stay few."""
        return self._kept.setdefault(issuer, _Kept())

    async def _discovery(self, issuer: str, kept: _Kept) -> Discovery:
        if kept.discovery is None or self.clock() - kept.read_at >= KEPT_S:
            url = f"{issuer.rstrip('/')}/.well-known/openid-configuration"

            async def read() -> Discovery:
                return self._read(await self._document(url), issuer)

            kept.discovery = await self._tried(kept, read)
            kept.read_at = self.clock()
        return kept.discovery

    async def _read_keys(self, issuer: str, kept: _Kept) -> Sequence[Key]:
        found = await self._discovery(issuer, kept)

        async def read() -> Sequence[Key]:
            keys = (await self._document(found.keys)).get("keys")
            if not isinstance(keys, list) or not all(isinstance(each, dict) for each in keys):
                raise IssuerUnreachable(issuer)
            return keys

        kept.keys = await self._tried(kept, read)
        kept.keys_at = self.clock()
        return kept.keys

    async def _tried(self, kept: _Kept, read: Callable[[], Awaitable[Value]]) -> Value:
        """Read, unless reading failed a moment ago."""
        if kept.failed_at is not None and self.clock() - kept.failed_at < FAILED_S:
            raise IssuerUnreachable
        try:
            done = await read()
        except IssuerUnreachable:
            kept.failed_at = self.clock()
            raise
        kept.failed_at = None
        return done

    async def _document(self, url: str) -> Mapping[str, object]:
        try:
            status, body = await self.sender.ask(url, _DOCUMENT)
        except FetchFailed as problem:
            raise IssuerUnreachable(url) from problem
        return _object(body, status)

    def _read(self, document: Mapping[str, object], issuer: str) -> Discovery:
        """Read a discovery document; the issuer in it is the one that was asked (part 4.3)."""
        if document.get("issuer") != issuer:
            raise IssuerUnreachable(issuer)
        authorization, token, keys = (self._address(document.get(each)) for each in _ADDRESSES)
        methods = document.get("token_endpoint_auth_methods_supported", ["client_secret_basic"])
        return Discovery(
            authorization=authorization,
            token=token,
            keys=keys,
            names_itself=document.get("authorization_response_iss_parameter_supported") is True,
            by_header=isinstance(methods, list) and "client_secret_basic" in methods,
        )

    def _address(self, text: object) -> str:
        try:
            return read_address(text if isinstance(text, str) else "", allow_local=self.allow_local)
        except RuleViolation as problem:
            raise IssuerUnreachable from problem


def _named(keys: Sequence[Key], key_id: str) -> Sequence[Key]:
    return [each for each in keys if not key_id or each.get("kid") == key_id]


def _object(body: bytes, status: int) -> Mapping[str, object]:
    try:
        read: object = json.loads(body) if status == HTTPStatus.OK else None
    except (ValueError, RecursionError) as problem:
        raise IssuerUnreachable from problem
    if not isinstance(read, dict):
        raise IssuerUnreachable
    return read
