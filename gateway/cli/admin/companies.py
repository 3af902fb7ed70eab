"""``pixgate company``: the owners of accounts."""

from __future__ import annotations

import click

from gateway.cli.console import Row, Terminal, changing, instant, reading, run
from gateway.domain.accounts.accounts import Company

COLUMNS = ("id", "name", "created_at")


@click.group("company")
def company() -> None:
    """Companies, which own accounts and credentials."""


@company.command()
@click.option("--name", required=True)
@click.option("--id", "company_id", default="", help="A UUID.  [default: a new one]")
@changing
def create(terminal: Terminal, name: str, company_id: str) -> None:
    """Add a company."""

    async def work() -> Company:
        from gateway.cli.context import opened

        async with opened(terminal) as office:
            return await office.admin.companies.create(name, company_id)

    terminal.show(_row(run(work())))


@company.command("list")
@reading
def listing(terminal: Terminal) -> None:
    """List companies."""

    async def work() -> list[Row]:
        from gateway.cli.context import opened

        async with opened(terminal) as office:
            return [_row(each) for each in await office.admin.companies.list()]

    terminal.show_all(run(work()), COLUMNS)


def _row(shown: Company) -> Row:
    return {"id": shown.id, "name": shown.name, "created_at": instant(shown.created_at)}
