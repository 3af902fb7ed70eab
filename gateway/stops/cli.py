"""``pixgate payouts stop``, ``stops`` and ``resume``: the kill switch, by scope."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import click

from gateway.cli.console import Row, Terminal, changing, fields_of, reading
from gateway.cli.context import CommandContext, in_store
from gateway.cli.options import DURATION
from gateway.core.company_scope import StopScope
from gateway.stops.model import Stop, StopRequest

if TYPE_CHECKING:
    from gateway.stops.service import Stops

_NONE = timedelta()
COLUMNS = ("id", "scope", "subject", "ends_at", "created_by", "reason")


@click.command()
@click.option("--provider", help="A configured provider: all its accounts.")
@click.option("--account", help="A UUID.")
@click.option("--company", help="UUID of a company: all its accounts.")
@click.option("--credential", help="A client id.")
@click.option("--reason", required=True, help="For operators who read it later.")
@click.option(
    "--until", type=click.DateTime(("%Y-%m-%dT%H:%M:%SZ",)), help="In UTC; up to a minute later."
)
@click.option("--for", "length", type=DURATION, help="Instead of --until: 30m, 2h, 7d.")
@click.option("--everything", is_flag=True, help="Every payout of the platform.")
@changing
def stop(
    terminal: Terminal,
    /,
    *,
    reason: str,
    until: datetime | None,
    length: timedelta | None,
    everything: bool,
    **scoped: str | None,
) -> None:
    """
    Refuse payouts of a provider, account, company or credential, or all; reads continue.

    Every gateway obeys within a second. A stop ends by itself, at most 30 days
    from now.
    """
    scope, subject = _one_of(scoped, everything=everything)
    if (until is None) == (length is None):
        message = "say when it ends: --until or --for, one of them"
        raise click.UsageError(message)

    def begin(office: CommandContext) -> Awaitable[Stop]:
        ends_at = until.replace(tzinfo=UTC) if until else office.acting.now() + (length or _NONE)
        wanted = StopRequest(scope=scope, subject=subject, reason=reason)
        return _stops(office).create(office.staff, wanted, ends_at)

    terminal.show(_row(in_store(terminal, begin)))


@click.command()
@reading
def stops(terminal: Terminal) -> None:
    """List the stops in force, oldest first."""
    from gateway.stops.service import stops_in_force  # noqa: PLC0415 - loads SQLAlchemy
    from gateway.store.kernel.database import Database  # noqa: PLC0415 - the same

    def found(office: CommandContext) -> Awaitable[Sequence[Stop]]:
        return stops_in_force(office.service(Database), office.acting.now())

    terminal.show_all([_row(each) for each in in_store(terminal, found)], COLUMNS)


@click.command()
@click.argument("stop_id", metavar="ID")
@changing
def resume(terminal: Terminal, stop_id: str) -> None:
    """End a stop now."""
    in_store(terminal, lambda office: _stops(office).lift(office.staff, stop_id))
    terminal.show({"id": stop_id, "state": "lifted"})


def _one_of(scoped: Mapping[str, str | None], *, everything: bool) -> tuple[StopScope, str]:
    named = [(StopScope(name), subject) for name, subject in scoped.items() if subject]
    named += [(StopScope.EVERYTHING, "")] if everything else []
    if len(named) != 1:
        message = "give exactly one of --provider, --account, --company, --credential, --everything"
        raise click.UsageError(message)
    return named[0]


def _stops(office: CommandContext) -> Stops:
    from gateway.stops.service import Stops  # noqa: PLC0415 - the same

    return office.service(Stops)


def _row(shown: Stop) -> Row:
    return fields_of(
        shown, "id", "scope", "subject", "reason", "created_by", "created_at", "ends_at"
    )
