"""Amounts: whole centavos inside, reais with two decimals outside."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

MAX_CENTAVOS = 999_999_999_999_999
"""R$ 9,999,999,999,999.99: beyond it a JSON reader's float is no longer exact."""

LARGEST_SUM = 2**63 - 1
"""Centavos of a balance, as many as a database counts in; our own sums have no limit."""


class Sum(msgspec.Struct, frozen=True, order=True):
    """A sum of amounts in centavos, of any size; an amount is a total too."""

    centavos: int

    def __str__(self) -> str:
        """Write it in reais, with a point and exactly two decimals."""
        whole, rest = divmod(abs(self.centavos), 100)
        return f"{'-' if self.centavos < 0 else ''}{whole}.{rest:02d}"


class Money(Sum, frozen=True, order=True):
    """
    An amount in reais, kept as centavos; negative when money is owed.

    Source: contract 2.1.
    """

    def __post_init__(self) -> None:
        """Refuse values that JSON cannot carry exactly, and anything but an integer."""
        if type(self.centavos) is not int or abs(self.centavos) > MAX_CENTAVOS:
            problem = "an amount is a whole number of centavos within range"
            raise ValueError(problem)


def sum_of(amounts: Iterable[Sum]) -> Sum:
    """Add amounts up."""
    return Sum(sum(each.centavos for each in amounts))


ZERO = Money(0)
"""Nothing, and what the contract's fields say of an amount that is not known."""
