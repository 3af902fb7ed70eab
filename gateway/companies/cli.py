"""``pixgate company``: the owners of accounts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gateway.cli.console import Terminal, changing, fields_of, reading
from gateway.cli.context import CommandContext, in_store
from gateway.companies.model import CompanyRequest, ContactRequest

if TYPE_CHECKING:
    from gateway.companies.service import Companies

COLUMNS = ("id", "name", "created_at", "contact")


@click.group("company")
def company() -> None:
    """Companies, which own accounts and credentials."""


@company.command()
@click.option("--name", required=True)
@click.option("--id", "company_id", default="", help="A UUID.  [default: a new one]")
@click.option("--contact", default="", help="E-mail address of its people.")
@changing
def create(terminal: Terminal, name: str, company_id: str, contact: str) -> None:
    """Add a company."""
    wanted = CompanyRequest(name=name, id=company_id, contact=contact)
    made = in_store(terminal, lambda office: _companies(office).create(office.staff, wanted))
    terminal.show(fields_of(made, *COLUMNS))


@company.command()
@click.argument("company_id")
@click.argument("address")
@changing
def contact(terminal: Terminal, company_id: str, address: str) -> None:
    """Set the e-mail address of a company's people; an empty one takes it away."""
    wanted = ContactRequest(contact=address)
    made = in_store(
        terminal, lambda office: _companies(office).set_contact(office.staff, company_id, wanted)
    )
    terminal.show(fields_of(made, *COLUMNS))


@company.command("list")
@reading
def listing(terminal: Terminal) -> None:
    """List companies."""
    found = in_store(terminal, lambda office: _companies(office).every(office.staff))
    terminal.show_all([fields_of(each, *COLUMNS) for each in found], COLUMNS)


def _companies(office: CommandContext) -> Companies:
    from gateway.companies.service import Companies  # noqa: PLC0415 - loads SQLAlchemy

    return office.service(Companies)
