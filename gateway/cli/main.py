"""The command ``pixgate``."""

from __future__ import annotations

from importlib.metadata import entry_points

import click

from gateway.accounts.cli import account
from gateway.audit.cli import audit
from gateway.callbacks.cli import callbacks
from gateway.cli.config.assets import assets
from gateway.cli.config.catalogue import banks, errors, metrics, providers, routes, show_version
from gateway.cli.config.commands import config
from gateway.cli.config.database import database
from gateway.cli.identity.keys import keys
from gateway.cli.identity.users import user
from gateway.cli.serve.commands import serve, worker
from gateway.companies.cli import company
from gateway.credentials.cli import credential
from gateway.outbox.cli import outbox
from gateway.payouts.cli import payouts

GROUP = "pixgate.commands"
"""The entry-point group in which other packages name a click command each."""


class Commands(click.Group):
    """Our commands, and those of other packages, which are loaded when they are used."""

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


@click.group(
    cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
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
    user,
    keys,
    outbox,
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
):
    pixgate.add_command(_command)
