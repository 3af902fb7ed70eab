"""What a noun's command works in: an opened store, and the services over it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Protocol, TypeVar

import click

from gateway.cli.console import Terminal

if TYPE_CHECKING:
    from gateway.core.access import Staff
    from gateway.core.audit_context import AuditContext

Result = TypeVar("Result")
Service = TypeVar("Service")


class CommandContext(Protocol):
    """An opened store, who acts there, and the services over it."""

    @property
    def acting(self) -> AuditContext:
        """Who typed the command, and when it is."""
        ...

    @property
    def staff(self) -> Staff:
        """Who typed the command, as services know them."""
        ...

    def service(self, kind: type[Service]) -> Service:
        """Make a service over the store."""
        ...

    def opened(self, kind: type[Service]) -> AbstractAsyncContextManager[Service]:
        """
        Make a service that has something of its own to close, such as connections to banks.

        Raises:
            RuleViolation: what it needs cannot be opened as it is configured.
        """
        ...


class Opening(Protocol):
    """Opens a context; the object of click's context, put there by the whole command line."""

    def __call__(
        self, terminal: Terminal, *, seals: bool = True
    ) -> AbstractAsyncContextManager[CommandContext]:
        """
        Open the store as commands need it; without ``seals``, to look at the audit log as it is.

        Raises:
            RuleViolation: it must not be used, or not with these keys.
            StoreUnavailable: it does not answer.
        """
        ...


def in_store(
    terminal: Terminal, act: Callable[[CommandContext], Awaitable[Result]], *, seals: bool = True
) -> Result:
    """Open the store, act, close it; raises as ``Opening`` does."""
    opening: Opening = click.get_current_context().obj

    async def work() -> Result:
        async with opening(terminal, seals=seals) as context:
            return await act(context)

    return asyncio.run(work())
