"""One act of a command in the store that the command line opens."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import cast

import click
import pytest

from gateway.cli.console import Terminal
from gateway.cli.context import CommandContext, in_store
from gateway.core.audit_context import RuleViolation

TERMINAL = Terminal(config=Path("config.yaml"), as_json=False)


class Doors:
    """Opens one context, and keeps what was asked of it."""

    def __init__(self) -> None:
        self.context = cast("CommandContext", object())
        self.did: list[object] = []

    @asynccontextmanager
    async def __call__(
        self, terminal: Terminal, *, any_keys: bool = False
    ) -> AsyncIterator[CommandContext]:
        self.did.append((terminal, any_keys))
        try:
            yield self.context
        finally:
            self.did.append("closed")


@pytest.mark.parametrize("any_keys", [True, False])
def test_a_command_runs_in_the_opened_store_and_closes_it(any_keys: bool):
    doors = Doors()

    async def act(context: CommandContext) -> CommandContext:
        doors.did.append("acted")
        return context

    with click.Context(click.Command("any"), obj=doors):
        done = in_store(TERMINAL, act, any_keys=any_keys)

    assert done is doors.context
    assert doors.did == [(TERMINAL, any_keys), "acted", "closed"]


def test_opened_resources_are_closed_after_a_refusal():
    doors = Doors()

    async def refused(_context: CommandContext) -> None:
        problem = "not so"
        raise RuleViolation(problem)

    with (
        click.Context(click.Command("any"), obj=doors),
        pytest.raises(RuleViolation, match="not so"),
    ):
        in_store(TERMINAL, refused)

    assert doors.did == [(TERMINAL, False), "closed"]
