"""``pixgate company``: the owners of accounts."""

from __future__ import annotations

import click

from gateway.cli.console import Terminal, changing, fields_of, reading
from gateway.cli.store_access import in_store

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
    made = in_store(terminal, lambda office: office.admin.companies.create(name, company_id))
    terminal.show(fields_of(made, *COLUMNS))


@company.command("list")
@reading
def listing(terminal: Terminal) -> None:
    """List companies."""
    found = in_store(terminal, lambda office: office.admin.companies.list())
    terminal.show_all([fields_of(each, *COLUMNS) for each in found], COLUMNS)
