"""Changes of a bank's JSON answers on their way: of single fields, and of the whole document."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Final

import msgspec

from provider_adapters.testing.verify.relay import Alter

Value = Callable[[object], object]
"""Makes another value of a field's value; a number with a fraction comes as its raw text."""

UNKNOWN_WORD: Final = "WORD_OF_THE_SUITE"
"""Which no bank uses."""
_EXACT: Final[msgspec.json.Decoder[object]] = msgspec.json.Decoder(
    float_hook=lambda number: msgspec.Raw(number.encode())
)


def document(change: Value) -> Alter:
    """Return what puts another document in an answer's place; a body that is no JSON stays."""

    def altered(body: bytes) -> bytes:
        try:
            return msgspec.json.encode(change(_EXACT.decode(body)))
        except (msgspec.DecodeError, ValueError):
            return body

    return altered


def field(name: str, change: Value) -> Alter:
    """Return what changes every field of a name, wherever it stands in the document."""

    def walked(value: object) -> object:
        if isinstance(value, dict):
            return {key: change(v) if key == name else walked(v) for key, v in value.items()}
        return [walked(each) for each in value] if isinstance(value, list) else value

    return document(walked)


def leaves(change: Value, more: Mapping[str, object] | None = None) -> Alter:
    """Return what changes all but full lists and objects, and adds fields to every object."""

    def walked(value: object) -> object:
        if isinstance(value, dict) and value:
            return {**{key: walked(each) for key, each in value.items()}, **(more or {})}
        if isinstance(value, list) and value:
            return [walked(each) for each in value]
        return change(value)

    return document(walked)


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
        case msgspec.Raw():
            return msgspec.Raw(str(Decimal(bytes(amount).decode()) + Decimal("0.01")).encode())
        case str() if amount.replace(".", "", 1).isdigit():
            return str(Decimal(amount) + (Decimal("0.01") if "." in amount else 1))
        case _:
            return amount


def another_key(key: object) -> object:
    """Return a key of the same form that is not ours; anything else unchanged."""
    if not isinstance(key, str) or not key:
        return key
    return key[:-1] + ("0" if key[-1] != "0" else "1")
