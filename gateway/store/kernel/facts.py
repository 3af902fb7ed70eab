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
