"""Calls of banks on behalf of a person: each has a turn, and costs as a request does."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from contextvars import ContextVar
from typing import Final


class NoTurn(Exception):
    """No turn came in time; the bank was not asked."""


Turn = Callable[[str], AbstractAsyncContextManager[None]]
"""Waits for a turn at the bank of that name, for one call; raises ``NoTurn``."""

turn_at_bank: Final[ContextVar[Turn | None]] = ContextVar("turn_at_bank", default=None)
"""Of the person whose request is served; None for partners, and outside of a request."""
