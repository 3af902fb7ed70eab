"""What is known already, where it might have had to be waited for."""

from __future__ import annotations

from collections.abc import Generator
from typing import Generic, TypeVar

Value = TypeVar("Value", covariant=True)


class Ready(Generic[Value]):
    """
    A value that may be awaited like one still to come.

    Who looks for this type first need not wait at all, and so needs no task.
    """

    __slots__ = ("value",)

    def __init__(self, value: Value) -> None:
        """Hold ``value``."""
        self.value = value

    def __await__(self) -> Generator[None, None, Value]:
        """Return the value at once."""
        yield from ()
        return self.value
