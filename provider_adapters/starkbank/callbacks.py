"""
The bank's callbacks: proof, content, and missed events.

``Digital-Signature`` is ECDSA (secp256k1, SHA-256, DER in base64) over the raw body, with the
bank's key from ``GET /v2/public-key``. Source: SDK, ``event.parse``, and its published bodies.
The body names event and time, and nothing else of the request is signed: a callback may be
repeated, and is then known by its event.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

import msgspec

from gateway.banks.port.provider_callbacks import (
    ONLY_OURS,
    CallbackKind,
    Delivery,
    MissedEvent,
    Notice,
    RegisteredCallback,
)
from gateway.banks.port.providers import Page
from provider_adapters.kit.answers import Inside, ProviderAnswer, decode_body, provider_id, try_body
from provider_adapters.kit.paging import continued
from provider_adapters.kit.proofs import KeySignature, only_value
from provider_adapters.kit.public_keys import PublicKeys
from provider_adapters.starkbank import documents
from provider_adapters.starkbank.charges import reference_of
from provider_adapters.starkbank.mapping import SUBSCRIPTIONS, our_key, read, read_one

SIGNATURE: Final = "Digital-Signature"


class StarkBankProof:
    """Checks callbacks of Stark Bank; a ``CallbackProof``."""

    rests = ONLY_OURS

    def __init__(self, keys: PublicKeys) -> None:
        self._signature = KeySignature(keys)

    async def check(self, came: Delivery) -> Sequence[Notice] | None:
        """Return the notices of a callback; None when it is not proven."""
        given = only_value(came.headers, SIGNATURE)
        if not given or not await self._signature.proves(given, came.body):
            return None
        said = try_body(came.body, documents.ONE_EVENT)
        if said is None:
            return (Notice(event="", kind=CallbackKind.OTHER, subject=""),)
        return (_notice(said.inside),)


def _notice(event: documents.Event) -> Notice:
    """Read the subject of an event; it is empty for an event that names nothing of ours."""
    kind = SUBSCRIPTIONS.get(event.subscription, CallbackKind.OTHER)
    log, subject = event.log, ""
    if kind is CallbackKind.PAYOUT and log.transfer:
        subject = our_key(_tags(log.transfer)) or _text(log.transfer.external_id)
    elif kind is CallbackKind.CHARGE and log.invoice:
        subject = reference_of(_tags(log.invoice), of_invoice=True)
    elif kind is CallbackKind.CHARGE and log.deposit:
        subject = reference_of(_tags(log.deposit))
    return Notice(
        event=event.id,
        kind=kind if subject else CallbackKind.OTHER,
        subject=subject,
        account=event.workspace_id,
    )


def _tags(of: documents.Tagged) -> Sequence[str]:
    return [_text(tag) for tag in try_body(of.tags, documents.PARTS) or ()]


def _text(part: msgspec.Raw) -> str:
    return try_body(part, documents.TEXT) or ""


def registered(answer: ProviderAnswer) -> RegisteredCallback:
    """Read an address that was registered."""
    return read(answer, documents.ONE_WEBHOOK, lambda document: _registered(document.inside))


def removed(answer: ProviderAnswer) -> None:
    """Read that an address was removed; NotFound where there is none."""
    read_one(answer, documents.ONE_WEBHOOK, lambda document: document.inside)


def registrations(answer: ProviderAnswer, cursor: str | None) -> Page[RegisteredCallback]:
    """Read a page of the addresses of a workspace."""

    def shape(document: Inside[list[documents.Webhook]]) -> Page[RegisteredCallback]:
        return continued(tuple(map(_registered, document.inside)), cursor, document.cursor)

    return read(answer, documents.WEBHOOKS, shape)


def missed_events(answer: ProviderAnswer, cursor: str | None) -> Page[tuple[datetime, MissedEvent]]:
    """Read a page of events that could not be delivered, each with its moment."""

    def shape(document: Inside[list[msgspec.Raw]]) -> Page[tuple[datetime, MissedEvent]]:
        return continued(tuple(map(_missed, document.inside)), cursor, document.cursor)

    return read(answer, documents.MISSED_EVENTS, shape)


def acknowledged(answer: ProviderAnswer) -> None:
    """Read that a missed event was acknowledged; NotFound where there is none."""
    read_one(answer, documents.ANY, lambda _document: None)


def _missed(raw: msgspec.Raw) -> tuple[datetime, MissedEvent]:
    about = decode_body(bytes(raw), documents.MISSED_EVENT)
    event = try_body(raw, documents.EVENT)
    body = b'{"event": ' + bytes(raw) + b"}"
    found = MissedEvent(
        id=provider_id(about.id), notice=_notice(event or documents.Event()), body=body
    )
    return about.created.astimezone(UTC), found


def _registered(document: documents.Webhook) -> RegisteredCallback:
    return RegisteredCallback(id=provider_id(document.id), url=document.url)
