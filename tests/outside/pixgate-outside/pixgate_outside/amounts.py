"""The bank's amounts: texts in reais with two decimals, ``"10.50"``."""

from __future__ import annotations

from typing import Final

from gateway.core.money import Money
from provider_adapters.kit.money import as_text, from_text

Amount = str
"""As the bank's documents have it."""
OptionalAmount = str | None
ABSENT: Final = None
"""The default of one that may be absent."""


def read(amount: Amount) -> Money:
    """Read an amount; raises ``ValueError`` for what is none, such as a third decimal."""
    return from_text(amount)


def read_optional(amount: OptionalAmount) -> Money | None:
    """Read an amount that may be absent."""
    return None if amount is None else read(amount)


def write(value: Money) -> object:
    """Write an amount as the bank reads it."""
    return as_text(value)
