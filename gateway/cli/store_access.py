"""One act of a command in the opened store."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

from gateway.cli.console import Terminal, run

if TYPE_CHECKING:
    from gateway.app.build_identity import IdentityRoom
    from gateway.cli.context import AdminContext

Result = TypeVar("Result")


def in_store(terminal: Terminal, act: Callable[[AdminContext], Awaitable[Result]]) -> Result:
    """Open the store, act, close it; raises as ``run`` does."""
    from gateway.cli.context import opened

    async def work() -> Result:
        async with opened(terminal) as office:
            return await act(office)

    return run(work())


def in_identity(terminal: Terminal, act: Callable[[IdentityRoom], Awaitable[Result]]) -> Result:
    """Open the store with identity over it, act, close it; raises as ``run`` does."""
    from gateway.cli.context import opened_identity

    async def work() -> Result:
        async with opened_identity(terminal) as identity:
            return await act(identity)

    return run(work())
