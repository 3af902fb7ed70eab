"""What events of payouts keep sealed: the port to the key, which is not in the store."""

from __future__ import annotations

from typing import Protocol


class FactSealing(Protocol):
    """Seals facts for one row each, and opens them."""

    def seal(self, content: bytes, bound_to: str) -> bytes | None:
        """Return it sealed for a row; None where there is no key, and nothing is kept."""
        ...

    def open(self, sealed: bytes, bound_to: str) -> bytes | None:
        """Return what was sealed for a row; None where it cannot be opened."""
        ...


class Keyless:
    """``FactSealing`` of whoever has no key: keeps no facts, and shows none."""

    def seal(self, _content: bytes, _bound_to: str) -> bytes | None:
        """Keep nothing."""
        return None

    def open(self, _sealed: bytes, _bound_to: str) -> bytes | None:
        """Show nothing."""
        return None


KEYLESS = Keyless()
