"""How callbacks are proven: a signature with the bank's key pair (ECDSA with SHA-256)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec
from gateway.banks.port.capabilities import ProofKind
from gateway.banks.port.provider_callbacks import ONLY_OURS, CallbackSecrets, Delivery, Notice
from gateway.core.clocks import Now
from provider_adapters.kit.proofs import KeySignature, only_value
from provider_adapters.kit.public_keys import GivenKeys

from pixgate_outside.notices import read_notices

KIND: Final = ProofKind.ECDSA
SIGNATURE: Final = "X-Bank-Signature"
"""TODO: the bank's header, and what it signs; here the body, as it came."""


class ProofSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """
    What the proof takes from the settings.

    Attributes:
        public_keys: The bank's, in PEM. A bank that publishes them at an address is
            read by ``FetchedKeys`` of the kit instead.
    """

    public_keys: tuple[str, ...]


class Proof:
    """Checks callbacks; a ``CallbackProof``."""

    rests = ONLY_OURS

    def __init__(self, settings: ProofSettings, _secrets: CallbackSecrets, _now: Now) -> None:
        """Read the keys; raises ``ProofRefused`` for what is none."""
        self._signature = KeySignature(GivenKeys(settings.public_keys))

    async def check(self, came: Delivery) -> Sequence[Notice] | None:
        """Return what a callback says; None when anything about it is wrong."""
        signature = only_value(came.headers, SIGNATURE)
        if not await self._signature.proves(signature, came.body):
            return None
        return read_notices(came.body)
