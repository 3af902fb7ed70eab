"""Ids that a test draws are the same in every run; no value is met by chance."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from random import Random


class SeededIds:
    """
    Draws UUIDs from the name of the running test.

    Args:
        outside: Draws those of no test, as of a server that all tests share.
    """

    def __init__(self, outside: Callable[[], uuid.UUID]) -> None:
        self._outside = outside
        self._drawn: Random | None = None

    def begin(self, test: str) -> None:
        """Draw for this test from now on."""
        self._drawn = Random(test)

    def end(self) -> None:
        """Draw for no test."""
        self._drawn = None

    def __call__(self) -> uuid.UUID:
        """Draw one."""
        if self._drawn is None:
            return self._outside()
        return uuid.UUID(int=self._drawn.getrandbits(128), version=4)
