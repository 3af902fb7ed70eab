"""The key of payouts' events: what was said of a payout is sealed before the store has it."""

from __future__ import annotations

from typing import Final

from gateway.security.keys import Derivation
from gateway.security.sealing import SealBroken, Sealer

_LABEL: Final = "payout events"
"""What the key is derived for: so many rows are sealed under it that nothing else should be."""


class EventSealing:
    """Seals facts under a key of their own; what cannot be opened any more is not shown."""

    def __init__(self, derivation: Derivation) -> None:
        """Derive it from every sealing key; those that are retired still open what they sealed."""
        derived = derivation.keys(_LABEL)
        self._sealer = Sealer(derived, next(iter(derived)))

    def seal(self, content: bytes, bound_to: str) -> bytes | None:
        """Seal for a row."""
        return self._sealer.seal_bytes(content, bound_to)

    def open(self, sealed: bytes, bound_to: str) -> bytes | None:
        """Open what was sealed for a row; None where it was not, or the key is gone."""
        try:
            return self._sealer.open_bytes(sealed, bound_to)
        except SealBroken:
            return None
