"""
The sandbox bank's callbacks and their signatures.

As in Standard Webhooks: HMAC-SHA-256 over id, timestamp and body, joined by full
stops. A timestamp more than five minutes away is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from gateway.banks.port.provider_callbacks import (
    ONLY_OURS,
    CallbackKind,
    Delivery,
    MissedEvent,
    Notice,
    RegisteredCallback,
)
from gateway.core.clocks import Now
from provider_adapters.kit.answers import Inside, ProviderAnswer, provider_id, try_body
from provider_adapters.kit.proofs import Hmac, is_recent, only_value
from provider_adapters.sandbox import documents
from provider_adapters.sandbox.mapping import CHANGED, read_optional

_EVENT: Final = "Webhook-Id"
_INSTANT: Final = "Webhook-Timestamp"
_SIGNATURE: Final = "Webhook-Signature"

_VERSION: Final = "v1,"
# Signatures in a header: one for each secret in force.
_MOST: Final = 8
_KINDS: Final[Mapping[str, CallbackKind]] = {
    "transferencia": CallbackKind.PAYOUT,
    "transferencia_devolvida": CallbackKind.RETURN,
    "cobranca": CallbackKind.CHARGE,
    "devolucao": CallbackKind.REFUND,
}


class SandboxProof:
    """Checks callbacks of the sandbox bank; a ``CallbackProof``."""

    rests = ONLY_OURS

    def __init__(self, secrets: Sequence[bytes], now: Now) -> None:
        """
        Accept signatures of any of these secrets, former ones included.

        Raises:
            ProofRefused: there is none.
        """
        self._hmac = Hmac(secrets)
        self._now = now

    async def check(self, came: Delivery) -> Sequence[Notice] | None:
        """Return the notices of a callback; None when anything about it is wrong."""
        event, instant, signatures = (
            only_value(came.headers, name) for name in (_EVENT, _INSTANT, _SIGNATURE)
        )
        if not event or not is_recent(instant, self._now()):
            return None
        message = _signed(event, instant, came.body)
        # Every signature is compared: while a secret is being replaced there are several.
        given = (each.removeprefix(_VERSION) for each in signatures.split(" ")[:_MOST])
        right = [self._hmac.proves(each, message) for each in given]
        return (_notice(came.body, event),) if any(right) else None


def _signed(event: str, instant: str, body: bytes) -> bytes:
    return f"{event}.{instant}.".encode() + body


def _notice(body: bytes, event: str) -> Notice:
    """Read a body; an unknown kind is still a callback of the bank."""
    said = try_body(body, documents.ANY)
    texts = said if isinstance(said, dict) else {}
    kind = _KINDS.get(str(texts.get("tipo")), CallbackKind.OTHER)
    name = "referencia" if kind is CallbackKind.CHARGE else "chave"
    return Notice(
        event=event,
        kind=kind,
        subject=_text(texts.get(name)),
        account=_text(texts.get("conta")),
    )


def _text(found: object) -> str:
    """Return a text; empty for anything else."""
    return found if isinstance(found, str) else ""


def registered(answer: ProviderAnswer) -> RegisteredCallback:
    """Read an address that was registered or removed."""
    return read_optional(answer, documents.AVISO, _registered, CHANGED)


def registrations(answer: ProviderAnswer) -> Sequence[RegisteredCallback]:
    """Read every address of an account."""

    def shape(document: Inside[list[documents.Aviso]]) -> Sequence[RegisteredCallback]:
        return tuple(_registered(each) for each in document.inside)

    return read_optional(answer, documents.AVISOS, shape)


def missed_events(answer: ProviderAnswer) -> Sequence[MissedEvent]:
    """Read callbacks that could not be delivered; each has its body."""

    def shape(document: Inside[list[documents.EventoPerdido]]) -> Sequence[MissedEvent]:
        return tuple(
            MissedEvent(
                id=each.id, notice=_notice(bytes(each.aviso), each.id), body=bytes(each.aviso)
            )
            for each in document.inside
        )

    return read_optional(answer, documents.EVENTOS_PERDIDOS, shape)


def acknowledged(answer: ProviderAnswer) -> None:
    """Read that missed events were acknowledged."""
    read_optional(answer, documents.LIDOS, lambda document: document.inside)


def _registered(document: documents.Aviso) -> RegisteredCallback:
    return RegisteredCallback(id=provider_id(document.id), url=document.url)
