"""
The bank's callbacks, proven by a token that we gave it at registration.

A callback about a transfer names it by the bank's id and repeats our key: with both, a payout
whose answer was lost can be found, which the key alone does not do at this bank.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from gateway.banks.port.provider_callbacks import ONLY_OURS, CallbackKind, Delivery, NamedBy, Notice
from provider_adapters.asaas.mapping import EVENTS
from provider_adapters.kit.answers import try_body
from provider_adapters.kit.proofs import SharedToken, only_value

TOKEN: Final = "asaas-access-token"  # noqa: S105 - the name of a header


class _Subject(msgspec.Struct, frozen=True, rename="camel"):
    id: str = ""
    external_reference: str | None = None


class _Event(msgspec.Struct, frozen=True):
    id: str = ""
    event: str = ""
    transfer: _Subject | None = None
    payment: _Subject | None = None


_EVENT: Final = msgspec.json.Decoder(_Event)


class AsaasProof:
    """Checks callbacks by their token; a ``CallbackProof``."""

    rests = ONLY_OURS

    def __init__(self, secrets: Sequence[bytes]) -> None:
        """
        Accept any of these tokens, former ones included.

        Raises:
            ProofRefused: there is none.
        """
        self._token = SharedToken(secrets)

    async def check(self, came: Delivery) -> Sequence[Notice] | None:
        """Return the notices of a callback; None for a wrong token."""
        if not self._token.proves(only_value(came.headers, TOKEN)):
            return None
        return (_notice(came.body),)


def _notice(body: bytes) -> Notice:
    """Read a body; an unreadable one is still a callback of the bank."""
    said = try_body(body, _EVENT) or _Event()
    kind = EVENTS.get(said.event, CallbackKind.OTHER)
    about = said.transfer if kind is CallbackKind.PAYOUT else said.payment
    reference = (about.external_reference if about else None) or ""
    if about is None or not reference:  # ordered elsewhere: nothing of ours
        return Notice(event=said.id, kind=CallbackKind.OTHER, subject="")
    if kind is CallbackKind.PAYOUT:
        return Notice(event=said.id, kind=kind, subject=reference, provider_id=about.id)
    return Notice(
        event=said.id, kind=kind, subject=reference, account=reference, named_by=NamedBy.CHARGE
    )
