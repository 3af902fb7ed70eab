"""The context of a noun's command: an opened store, and the services over it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Protocol, TypeVar

import click

from gateway.cli.console import Terminal
from gateway.core.windows import LARGEST_LIMIT, Listed, Paging

if TYPE_CHECKING:
    from gateway.core.access import Staff
    from gateway.core.audit_context import AuditContext

Result = TypeVar("Result")
Service = TypeVar("Service")


class CommandContext(Protocol):
    """An opened store, the actor, and the services over it."""

    @property
    def acting(self) -> AuditContext:
        """The actor and the time."""
        ...

    @property
    def staff(self) -> Staff:
        """The actor as a staff member."""
        ...

    def service(self, kind: type[Service]) -> Service:
        """Build a service over the store."""
        ...

    def opened(self, kind: type[Service]) -> AbstractAsyncContextManager[Service]:
        """
        Build a service with resources to close, such as connections to banks.

        Raises:
            RuleViolation: a resource cannot be opened as configured.
        """
        ...


class Opening(Protocol):
    """Opens a context; click's context object, set by the whole command line."""

    def __call__(
        self, terminal: Terminal, *, any_keys: bool = False
    ) -> AbstractAsyncContextManager[CommandContext]:
        """
        Open the store for a command.

        ``any_keys`` is for commands that only read: their keys are not compared with the keys of
        live processes.

        Raises:
            RuleViolation: the store must not be used, or not with these keys.
            StoreUnavailable: the store does not answer.
        """
        ...


def in_store(
    terminal: Terminal,
    act: Callable[[CommandContext], Awaitable[Result]],
    *,
    any_keys: bool = False,
) -> Result:
    """Open the store, act, close it; raises as ``Opening`` does."""
    opening: Opening = click.get_current_context().obj

    async def work() -> Result:
        async with opening(terminal, any_keys=any_keys) as context:
            return await act(context)

    return asyncio.run(work())


async def every(page: Callable[[Paging], Awaitable[Listed[Result]]]) -> list[Result]:
    """Read a list to its end."""
    found: list[Result] = []
    number = 0
    while True:
        number += 1
        listed = await page(Paging(page=number, limit=LARGEST_LIMIT))
        found += listed.items
        if not listed.items or len(found) >= listed.total:
            return found
