"""``pixgate db``: the schema of the store."""

from __future__ import annotations

import asyncio

import click

from gateway.cli.console import Terminal, reading
from gateway.core.audit_context import RuleViolation


@click.group("db")
def database() -> None:
    """Manage the store's schema."""


@database.command()
@reading
def upgrade(terminal: Terminal) -> None:
    """Upgrade the store to this version's schema. A new store is stamped with the environment."""

    async def work() -> str | None:
        from gateway.app.commands.store import opened_store
        from gateway.cli.configuration import settings_of
        from gateway.store.schema import current as revision_of

        settings = settings_of(terminal.config)
        async with opened_store(settings, migrate=True):
            return await revision_of(settings.store_url)

    terminal.show({"revision": asyncio.run(work())})


@database.command()
@reading
def current(terminal: Terminal) -> None:
    """Show the store's schema revision, and the one that this version needs."""

    async def work() -> str | None:
        from gateway.app.commands.store import own_store
        from gateway.cli.configuration import settings_of
        from gateway.store.schema import revision_of

        async with own_store(settings_of(terminal.config)) as store:
            return await revision_of(store.database)

    from gateway.store.schema import REVISIONS

    terminal.show({"revision": asyncio.run(work()), "wanted": REVISIONS[-1]})


@database.command()
@click.argument("revision")
@click.option("--yes", is_flag=True, help="Data of the newer schema may be lost.")
@reading
def downgrade(terminal: Terminal, revision: str, *, yes: bool) -> None:
    """Downgrade the store to an older schema, in steps or at once; 'base' removes everything."""
    from gateway.store import schema

    if not yes:
        lost = "".join(f"\n  {each}" for each in schema.lost_by_downgrade(revision))
        what = f"this loses, among other data:{lost}\nAdd" if lost else "data may be lost; add"
        message = f"{what} --yes to go ahead"
        raise click.UsageError(message)

    async def work() -> str | None:
        from gateway.app.commands.store import own_store
        from gateway.cli.configuration import settings_of

        settings = settings_of(terminal.config)
        if revision not in {"base", *schema.REVISIONS}:
            known = ", ".join(("base", *schema.REVISIONS))
            problem = f"no schema {revision!r}; there are: {known}"
            raise RuleViolation(problem)
        async with own_store(settings) as store:
            await schema.is_older(store.database, settings.environment)  # or not; but it is ours
            await schema.downgrade(store.url, revision)
            return await schema.current(store.url)

    terminal.show({"revision": asyncio.run(work())})
