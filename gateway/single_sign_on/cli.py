"""``pixgate single-sign-on``: where the people of a company sign in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, TextIO

import click

from gateway.cli.console import Row, Terminal, changing, reading
from gateway.cli.context import CommandContext, in_store
from gateway.core.rights import Role
from gateway.single_sign_on.model import IdentityProvider, NewIdentityProvider, RoleValue

if TYPE_CHECKING:
    from gateway.single_sign_on.service import IdentityProviders

_COMPANY: Final = click.argument("company_id", metavar="COMPANY")


@click.group("single-sign-on")
def single_sign_on() -> None:
    """Identity providers of companies, where their people sign in."""


@single_sign_on.command()
@_COMPANY
@reading
def show(terminal: Terminal, company_id: str) -> None:
    """Show the identity provider of a company."""
    found = in_store(terminal, lambda office: _providers(office).get(office.staff, company_id))
    terminal.show(_row(found))


@single_sign_on.command("set")
@_COMPANY
@click.option("--short-name", required=True, help="What people type to find their sign-in.")
@click.option(
    "--domain", "domains", multiple=True, required=True, help="Of e-mail. May be repeated."
)
@click.option("--issuer", required=True, help="The iss of its tokens, https://name.")
@click.option("--client-id", required=True)
@click.option("--scope", "scopes", multiple=True, help="Beside openid, email and profile.")
@click.option("--claim", required=True, help="The claim that gives roles.")
@click.option(
    "--role",
    "mapping",
    multiple=True,
    required=True,
    help="VALUE=ROLE: what a value of the claim gives. May be repeated.",
)
@click.option("--acr", "factor_acr", multiple=True, help="Proves a second factor.")
@click.option("--amr", "factor_amr", multiple=True, help="Proves a second factor.")
@click.option("--break-glass", multiple=True, help="Id or e-mail of who may sign in without it.")
@click.option(
    "--secret-file",
    type=click.File("r"),
    help="Holds the client's secret; - is standard input. [default: the present one stays]",
)
@changing
def set_provider(  # noqa: PLR0913, PLR0917 - all that a provider is
    terminal: Terminal,
    company_id: str,
    short_name: str,
    domains: Sequence[str],
    issuer: str,
    client_id: str,
    scopes: Sequence[str],
    claim: str,
    mapping: Sequence[str],
    factor_acr: Sequence[str],
    factor_amr: Sequence[str],
    break_glass: Sequence[str],
    secret_file: TextIO | None,
) -> None:
    """Set the identity provider of a company, in place of a former one."""
    wanted = NewIdentityProvider(
        short_name=short_name,
        domains=tuple(domains),
        issuer=issuer,
        client_id=client_id,
        client_secret=secret_file.read().strip() if secret_file is not None else "",
        scopes=tuple(scopes),
        claim=claim,
        mapping=tuple(map(_pair, mapping)),
        factor_acr=tuple(factor_acr),
        factor_amr=tuple(factor_amr),
        break_glass=tuple(break_glass),
    )

    async def done(office: CommandContext) -> Row:
        return _row(await _providers(office).set(office.staff, company_id, wanted))

    terminal.show(in_store(terminal, done))


@single_sign_on.command()
@_COMPANY
@changing
def remove(terminal: Terminal, company_id: str) -> None:
    """Remove the identity provider of a company; who came by it is disabled."""

    async def done(office: CommandContext) -> Row:
        return _row(await _providers(office).remove(office.staff, company_id))

    terminal.show({**in_store(terminal, done), "state": "removed"})


def _providers(office: CommandContext) -> IdentityProviders:
    from gateway.single_sign_on.service import (  # noqa: PLC0415 - loads SQLAlchemy
        IdentityProviders,
    )

    return office.service(IdentityProviders)


def _pair(text: str) -> RoleValue:
    """Read ``value=role``; the value itself may have an equals sign."""
    value, _, role = text.rpartition("=")
    if not value or role not in set(Role):
        message = f"not VALUE=ROLE: {text!r}"
        raise click.BadParameter(message)
    return RoleValue(value, Role(role))


def _row(found: object) -> Row:
    """Return the fields to print; commands never wait for a second person."""
    if not isinstance(found, IdentityProvider):
        raise TypeError(found)
    shown = found.document()
    lists = {name: " ".join(value) for name, value in shown.items() if isinstance(value, list)}
    return {
        "company_id": found.company_id,
        **{name: str(value) for name, value in shown.items()},
        **lists,
        "mapping": "; ".join(shown["mapping"]),
        "changed_by": found.changed_by,
    }
