"""Structs made of other values."""

from __future__ import annotations

from typing import TypeVar

import msgspec

Shape = TypeVar("Shape", bound=msgspec.Struct)


def struct_of(kind: type[Shape], source: object, **others: object) -> Shape:
    """Return a struct of the source's attributes of the same names, but for ``others``."""
    names = (each for each in kind.__struct_fields__ if each not in others)
    return kind(**{name: getattr(source, name) for name in names}, **others)
