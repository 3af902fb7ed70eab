"""Changes of single fields in a bank's JSON answers, wherever they stand in the document."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from typing import Final

from provider_adapters.testing.verify.relay import Alter

Value = Callable[[object], object]
"""Makes another value of a field's value."""

UNKNOWN_WORD: Final = "WORD_OF_THE_SUITE"
"""Which no bank uses."""


def field(name: str, change: Value) -> Alter:
    """Return what changes every field of a name; other bodies stay as they are."""

    def altered(body: bytes) -> bytes:
        try:
            document = json.loads(body, parse_float=Decimal)
        except ValueError:
            return body
        return json.dumps(_walked(document, name, change), default=_number).encode()

    return altered


def constant(value: object) -> Value:
    """Put this in a field's place."""
    return lambda _: value


def another_amount(amount: object) -> object:
    """Return an amount that is a little larger, of the same form; anything else unchanged."""
    match amount:
        case bool():
            return amount
        case int():
            return amount + 1
        case Decimal():
            return amount + Decimal("0.01")
        case str() if amount.replace(".", "", 1).isdigit():
            more = Decimal("0.01") if "." in amount else Decimal(1)
            return str(Decimal(amount) + more)
        case _:
            return amount


def another_key(key: object) -> object:
    """Return a key of the same form that is not ours; anything else unchanged."""
    if not isinstance(key, str) or not key:
        return key
    return key[:-1] + ("0" if key[-1] != "0" else "1")


def _walked(document: object, name: str, change: Value) -> object:
    if isinstance(document, dict):
        return {
            key: change(value) if key == name else _walked(value, name, change)
            for key, value in document.items()
        }
    if isinstance(document, list):
        return [_walked(value, name, change) for value in document]
    return document


def _number(value: object) -> object:
    """Write an amount as the number that it is; two decimals survive a float."""
    if isinstance(value, Decimal):
        return float(value)
    message = f"{type(value).__name__} is no JSON"
    raise TypeError(message)
