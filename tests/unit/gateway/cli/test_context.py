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
        self, terminal: Terminal, *, seals: bool = True
    ) -> AsyncIterator[CommandContext]:
        self.did.append((terminal, seals))
        try:
            yield self.context
        finally:
            self.did.append("closed")


@pytest.mark.parametrize("seals", [True, False])
def test_the_act_is_done_in_the_store_that_was_opened(seals: bool):
    doors = Doors()

    async def act(context: CommandContext) -> CommandContext:
        doors.did.append("acted")
        return context

    with click.Context(click.Command("any"), obj=doors):
        done = in_store(TERMINAL, act, seals=seals)

    assert done is doors.context
    assert doors.did == [(TERMINAL, seals), "acted", "closed"]


def test_what_was_opened_is_closed_after_a_refusal():
    doors = Doors()

    async def refused(_context: CommandContext) -> None:
        problem = "not so"
        raise RuleViolation(problem)

    with (
        click.Context(click.Command("any"), obj=doors),
        pytest.raises(RuleViolation, match="not so"),
    ):
        in_store(TERMINAL, refused)

    assert doors.did == [(TERMINAL, True), "closed"]
