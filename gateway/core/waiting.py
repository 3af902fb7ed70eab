"""Waits of a request for news: meanwhile it holds no place, and its time is not measured."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from typing import Final

unmeasured_wait: Final[ContextVar[Callable[[], AbstractContextManager[None]]]] = ContextVar(
    "unmeasured_wait", default=nullcontext
)
"""Begins the wait of the request that is served; of routes that may wait (``Route.waits``)."""
