"""``pixgate sandbox``: events and faults at the sandbox bank."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, unquote

import click

from gateway.cli.console import Terminal, reading, show_json
from gateway.cli.options import REAIS
from gateway.core.money import Money
from gateway.sandbox.model import FAULTS, OPERATIONS
from provider_adapters.testing import simulators

if TYPE_CHECKING:
    from provider_adapters.testing.bank.control_client import Reply


@click.group("sandbox")
@click.option(
    "--bank",
    type=click.Choice(simulators.names()),
    help="Another simulated bank, that `pixgate bank` runs.",
)
@click.pass_context
def sandbox(context: click.Context, bank: str | None) -> None:
    """
    Control the sandbox bank, or another simulated bank. Refused in production.

    ACCOUNT is the bank's id of an account; for the demo's accounts it is the
    same as ours. An amount is always `--value 10.50`, in reais.
    """
    context.obj = bank


@sandbox.command()
@click.argument("reference")
@click.option("--account", help="Needed if several accounts have a charge of this reference.")
@click.option("--value", type=REAIS, help="For a charge of an open amount.")
@reading
def pay(terminal: Terminal, reference: str, account: str | None, value: Money | None) -> None:
    """Pay a charge, as its payer would."""
    query = {"account": account} if account else None
    path = ("charges", reference, "pay")
    terminal.show(_told(terminal, "POST", path, {"value": value}, query))


@sandbox.command("top-up")
@click.argument("account")
@click.option("--value", type=REAIS, required=True, help="Reais.")
@reading
def top_up(terminal: Terminal, account: str, value: Money) -> None:
    """Pay money into an account."""
    terminal.show(_told(terminal, "POST", ("accounts", account, "top-up"), {"value": value}))


@sandbox.command()
@click.argument("which")
@click.option("--seconds", type=click.IntRange(1, 3600), default=3600, show_default=True)
@click.option("--next", "is_next", is_flag=True, help="WHICH is an account: hold its next payout.")
@reading
def hold(terminal: Terminal, which: str, *, seconds: int, is_next: bool) -> None:
    """Hold a payout for precautionary analysis; WHICH is its provider key or the bank's id."""
    path = ("accounts" if is_next else "payouts", which, "hold")
    terminal.show(_told(terminal, "POST", path, {"seconds": seconds}))


@sandbox.command()
@click.argument("payout")
@click.option("--refuse", is_flag=True, help="Let it fail.")
@reading
def release(terminal: Terminal, payout: str, *, refuse: bool) -> None:
    """End a hold before its deadline."""
    terminal.show(_told(terminal, "POST", ("payouts", payout, "release"), {"refuse": refuse}))


@sandbox.command("return")
@click.argument("payout")
@click.option("--value", type=REAIS, help="Without it, in full.")
@reading
def return_(terminal: Terminal, payout: str, value: Money | None) -> None:
    """Return a settled payout to the account that paid it."""
    path = ("payouts", payout, "return")
    terminal.show(_told(terminal, "POST", path, {"value": value}))


@sandbox.command()
@click.argument("account")
@click.argument("payment")
@click.option("--value", type=REAIS, required=True, help="Reais.")
@click.option(
    "--key", help="The same key is the same refund; for another one of PAYMENT. [default: PAYMENT]"
)
@reading
def refund(terminal: Terminal, account: str, payment: str, value: Money, key: str | None) -> None:
    """Give a payment back to its payer; PAYMENT is its end-to-end id."""
    body = {"e2e_id": payment, "value": value, "key": key or payment}
    terminal.show(_told(terminal, "POST", ("accounts", account, "refunds"), body))


@sandbox.command()
@click.argument("account")
@click.argument("reference")
@click.option("--value", type=REAIS, help="Without it, the payer decides.")
@reading
def charge(terminal: Terminal, account: str, reference: str, value: Money | None) -> None:
    """Make a charge on an account's first key."""
    body = {"reference": reference, "value": value}
    terminal.show(_told(terminal, "POST", ("accounts", account, "charges"), body))


@sandbox.command()
@click.argument("operation", metavar="OPERATION", type=click.Choice(OPERATIONS), required=False)
@click.argument("kind", metavar="FAULT", type=click.Choice(FAULTS), required=False)
@click.option("--status", type=click.IntRange(200, 599), default=500, show_default=True)
@click.option(
    "--count",
    type=click.IntRange(0),
    default=1,
    show_default=True,
    help="Requests that fail; seconds with 'refuse'; 0: until it is cleared.",
)
@click.option("--clear", is_flag=True, help="End all faults.")
@reading
def fault(  # noqa: PLR0913 - one parameter per option
    terminal: Terminal,
    *,
    operation: str | None,
    kind: str | None,
    status: int,
    count: int,
    clear: bool,
) -> None:
    """
    Make an operation of the bank fail. Without arguments, list the faults in force.

    OPERATION: balance, statement, keys, charge, payment, payout, payout_read,
    refund, refund_read, callbacks, access, *.
    FAULT: refuse, reject, hang, hang_after, reset_before, reset_after, drip,
    status, malformed, wrong_types, huge.
    """
    if clear:
        terminal.show(_told(terminal, "DELETE", ("faults",)))
    elif operation is None:
        listed = _told(terminal, "GET", ("faults",))["data"]
        terminal.show_all(listed, ("operation", "fault", "status", "count"))
    elif kind is None:
        message = "say which fault"
        raise click.UsageError(message)
    else:
        body = {"operation": operation, "fault": kind, "status": status, "count": count or None}
        terminal.show(_told(terminal, "POST", ("faults",), body))


@sandbox.command()
@reading
def executions(terminal: Terminal) -> None:
    """List payouts that were really executed, oldest first."""
    listed = _told(terminal, "GET", ("executions",))["data"]
    terminal.show_all(listed, ("key", "centavos", "e2e_id", "at"))


@sandbox.command()
@click.argument("method", type=click.Choice(("GET", "POST", "DELETE"), case_sensitive=False))
@click.argument("path")
@click.argument("body", metavar="[JSON]", default="{}")
@reading
def call(terminal: Terminal, method: str, path: str, body: str) -> None:
    """
    Make any other call of the control interface.

    The sandbox bank's README lists the calls. PATH is the part after /control/, with its query:

    pixgate sandbox call POST accounts/ACCOUNT/block '{"value": 10.50}'
    """
    try:
        document = json.loads(body, parse_float=Decimal)
    except ValueError as problem:
        message = f"{body!r} is no JSON"
        raise click.UsageError(message) from problem
    place, _, query = path.partition("?")
    segments = tuple(map(unquote, place.strip("/").split("/")))
    show_json(_told(terminal, method, segments, document, dict(parse_qsl(query))))


def _told(
    terminal: Terminal,
    method: str,
    path: tuple[str, ...],
    body: Mapping[str, object] | None = None,
    query: Mapping[str, str] | None = None,
) -> Reply:
    """Make a call of the control interface, and return its answer."""
    other: str | None = click.get_current_context().obj

    async def work() -> Reply:
        from gateway.cli.configuration import sandbox_only, settings_of
        from provider_adapters.testing.commands.banks import FOLDER, running_bank
        from provider_adapters.testing.demo.ensure import controlling

        settings = settings_of(terminal.config)
        sandbox_only(settings)
        url = settings.sandbox_bank.control_url
        if other is not None:
            url = running_bank(settings.folder / FOLDER, other).control_url
        async with controlling(url) as bank:
            match method:
                case "GET":
                    return await bank.get(*path, query=query)
                case "DELETE":
                    return await bank.delete(*path)
                case _:
                    return await bank.post(*path, body=body or {}, query=query)

    return asyncio.run(work())
