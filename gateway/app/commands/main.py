"""The command ``pixgate``."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import entry_points

import click

from gateway.accounts.cli import account
from gateway.app.commands.assets import assets
from gateway.app.commands.callbacks import callbacks
from gateway.app.commands.catalogue import banks, errors, metrics, providers, routes, show_version
from gateway.app.commands.cells import cells
from gateway.app.commands.config import config
from gateway.app.commands.database import database
from gateway.app.commands.key_rotation import promote, stage, status
from gateway.app.commands.serve import serve, worker
from gateway.archive.cli import archive
from gateway.audit.cli import audit
from gateway.cli.console import Terminal
from gateway.cli.context import CommandContext
from gateway.companies.cli import company
from gateway.credentials.cli import credential
from gateway.deliveries.cli import delivery, ping
from gateway.endpoints.cli import endpoint
from gateway.identity.cli import keys, user
from gateway.mailbox.cli import mailbox
from gateway.notifications.cli import chat
from gateway.payouts.cli import payouts
from gateway.reviews.cli import review, unresolved
from gateway.single_sign_on.cli import single_sign_on
from gateway.stops.cli import resume, stop, stops

GROUP = "pixgate.commands"
"""The entry-point group in which other packages name a click command each."""


class Commands(click.Group):
    """Our commands, and commands of other packages, which are loaded on use."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return every name."""
        others = {point.name for point in entry_points(group=GROUP)}
        return sorted({*super().list_commands(ctx), *others})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command; ours first."""
        ours = super().get_command(ctx, cmd_name)
        if ours is not None:
            return ours
        for point in entry_points(group=GROUP, name=cmd_name):
            loaded: click.Command = point.load()
            return loaded
        return None


@asynccontextmanager
async def _opened(terminal: Terminal, *, any_keys: bool = False) -> AsyncIterator[CommandContext]:
    """Open the context of a noun's command."""
    from gateway.app.commands.context import opened

    async with opened(terminal, any_keys=any_keys) as context:
        yield context


@click.group(
    cls=Commands,
    context_settings={
        "help_option_names": ["-h", "--help"],
        "max_content_width": 100,
        "obj": _opened,
    },
)
@click.version_option(package_name="pixgate", message="%(version)s")
def pixgate() -> None:
    """Run and operate a gateway in front of Brazilian PIX banks."""


for _command in (
    serve,
    worker,
    company,
    account,
    credential,
    endpoint,
    delivery,
    chat,
    user,
    single_sign_on,
    keys,
    mailbox,
    audit,
    payouts,
    database,
    config,
    assets,
    show_version,
    routes,
    errors,
    metrics,
    providers,
    banks,
    callbacks,
    cells,
):
    pixgate.add_command(_command)

endpoint.add_command(ping)

for _command in (status, stage, promote):
    keys.add_command(_command)

for _command in (unresolved, review, stop, stops, resume, archive):
    payouts.add_command(_command)
