"""``pixgate company``: the owners of accounts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gateway.cli.console import Terminal, changing, fields_of, reading
from gateway.cli.store_access import in_store
from gateway.companies.model import CompanyRequest
from gateway.core.access import Staff

if TYPE_CHECKING:
    from gateway.cli.context import AdminContext
    from gateway.companies.service import Companies

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
    wanted = CompanyRequest(name=name, id=company_id)
    made = in_store(
        terminal, lambda office: _companies(office).create(Staff(office.acting), wanted)
    )
    terminal.show(fields_of(made, *COLUMNS))


@company.command("list")
@reading
def listing(terminal: Terminal) -> None:
    """List companies."""
    found = in_store(terminal, lambda office: _companies(office).every(Staff(office.acting)))
    terminal.show_all([fields_of(each, *COLUMNS) for each in found], COLUMNS)


def _companies(office: AdminContext) -> Companies:
    from gateway.app.build_backoffice import build_companies  # noqa: PLC0415 - loads SQLAlchemy

    return build_companies(office.kernel)
