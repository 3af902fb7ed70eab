"""``pixgate mailbox``: mail of the sandbox."""

from __future__ import annotations

import click

from gateway.cli.console import Terminal, fields_of, reading
from gateway.cli.context import in_store
from gateway.core.company_scope import EVERY_COMPANY

COLUMNS = ("created_at", "to", "subject", "sent_at")
_FIELDS = ("id", "to", "subject", "text", "created_at", "sent_at")


@click.command()
@click.option("--most", type=click.IntRange(1, 100), default=10, show_default=True)
@reading
def mailbox(terminal: Terminal, most: int) -> None:
    """
    Show the newest messages with their links. Refused in production.

    The texts follow the table; messages that were sent have none.
    """
    from gateway.cli.configuration import sandbox_only, settings_of
    from gateway.identity.mail import SealedMailbox

    sandbox_only(settings_of(terminal.config))
    found = in_store(
        terminal, lambda office: office.service(SealedMailbox).latest(most, EVERY_COMPANY)
    )
    rows = [fields_of(each, *_FIELDS) for each in found]
    terminal.show_all(rows, COLUMNS)
    if terminal.as_json:
        return
    for row in rows:
        if row["text"]:
            click.echo(f"\n--- {row['to']}: {row['subject']}\n{row['text']}")
