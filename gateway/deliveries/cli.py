"""``pixgate delivery``: deliveries to partners' endpoints; ``pixgate endpoint ping``."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

import click
from msgspec.structs import asdict

from gateway.cli.console import Row, Terminal, changing, fields_of, reading
from gateway.cli.context import CommandContext, in_store
from gateway.core.windows import LARGEST_LIMIT, Paging
from gateway.deliveries.model import (
    DeliveriesAgain,
    DeliveryDetail,
    DeliveryDocument,
    DeliverySearch,
    DeliveryState,
)

if TYPE_CHECKING:
    from gateway.deliveries.service import Deliveries

COLUMNS: Final = ("id", "endpoint_id", "type", "at", "state", "tries", "next_at")
_TRIES: Final = ("number", "at", "status", "failure", "ms")
_INSTANT: Final = click.DateTime(("%Y-%m-%dT%H:%M:%SZ",))
_DELIVERY = click.argument("delivery_id", metavar="ID")


@click.group()
def delivery() -> None:
    """Deliveries of events to partners' endpoints."""


@delivery.command("list")
@click.option("--endpoint", "endpoint_id", help="UUID: only those to it.")
@click.option("--company", "company_id", help="UUID: only those of it.")
@click.option("--account", "account_id", help="UUID: only those of it.")
@click.option("--event", "event_id", help="Only those of this event.")
@click.option("--state", type=click.Choice([each.value for each in DeliveryState]))
@click.option("--page", default=1, show_default=True, type=click.IntRange(1))
@reading
def listing(  # noqa: PLR0913 - a filter each
    terminal: Terminal,
    /,
    *,
    endpoint_id: str | None,
    company_id: str | None,
    account_id: str | None,
    event_id: str | None,
    state: str | None,
    page: int,
) -> None:
    """List deliveries, the newest event first, a hundred on a page."""
    wanted = DeliverySearch(
        paging=Paging(page=page, limit=LARGEST_LIMIT),
        endpoint_id=endpoint_id,
        company_id=company_id,
        account_id=account_id,
        event_id=event_id,
        state=None if state is None else DeliveryState(state),
    )
    found = in_store(terminal, lambda office: _deliveries(office).page(office.staff, wanted))
    terminal.show_all([_row(each) for each in found.items], COLUMNS)


@delivery.command()
@_DELIVERY
@reading
def show(terminal: Terminal, delivery_id: str) -> None:
    """Show a delivery: what is sent, and each try."""

    def read(office: CommandContext) -> Awaitable[DeliveryDetail]:
        return _deliveries(office).get(office.staff, delivery_id)

    found = in_store(terminal, read)
    if terminal.as_json:
        tries = [fields_of(each, *_TRIES) for each in found.attempts]
        terminal.show({**_row(found), "body": found.body, "attempts": tries})
        return
    terminal.show({**_row(found), "body": found.body})
    terminal.show_all([fields_of(each, *_TRIES) for each in found.attempts], _TRIES)


@delivery.command()
@click.argument("delivery_id", metavar="[ID]", required=False)
@click.option("--endpoint", "endpoint_id", help="UUID: instead of ID, its deliveries of a time.")
@click.option("--since", type=_INSTANT, help="With --endpoint: of events since then, in UTC.")
@click.option("--until", type=_INSTANT, help="With --endpoint: of events before then, in UTC.")
@click.option("--delivered", is_flag=True, help="With --endpoint: the delivered ones, too.")
@changing
def again(  # noqa: PLR0913 - an option each
    terminal: Terminal,
    /,
    *,
    delivery_id: str | None,
    endpoint_id: str | None,
    since: datetime | None,
    until: datetime | None,
    delivered: bool,
) -> None:
    """Send one delivery once more, or those of an endpoint that were given up in a time."""
    if delivery_id is not None and endpoint_id is None:
        known = delivery_id
        _show(terminal, lambda office: _deliveries(office).again(office.staff, known))
        return
    if delivery_id is not None or endpoint_id is None or since is None or until is None:
        message = "give ID, or --endpoint with --since and --until"
        raise click.UsageError(message)
    wanted = DeliveriesAgain(
        since=since.replace(tzinfo=UTC), until=until.replace(tzinfo=UTC), delivered=delivered
    )
    to = endpoint_id
    done = in_store(
        terminal, lambda office: _deliveries(office).all_again(office.staff, to, wanted)
    )
    terminal.show(asdict(done))


@click.command()
@click.argument("endpoint_id", metavar="ID")
@changing
def ping(terminal: Terminal, endpoint_id: str) -> None:
    """Send a ping to an endpoint; a pending one is active once it has answered."""
    _show(terminal, lambda office: _deliveries(office).ping(office.staff, endpoint_id))


def _deliveries(office: CommandContext) -> Deliveries:
    from gateway.deliveries.service import Deliveries  # noqa: PLC0415 - loads SQLAlchemy

    return office.service(Deliveries)


def _show(terminal: Terminal, act: Callable[[CommandContext], Awaitable[DeliveryDocument]]) -> None:
    terminal.show(_row(in_store(terminal, act)))


def _row(shown: DeliveryDocument) -> Row:
    return fields_of(shown, *DeliveryDocument.__struct_fields__)
