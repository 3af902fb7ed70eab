"""Changes of a bank's JSON answers on their way: of single fields, and of the whole document."""

from __future__ import annotations

from collections.abc import Callable, Mapping
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


def field(name: str, other: object) -> Alter:
    """Return what puts a value, or what a function makes, into every field of a name."""

    def walked(value: object) -> object:
        if isinstance(value, dict):
            change = other if callable(other) else lambda _: other
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


def another(value: object) -> object:
    """Return an amount or key of the same form whose last figure differs; any other unchanged."""
    match value:
        case bool():
            return value
        case int():
            return int(_another(str(value)))
        case msgspec.Raw():
            return msgspec.Raw(_another(bytes(value).decode()).encode())
        case str() if value:
            return _another(value)
    return value


def _another(text: str) -> str:
    return text[:-1] + ("0" if text[-1] != "0" else "1")
