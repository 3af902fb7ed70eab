"""Amounts: whole centavos inside, reais with two decimals outside."""

from __future__ import annotations

import msgspec

MAX_CENTAVOS = 999_999_999_999_999
"""R$ 9,999,999,999,999.99: beyond it a JSON reader's float is no longer exact."""


class Money(msgspec.Struct, frozen=True, order=True):
    """
    An amount in reais, kept as centavos; negative when money is owed.

    Source: contract 2.1.
    """

    centavos: int

    def __post_init__(self) -> None:
        """Refuse what JSON could not carry exactly, and anything but an integer."""
        if type(self.centavos) is not int or abs(self.centavos) > MAX_CENTAVOS:
            problem = "an amount is a whole number of centavos within range"
            raise ValueError(problem)

    def __str__(self) -> str:
        """Write the amount in reais, with a point and exactly two decimals."""
        whole, rest = divmod(abs(self.centavos), 100)
        return f"{'-' if self.centavos < 0 else ''}{whole}.{rest:02d}"


ZERO = Money(0)
"""Nothing, and what the contract's fields say of an amount that is not known."""
