"""``pixgate outbox``: mail of the sandbox."""

from __future__ import annotations

import click

from gateway.cli.console import Row, Terminal, fields_of, reading, run
from gateway.domain.identity.challenges import Mail
from gateway.domain.kernel.company_scope import EVERY_COMPANY

COLUMNS = ("created_at", "to", "subject", "sent_at")


@click.command()
@click.option("--most", type=click.IntRange(1, 100), default=10, show_default=True)
@reading
def outbox(terminal: Terminal, most: int) -> None:
    """
    Show the newest messages with their links. Refused in production.

    The texts follow the table; messages that were sent have none.
    """

    async def work() -> list[Row]:
        from gateway.cli.configuration import sandbox_only, settings_of
        from gateway.cli.context import opened_identity

        sandbox_only(settings_of(terminal.config))
        async with opened_identity(terminal) as identity:
            return [
                _row(each)
                for each in await identity.context.stores.outbox.latest(most, EVERY_COMPANY)
            ]

    rows = run(work())
    terminal.show_all(rows, COLUMNS)
    if terminal.as_json:
        return
    for row in rows:
        if row["text"]:
            click.echo(f"\n--- {row['to']}: {row['subject']}\n{row['text']}")


def _row(shown: Mail) -> Row:
    return fields_of(shown, "id", "to", "subject", "text", "created_at", "sent_at")
