"""One act of a command in the opened store."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

from gateway.cli.console import Terminal

if TYPE_CHECKING:
    from gateway.app.build_identity import IdentityRoom
    from gateway.cli.context import AdminContext

Result = TypeVar("Result")


def in_store(terminal: Terminal, act: Callable[[AdminContext], Awaitable[Result]]) -> Result:
    """Open the store, act, close it; raises as ``opened`` does."""
    from gateway.cli.context import opened

    async def work() -> Result:
        async with opened(terminal) as office:
            return await act(office)

    return asyncio.run(work())


def in_identity(terminal: Terminal, act: Callable[[IdentityRoom], Awaitable[Result]]) -> Result:
    """Open the store with identity over it, act, close it; nothing runs in the background."""
    from gateway.app.build_identity import build_identity

    async def with_identity(office: AdminContext) -> Result:
        identity = build_identity(office.kernel)
        try:
            return await act(identity)
        finally:
            await identity.close()

    return in_store(terminal, with_identity)
