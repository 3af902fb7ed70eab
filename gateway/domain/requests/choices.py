"""Shapes that have several forms, as descriptions of the interface tell them apart."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, TypeVar

Shape = TypeVar("Shape")


@dataclass(frozen=True, slots=True)
class Choice:
    """
    The forms of a shape; each value has exactly one.

    Attributes:
        told_by: The field whose word names the form, a constant in each; empty
            where the fields themselves tell.
    """

    forms: tuple[type, ...]
    told_by: str


_CHOICES: Final[dict[type, Choice]] = {}

CHOICES: Final[Mapping[type, Choice]] = MappingProxyType(_CHOICES)
"""Every shape that was declared with ``one_of``."""


def one_of(*forms: type, told_by: str = "") -> Callable[[type[Shape]], type[Shape]]:
    """Declare the forms of a shape: what the code builds or reads as one, and describes as many."""

    def declare(shape: type[Shape]) -> type[Shape]:
        _CHOICES[shape] = Choice(forms, told_by)
        return shape

    return declare
