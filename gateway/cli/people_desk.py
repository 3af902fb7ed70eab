"""What commands about people work on: the store, and identity over it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from gateway.app.build_identity import People, assemble_people
from gateway.cli.console import Terminal
from gateway.cli.context import opened


@asynccontextmanager
async def opened_people(terminal: Terminal) -> AsyncIterator[People]:
    """Open the store and identity over it; nothing runs in the background. Raises as ``opened``."""
    async with opened(terminal) as office:
        people = assemble_people(office.settings, office.store, office.keys, office.acting.now)
        try:
            yield people
        finally:
            await people.close()
