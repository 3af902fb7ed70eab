"""
A bank's amounts as centavos, exactly; a third decimal or a float is no amount.

Each reader raises ``ValueError`` for an invalid amount; raised while a document is made into a
value, that is ``BadReply``. Banks write money in three forms: whole centavos, texts such as
``"10.50"``, and JSON numbers in reais. Declare the last as ``JsonNumber`` in the struct and read
it by ``from_json``: exactly, never through a float, and a text in its place is no amount.
(``Decimal`` in a struct takes texts too.)
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Final

import msgspec

from gateway.banks.port.providers import Reason
from gateway.core.money import Money, Sum

JsonNumber = msgspec.Raw
"""A number as it stands in the document; msgspec cannot read a union of it and None."""

ABSENT: Final = msgspec.Raw(b"null")
"""The default of an amount that may be absent: ``value: JsonNumber = ABSENT``."""

# More digits than an amount has: those of a sum, too.
_NUMBER: Final = re.compile(rb"-?\d{1,17}(?:\.\d{1,20})?(?:[eE][+-]?\d{1,2})?")
_REAIS: Final = re.compile(r"(-?)(\d{1,17})(?:\.(\d{1,2}))?", re.ASCII)
_SMALLEST_EXPONENT: Final = -2
"""Two decimals."""


def from_centavos(value: int) -> Money:
    """Read whole centavos: ``1050`` is R$ 10.50."""
    return Money(value)


def above_zero(value: int | Money | JsonNumber) -> Money:
    """Read an amount that moved, from centavos too; zero or less is none."""
    found = from_json(value) if isinstance(value, JsonNumber) else _money(value)
    if found.centavos <= 0:
        raise ValueError(Reason.WRONG_SHAPE)
    return found


def unsigned(value: int | Money) -> Money:
    """Read an amount that has no sign, from centavos too."""
    return Money(unsigned_sum(value).centavos)


def unsigned_sum(value: int | Sum) -> Sum:
    """Read a blocked sum like ``unsigned``; it may be larger than any amount."""
    found = Sum(value) if isinstance(value, int) else value
    if found.centavos < 0:
        raise ValueError(Reason.WRONG_SHAPE)
    return found


def from_text(reais: str) -> Money:
    """Read reais as text: ``"10.50"``, ``"10.5"`` or ``"10"``; never ``"10,50"`` or ``"1e1"``."""
    return Money(sum_from_text(reais).centavos)


def sum_from_text(reais: str) -> Sum:
    """Read a balance as ``from_text`` reads an amount; it may be larger than any amount."""
    found = _REAIS.fullmatch(reais)
    if found is None:
        raise _no_amount()
    sign, whole, decimals = found.groups(default="")
    centavos = int(whole) * 100 + int(decimals.ljust(2, "0"))
    return Sum(-centavos if sign else centavos)


def from_number(reais: Decimal) -> Money:
    """Read reais as a JSON number: ``10.5`` and ``10.500`` are one amount, ``10.505`` is none."""
    return Money(_of_number(reais).centavos)


def _of_number(reais: Decimal) -> Sum:
    if not reais.is_finite():
        raise _no_amount()
    exact = reais.normalize()
    if int(exact.as_tuple().exponent) < _SMALLEST_EXPONENT:
        raise _no_amount()
    return Sum(int(exact.scaleb(2)))


def from_json(reais: JsonNumber) -> Money:
    """Read reais exactly as in the document: ``10.5``; never ``"10.50"``, nor ``null``."""
    return Money(sum_from_json(reais).centavos)


def sum_from_json(reais: JsonNumber) -> Sum:
    """Read a balance as ``from_json`` reads an amount; it may be larger than any amount."""
    number = bytes(reais)
    if _NUMBER.fullmatch(number) is None:
        raise _no_amount()
    return _of_number(Decimal(number.decode()))


def from_json_or_none(reais: JsonNumber) -> Money | None:
    """Read reais as ``from_json`` does; None for ``null``, and for a field that is ``ABSENT``."""
    return None if bytes(reais) == b"null" else from_json(reais)


def as_text(value: Money) -> str:
    """Write reais with exactly two decimals: ``"10.50"``."""
    return str(value)


def as_number(value: Money) -> msgspec.Raw:
    """Write reais as a JSON number with exactly two decimals: ``10.50``."""
    return msgspec.Raw(str(value).encode())


def _money(value: int | Money) -> Money:
    return Money(value) if isinstance(value, int) else value


def _no_amount() -> ValueError:
    return ValueError("an amount has at most two decimals")
