"""
Callbacks of API Pix: proof, content and registration.

The standard has the bank show a certificate. Without one, it sends to an address that nobody can
guess: a step of it is made from the secret of ``callbacks``, which itself stands in no address. A
body has several payments, and names the account by one of its keys or charges.
"""

from __future__ import annotations

import hmac
import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

import msgspec

from gateway.banks.port.capabilities import PortCall
from gateway.banks.port.provider_callbacks import (
    CallbackKind,
    CallbackOrder,
    CallbackSecrets,
    Delivery,
    NamedBy,
    Notice,
    RegisteredCallback,
)
from gateway.banks.port.providers import BadReply, NotFound, ProviderAccount, Reason
from gateway.core.strict import uuid_text
from provider_adapters.apipix import documents
from provider_adapters.apipix.access import Access, accepted, failure, reading
from provider_adapters.apipix.profiles import SecretAddress
from provider_adapters.apipix.secrets import ApiPixSecrets
from provider_adapters.kit.answers import ProviderAnswer, is_json, try_body
from provider_adapters.kit.outcomes import NeverSendable
from provider_adapters.kit.proofs import PeerCertificate, SharedToken
from provider_adapters.kit.requests import ProviderRequest, sending
from provider_adapters.kit.secrets import secrets_of

_PATH: Final = "/webhook/{chave}"
_BELOW: Final = "pix"
"""What banks add to the address."""
_PURPOSE: Final = b"apipix callback address"
_STEP: Final = r"/[0-9a-f]{64}"
_SENT: Final = "SOLICITACAO"
_UNREADABLE: Final = Notice(event="", kind=CallbackKind.OTHER, subject="")


class ApiPixProof:
    """Checks callbacks; a ``CallbackProof``."""

    def __init__(
        self,
        certificate: PeerCertificate | None,
        secrets: Sequence[bytes],
        address: SecretAddress,
        *,
        lists_keys: bool,
    ) -> None:
        """
        Accept callers with the bank's certificate, or with a path segment made from a secret.

        Args:
            certificate: The trusted one; None trusts no certificate.
            secrets: Those shared with the bank.
            address: Turns an address with such a step into the bank's form.
            lists_keys: It lists an account's keys: by one of them the account can be found.

        Raises:
            ProofRefused: There is neither.
        """
        steps = [step_of(secret) + address.adds for secret in secrets]
        below = frozenset({"", _BELOW}) if certificate is not None else frozenset[str]()
        self.rests = below | frozenset(steps)
        self._certificate, self._lists_keys = certificate, lists_keys
        no_secret_needed = certificate is not None and not steps
        self._steps = None if no_secret_needed else SharedToken([each.encode() for each in steps])

    async def check(self, came: Delivery) -> Sequence[Notice] | None:
        """Return the notices of a callback; none for the test at registration."""
        shown = self._certificate is not None and self._certificate.proves(came.certificate)
        known = self._steps is not None and self._steps.proves(came.rest)
        return notices_of(came.body, lists_keys=self._lists_keys) if shown or known else None


@dataclass(frozen=True, kw_only=True)
class Callbacks(Access):
    """
    Registers addresses, one for each key.

    Attributes:
        authority: The authority of the bank's certificate on callbacks; None where the bank
            is given an address with a secret step instead.
        derives: The bank is a simulator on this machine, which may use a derived secret.
    """

    authority: PeerCertificate | None
    derives: bool

    def callback_proof(self, secrets: CallbackSecrets) -> ApiPixProof:
        """Make the check of callbacks; raises ``ProofRefused`` without certificate and secret."""
        return ApiPixProof(
            self.authority,
            secrets.shared_or_derived if self.derives else secrets.shared,
            self.profile.secret_address,
            lists_keys=PortCall.LIST_KEYS in self.capabilities.calls,
        )

    async def own_keys(self, account: ProviderAccount) -> Sequence[str]:
        """Return the account's own keys: its credentials' key, and listed ones."""
        own = secrets_of(account, ApiPixSecrets).pix_key
        return (own,) if own else ()

    async def register_callback(
        self, account: ProviderAccount, order: CallbackOrder
    ) -> RegisteredCallback:
        """
        Register one address for callbacks of every key; ``PUT /webhook/{chave}``.

        It is safe to repeat.
        """
        keys = await self.own_keys(account)
        if not keys:
            raise NeverSendable
        url, headers = order.url, dict[str, str]()
        if self.authority is None:
            address = self.profile.secret_address
            url = f"{url}/{step_of(order.secret)}{address.ends}"
            headers.update(address.headers)
        for key in keys:
            asked = _with(self._webhook(account, "register_callback", key), headers)
            request = sending(asked, {"webhookUrl": url}, "PUT")
            await self.change(account, request, accepted)
            await self._check(account, key, url)
        return RegisteredCallback(id=_id_of(account, keys[0]), url=order.url)

    async def _check(self, account: ProviderAccount, key: str, url: str) -> None:
        """Read an address back: the answer to its registration does not repeat it."""
        request = self._webhook(account, "register_callback", key)
        if await self.change(account, request, _url) != url:  # once, as the whole
            raise BadReply(Reason.WRONG_SHAPE)

    async def list_callbacks(self, account: ProviderAccount) -> Sequence[RegisteredCallback]:
        """
        Read the address of each key that has one; ``GET /webhook/{chave}``.

        It is shown without the step that proves it.
        """
        found = []
        for key in await self.own_keys(account):
            request = self._webhook(account, "list_callbacks", key)
            try:
                url = await self.read(account, request, _url)
            except NotFound:
                continue
            found.append(RegisteredCallback(id=_id_of(account, key), url=self._shown(url)))
        return tuple(found)

    def _shown(self, url: str) -> str:
        """Return an address without the step that proves it."""
        ends = re.escape(self.profile.secret_address.ends)
        return re.sub(_STEP + ends + r"\Z", "", url)

    async def remove_callback(self, account: ProviderAccount, callback_id: str) -> None:
        """
        Remove the address of one key; ``DELETE /webhook/{chave}``.

        Raises:
            NotFound: Nothing is sent for it.
        """
        for key in await self.own_keys(account):
            if _id_of(account, key) == callback_id:
                asked = self._webhook(account, "remove_callback", key)
                request = sending(asked, method="DELETE")
                return await self.change(account, request, _removed)
        raise NotFound(Reason.NOT_FOUND)

    def _webhook(self, account: ProviderAccount, operation: str, key: str) -> ProviderRequest:
        path = self.profile.pix + _PATH
        return self.request(account, operation, path, chave=key)


def step_of(secret: bytes) -> str:
    """Return the secret segment of an address."""
    return hmac.digest(secret, _PURPOSE, "sha256").hex()


def notices_of(body: bytes, *, lists_keys: bool) -> Sequence[Notice]:
    """
    Read the notices of a proven body; none of a test, which is empty, or JSON without parts.

    A part that cannot be read is left out: the others are good. A body that is no JSON, and of
    which no part can be read either, is kept as a callback about nothing.

    Raises:
        BadReply: It has parts, and none can be read; the bank is to send it again.
    """
    parts = _parts(try_body(body, documents.AVISOS))
    if not parts:
        return () if not body.strip() or is_json(body) else (_UNREADABLE,)
    found = [notice for part in parts for notice in _notices(part, lists_keys=lists_keys)]
    if not found:
        raise BadReply(Reason.WRONG_SHAPE)
    return found


def _parts(document: documents.Avisos | None) -> Sequence[msgspec.Raw]:
    """Return the parts of a body; an object in the place of their list is one part."""
    if document is None:
        return ()
    is_alone = bytes(document.pix).startswith(b"{")
    return (document.pix,) if is_alone else _each(document.pix)


def _notices(part: msgspec.Raw, *, lists_keys: bool) -> Iterator[Notice]:
    """Read one payment: sent, refunded, or received; nothing of a part that names nothing."""
    document, whole = try_body(part, documents.AVISO), bytes(part)
    if document is None:
        return
    provider_key = document.envio.id if document.envio else None
    if document.tipo == _SENT or provider_key:
        event = _event(document.e2e, document.tipo, document.status)
        yield Notice(event=event, kind=CallbackKind.PAYOUT, subject=provider_key or "", part=whole)
        return
    account, named_by = _account(document, lists_keys=lists_keys)
    refunds = [try_body(each, documents.DEVOLVIDO) for each in _each(document.devolucoes)]
    named = [refund for refund in refunds if refund is not None and refund.id]
    for refund in named:
        yield Notice(
            event=_event(refund.rtr_id or refund.id, refund.status),
            kind=CallbackKind.REFUND,
            subject=refund.id,
            account=account,
            named_by=named_by,
            part=whole,
        )
    if not named and (document.e2e or document.txid):
        yield Notice(
            event=_event(document.e2e, "received"),
            kind=CallbackKind.CHARGE if document.txid else CallbackKind.OTHER,
            subject=document.txid or "",
            account=account,
            named_by=named_by,
            part=whole,
        )


def _each(parts: msgspec.Raw) -> Sequence[msgspec.Raw]:
    """Return the parts of a list; none for anything else."""
    return try_body(parts, documents.PARTES) or ()


def _event(name: str, *more: str) -> str:
    """Return the bank's id of an event; empty without one: the body identifies it then."""
    return ":".join((name, *more)) if name else ""


def _account(document: documents.Aviso, *, lists_keys: bool) -> tuple[str, NamedBy]:
    """Return the account's name: a random key, if its bank lists those, else its charge."""
    key = document.chave or ""
    if lists_keys and (_is_random(key) or not document.txid):
        return key, NamedBy.KEY
    return document.txid or "", NamedBy.CHARGE


def _is_random(key: str) -> bool:
    try:
        uuid_text(key)
    except ValueError:
        return False
    return True


def _removed(answer: ProviderAnswer) -> None:
    """Read that an address was removed: 204 and no other (API Pix 2.9.0)."""
    if answer.status != HTTPStatus.NO_CONTENT:
        raise failure(answer)


_url: Final = reading(documents.WEBHOOK_URL, lambda document: document.inside)


def _id_of(account: ProviderAccount, key: str) -> str:
    """Return an id of a key's registration without the key, which may be a tax number."""
    return str(uuid.uuid5(uuid.UUID(account.account_id), key))


def _with(request: ProviderRequest, headers: Mapping[str, str]) -> ProviderRequest:
    return msgspec.structs.replace(request, headers={**request.headers, **headers})
