"""JSON into dataclasses: amounts as Decimal, times aware, digits as they came."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import cache
from types import UnionType
from typing import Any, Literal, TypeVar, cast, get_args, get_origin, get_type_hints

T = TypeVar("T")


class Unreadable(ValueError):
    """The text is no answer of the gateway."""


def parse(body: bytes) -> object:
    """
    Read JSON; a number with a point becomes a Decimal, never a float.

    Raises:
        Unreadable: it is no JSON.
    """
    try:
        return cast("object", json.loads(body, parse_float=Decimal, parse_constant=_refuse))
    except (ValueError, RecursionError) as problem:
        raise Unreadable from problem


def read(kind: type[T], document: object) -> T:
    """
    Read a document into a dataclass by the types of its fields; other fields are ignored.

    Raises:
        Unreadable: a field is missing or has another form.
    """
    if not isinstance(document, dict):
        raise Unreadable
    types = _types(cast("type", kind))
    known = {name: _value(each, document[name]) for name, each in types.items() if name in document}
    try:
        return kind(**known)
    except TypeError as problem:
        raise Unreadable from problem


@cache
def _types(kind: type) -> Mapping[str, Any]:
    hints = get_type_hints(kind)
    return {each.name: hints[each.name] for each in fields(kind)}


def _value(kind: object, found: object) -> object:
    """Read one field; an absent time is the empty text."""
    if is_dataclass(kind):
        return read(cast("type", kind), found)
    if get_origin(kind) is UnionType:
        return None if found in ("", None) else _value(get_args(kind)[0], found)
    if get_origin(kind) is tuple and isinstance(found, list):
        return tuple(_value(get_args(kind)[0], each) for each in found)
    if get_origin(kind) is Literal and found in get_args(kind):
        return found
    if get_origin(kind) is Mapping and isinstance(found, dict):
        return found
    return _plain(kind, found)


def _plain(kind: object, found: object) -> object:
    if kind is Decimal and isinstance(found, int | Decimal) and not isinstance(found, bool):
        return Decimal(found)
    if kind in _FROM_TEXT and isinstance(found, str):
        try:
            return _FROM_TEXT[kind](found)
        except (ValueError, OverflowError) as problem:
            raise Unreadable from problem
    if type(found) is not kind:
        raise Unreadable
    return found


def _instant(text: str) -> datetime:
    """Read a time of the gateway, which is UTC, with or without a zone."""
    at = datetime.fromisoformat(text)
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)


_FROM_TEXT: Mapping[object, Callable[[str], object]] = {
    datetime: _instant,
    date: date.fromisoformat,
}


def _refuse(word: str) -> object:
    raise Unreadable(word)
