"""The words that a field of a shape may be, for messages: documented ones, never a caller's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

import msgspec
from msgspec import inspect


@lru_cache(maxsize=256)
def words_at(shape: type[msgspec.Struct], path: str) -> Sequence[str]:
    """Return the words of the field at a path such as ``payer.kind``; none where any text fits."""
    kinds = [inspect.type_info(shape)]
    for name in path.split("."):
        kinds = [
            each.type
            for kind in kinds
            for inner in _inside(kind)
            if isinstance(inner, inspect.StructType)
            for each in inner.fields
            if each.encode_name == name
        ]
    return tuple(word for kind in kinds for inner in _inside(kind) for word in _words(inner))


def _inside(kind: inspect.Type) -> Iterator[inspect.Type]:
    """Return a type, or the types that it is made of: of a union, of a list's items."""
    match kind:
        case inspect.UnionType():
            for each in kind.types:
                yield from _inside(each)
        case inspect.Metadata():
            yield from _inside(kind.type)
        case inspect.CollectionType():
            yield from _inside(kind.item_type)
        case inspect.DictType():
            yield from _inside(kind.value_type)
        case _:
            yield kind


def _words(kind: inspect.Type) -> Sequence[str]:
    match kind:
        case inspect.EnumType():
            found: Sequence[object] = [each.value for each in kind.cls]
        case inspect.LiteralType():
            found = kind.values
        case _:
            found = ()
    return [each for each in found if isinstance(each, str)]
