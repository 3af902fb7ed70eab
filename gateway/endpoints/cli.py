"""``pixgate endpoint``: where events are delivered to partners."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from gateway.cli.console import Row, Terminal, changing, fields_of, reading
from gateway.cli.context import CommandContext, every, in_store
from gateway.cli.options import DURATION
from gateway.core.schemas import instant
from gateway.core.windows import Listed, Paging
from gateway.endpoints.model import (
    Endpoint,
    EndpointChange,
    EndpointRotation,
    EndpointSearch,
    EndpointSecret,
    NewEndpoint,
)
from gateway.events.model import EventType

if TYPE_CHECKING:
    from gateway.endpoints.service import Endpoints

Command = TypeVar("Command", bound=Callable[..., Any])

COLUMNS: Final = ("id", "url", "state", "paused_because", "types", "last_ok_at", "failing_since")
_ENDPOINT = click.argument("endpoint_id", metavar="ID")


def _heard(command: Command) -> Command:
    """Give a command the options of an endpoint's types and accounts."""
    for option in (
        click.option(
            "--account", "account_ids", multiple=True, help="UUID. May be repeated. [default: all]"
        ),
        click.option(
            "--type",
            "types",
            multiple=True,
            type=click.Choice([each.value for each in EventType]),
            help="May be repeated. [default: all]",
        ),
        click.option("--url", required=True, help="https://name/path, on port 443 or 8443."),
    ):
        command = option(command)
    return command


@click.group("endpoint")
def endpoint() -> None:
    """Endpoints of partners, where events are delivered; a secret is shown once."""


@endpoint.command()
@click.option("--company", "company_id", required=True, help="A UUID.")
@_heard
@changing
def add(
    terminal: Terminal,
    company_id: str,
    url: str,
    types: Sequence[str],
    account_ids: Sequence[str],
) -> None:
    """Add an endpoint of a company, and print its secret."""
    wanted = NewEndpoint(
        company_id=company_id,
        url=url,
        types=tuple(map(EventType, types)),
        account_ids=tuple(account_ids),
    )
    _show_secret(terminal, lambda office: _endpoints(office).add(office.staff, wanted))


@endpoint.command("list")
@click.option("--company", "company_id", help="UUID of a company: only its endpoints.")
@reading
def listing(terminal: Terminal, company_id: str | None) -> None:
    """List endpoints, newest first."""

    async def listed(office: CommandContext) -> list[Row]:
        def page(paging: Paging) -> Awaitable[Listed[Endpoint]]:
            wanted = EndpointSearch(paging=paging, company_id=company_id)
            return _endpoints(office).page(office.staff, wanted)

        return [_row(each) for each in await every(page)]

    terminal.show_all(in_store(terminal, listed), COLUMNS)


@endpoint.command()
@_ENDPOINT
@reading
def show(terminal: Terminal, endpoint_id: str) -> None:
    """Show an endpoint."""
    _show(terminal, lambda office: _endpoints(office).get(office.staff, endpoint_id))


@endpoint.command()
@_ENDPOINT
@_heard
@changing
def change(
    terminal: Terminal,
    endpoint_id: str,
    url: str,
    types: Sequence[str],
    account_ids: Sequence[str],
) -> None:
    """Set address, types and accounts, in place of the former ones."""
    wanted = EndpointChange(
        url=url, types=tuple(map(EventType, types)), account_ids=tuple(account_ids)
    )
    _show(terminal, lambda office: _endpoints(office).change(office.staff, endpoint_id, wanted))


@endpoint.command()
@_ENDPOINT
@changing
def pause(terminal: Terminal, endpoint_id: str) -> None:
    """Send nothing to an endpoint until it is resumed; its events wait."""
    _show(terminal, lambda office: _endpoints(office).pause(office.staff, endpoint_id))


@endpoint.command()
@_ENDPOINT
@changing
def resume(terminal: Terminal, endpoint_id: str) -> None:
    """Let a paused endpoint go on, once it has answered a ping."""
    _show(terminal, lambda office: _endpoints(office).resume(office.staff, endpoint_id))


@endpoint.command()
@_ENDPOINT
@click.option(
    "--overlap",
    type=DURATION,
    default="24h",
    show_default=True,
    help="How long deliveries carry both signatures, at most 24h; 0s ends the former one now.",
)
@changing
def rotate(terminal: Terminal, endpoint_id: str, overlap: timedelta) -> None:
    """Make a new secret and print it."""
    wanted = EndpointRotation(int(overlap.total_seconds()))
    _show_secret(
        terminal, lambda office: _endpoints(office).rotate(office.staff, endpoint_id, wanted)
    )


@endpoint.command()
@_ENDPOINT
@changing
def remove(terminal: Terminal, endpoint_id: str) -> None:
    """Delete an endpoint; what it was not told yet is not delivered any more."""
    in_store(terminal, lambda office: _endpoints(office).remove(office.staff, endpoint_id))
    terminal.show({"id": endpoint_id, "state": "removed"})


def _endpoints(office: CommandContext) -> Endpoints:
    from gateway.endpoints.service import Endpoints  # noqa: PLC0415 - loads SQLAlchemy

    return office.service(Endpoints)


def _show(terminal: Terminal, act: Callable[[CommandContext], Awaitable[object]]) -> None:
    """Print an endpoint; commands never wait for a second person."""

    async def done(office: CommandContext) -> Row:
        found = await act(office)
        if not isinstance(found, Endpoint):
            raise TypeError(found)
        return _row(found)

    terminal.show(in_store(terminal, done))


def _show_secret(terminal: Terminal, act: Callable[[CommandContext], Awaitable[object]]) -> None:
    """Print the secret, which is not shown again; commands never wait for a second person."""
    made = in_store(terminal, act)
    if not isinstance(made, EndpointSecret):
        raise TypeError(made)
    terminal.show(
        {
            "id": made.endpoint.id,
            "url": made.endpoint.url,
            "secret": made.secret,
            "former_secret_ends_at": instant(made.endpoint.former_secret_ends_at),
        }
    )
    if not terminal.as_json:
        click.echo("The secret is not shown again.", err=True)


def _row(shown: Endpoint) -> Row:
    names = (
        *("id", "company_id", "url", "types", "account_ids", "state", "paused_because"),
        *("created_at", "created_by", "changed_at", "changed_by"),
        *("secret_made_at", "former_secret_ends_at", "last_ok_at"),
    )
    return {**fields_of(shown, *names), "failing_since": instant(shown.failing_since)}
