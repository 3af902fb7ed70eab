"""Waits of a request for news: meanwhile it holds no place, and its time is not measured."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from typing import Final

aside: Final[ContextVar[Callable[[], AbstractContextManager[None]]]] = ContextVar(
    "aside", default=nullcontext
)
"""Puts the request that is served aside for a block; of routes that may wait (``Route.waits``)."""
