"""
Woovi's callbacks: proof and content.

``x-webhook-signature`` is RSA with SHA-256 over the very body, in base64, by a key that the bank
shows to everybody; any key of its list is right (docs/webhook/seguranca/webhook-public-keys.md).
``X-OpenPix-Signature`` is HMAC-SHA-1 with the secret of one registered address, in base64 (docs/
webhook/seguranca/webhook-hmac.mdx); it is taken where such a secret is configured. The digest is
the bank's choice: no way is known to forge an HMAC with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from gateway.banks.port.provider_callbacks import (
    ONLY_OURS,
    CallbackKind,
    CallbackSecrets,
    Delivery,
    NamedBy,
    Notice,
    RegisteredCallback,
)
from gateway.banks.port.providers import NotFound, Reason
from provider_adapters.kit.answers import ProviderAnswer, is_json, provider_id, try_body
from provider_adapters.kit.proofs import Hmac, KeySignature, only_value
from provider_adapters.kit.public_keys import PublicKeys
from provider_adapters.woovi import documents, mapping
from provider_adapters.woovi.mapping import CREATED, read

SIGNATURE: Final = "x-webhook-signature"
HMAC_SIGNATURE: Final = "X-OpenPix-Signature"
# A charge's payload holds the charge twice, which stays far below.
_ANY: Final = msgspec.json.Decoder(float_hook=str)  # no number is read, one may be out of range
_NOTHING: Final[Mapping[str, Any]] = {}


class WooviProof:
    """Checks callbacks of the bank; a ``CallbackProof``."""

    rests = ONLY_OURS

    def __init__(self, keys: PublicKeys, secrets: CallbackSecrets) -> None:
        """Accept signatures of the bank's keys, and of secrets where some are configured."""
        self._signed = KeySignature(keys)
        self._hmac = Hmac(secrets.shared, digest="sha1") if secrets.shared else None

    async def check(self, came: Delivery) -> Sequence[Notice] | None:
        """
        Return the notices of a callback; None when it is not proven.

        Raises:
            ProviderError: the bank's keys could not be read.
        """
        if not self._has_hmac(came) and not await self._is_signed(came):
            return None
        return _notices(came.body)

    def _has_hmac(self, came: Delivery) -> bool:
        given = only_value(came.headers, HMAC_SIGNATURE)
        return self._hmac is not None and bool(given) and self._hmac.proves(given, came.body)

    async def _is_signed(self, came: Delivery) -> bool:
        given = only_value(came.headers, SIGNATURE)
        return bool(given) and await self._signed.proves(given, came.body)


def _notices(body: bytes) -> Sequence[Notice]:
    """
    Read a body; a test of a new address speaks of nothing (docs/webhook/webhook-test.md).

    Deliveries of one event are alike, and the bank gives them no id.
    """
    said = try_body(body, _ANY)
    if said is None:
        return (Notice(event="", kind=CallbackKind.OTHER, subject=""),)
    event = said if isinstance(said, dict) else {}
    if event.keys() <= {"data_criacao", "evento", "event"} and is_json(body):
        return ()
    return (_notice(event),)


def _notice(event: Mapping[str, Any]) -> Notice:
    """Read the subject of an event; an unknown kind is still a callback of the bank."""
    payment, charge = _part(event, "payment"), _part(event, "charge")
    kind = mapping.EVENTS.get(_text(event.get("event")), CallbackKind.OTHER)
    if kind is CallbackKind.PAYOUT:
        return Notice(event="", kind=kind, subject=_text(payment.get("correlationID")))
    reference = _text(charge.get("correlationID"))
    if reference:  # a transaction of a charge tells of the charge, whatever its event
        kind = CallbackKind.CHARGE
        named = NamedBy.CHARGE
        return Notice(event="", kind=kind, subject=reference, account=reference, named_by=named)
    account = _text(_part(event, "account").get("id"))
    return Notice(event="", kind=kind, subject="", account=account)


def _part(event: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return an object of an event; empty where there is none."""
    found = event.get(name)
    return found if isinstance(found, dict) else _NOTHING


def _text(found: object) -> str:
    """Return a text; empty for anything else."""
    return found if isinstance(found, str) else ""


def registered(answer: ProviderAnswer) -> RegisteredCallback:
    """Read an address that was registered."""
    return read(answer, documents.WEBHOOK, lambda said: _registered(said.inside), CREATED)


def registrations(answer: ProviderAnswer) -> Sequence[RegisteredCallback]:
    """Read every registration: an address is registered once for each event."""
    return read(
        answer, documents.WEBHOOKS, lambda said: tuple(_registered(each) for each in said.inside)
    )


def addresses(found: Sequence[RegisteredCallback]) -> Sequence[RegisteredCallback]:
    """Return each address once, under the id of its first registration."""
    return tuple({each.url: each for each in reversed(found)}.values())[::-1]


def of_same_address(
    found: Sequence[RegisteredCallback], callback_id: str
) -> Sequence[RegisteredCallback]:
    """
    Return the registrations of an address, the exact one last.

    Raises:
        NotFound: Nothing is registered under this id.
    """
    urls = {each.url for each in found if each.id == callback_id}
    if not urls:
        raise NotFound(Reason.NOT_FOUND)
    return sorted(
        (each for each in found if each.url in urls), key=lambda each: each.id == callback_id
    )


def events_of(answer: ProviderAnswer, url: str) -> Mapping[str, RegisteredCallback]:
    """Read which events an address listens to."""
    return read(
        answer,
        documents.WEBHOOKS,
        lambda said: {each.event: _registered(each) for each in said.inside if each.url == url},
    )


def _registered(webhook: documents.Webhook) -> RegisteredCallback:
    return RegisteredCallback(id=provider_id(webhook.id), url=webhook.url)
