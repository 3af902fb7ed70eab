"""``pixgate sandbox``: events and faults at the sandbox bank."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, TypedDict, Unpack

import click

from gateway.cli.console import Terminal, reading, run
from gateway.domain.kernel import strict
from gateway.domain.kernel.money import Money
from gateway.operations.backoffice.money.sandbox_tools import FAULTS, OPERATIONS
from provider_adapters.testing import simulators

if TYPE_CHECKING:
    from gateway.config.settings import Settings
    from provider_adapters.testing.bank.control.client import BankControl, Reply

BLOCKS = ("med", "court", "bank", "contract")
STATES = ("pending", "paid", "expired", "anonymous", "canceled")
_FAULT_COLUMNS = ("operation", "fault", "status", "count")
_EXECUTION_COLUMNS = ("key", "centavos", "e2e_id", "at")


class Reais(click.ParamType[Money]):
    """An amount above zero with at most two decimals: ``10.50``."""

    name = "reais"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> Money:
        """Read it exactly."""
        try:
            amount = value if isinstance(value, Money) else strict.amount(str(value))
        except ValueError:
            self.fail(f"{value!r} is no amount such as 10.50", param, ctx)
        if amount.centavos <= 0:
            self.fail("an amount is above zero", param, ctx)
        return amount


class Wanted(TypedDict):
    """The options of a fault: how many requests fail, and with what."""

    status: int
    count: int | None
    executed: bool


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
    same as ours.
    """
    context.obj = bank


@sandbox.command()
@click.argument("reference")
@click.option("--account", help="Needed if several accounts have a charge of this reference.")
@click.option("--value", type=Reais(), help="For a charge of an open amount.")
@reading
def pay(terminal: Terminal, reference: str, account: str | None, value: Money | None) -> None:
    """Pay a charge, as its payer would."""
    query = {"account": account} if account else {}
    _post(terminal, "charges", reference, "pay", body=_given(value=value), query=query)


@sandbox.command("top-up")
@click.argument("account")
@click.argument("value", type=Reais())
@reading
def top_up(terminal: Terminal, account: str, value: Money) -> None:
    """Pay money into an account."""
    _post(terminal, "accounts", account, "top-up", body={"value": value})


@sandbox.command()
@click.argument("account")
@click.argument("value", type=Reais())
@click.option("--kind", type=click.Choice(BLOCKS), default="bank", show_default=True)
@click.option("--reference", default="", help="Such as the number of a lawsuit.")
@click.option("--release", is_flag=True, help="Release so much instead, oldest blocks first.")
@reading
def block(  # noqa: PLR0913 - one parameter per option
    terminal: Terminal, account: str, value: Money, *, kind: str, reference: str, release: bool
) -> None:
    """Block money of an account."""
    body = {"value": value} if release else {"value": value, "kind": kind, "reference": reference}
    _post(terminal, "accounts", account, "unblock" if release else "block", body=body)


@sandbox.command()
@click.argument("which")
@click.option("--seconds", type=click.IntRange(1, 3600), default=3600, show_default=True)
@click.option("--next", "is_next", is_flag=True, help="WHICH is an account: hold its next payout.")
@reading
def hold(terminal: Terminal, which: str, *, seconds: int, is_next: bool) -> None:
    """
    Hold a payout for precautionary analysis.

    WHICH is its provider key or the bank's id.
    """
    kind = "accounts" if is_next else "payouts"
    _post(terminal, kind, which, "hold", body={"seconds": seconds})


@sandbox.command()
@click.argument("payout")
@click.option("--refuse", is_flag=True, help="Let it fail.")
@reading
def release(terminal: Terminal, payout: str, *, refuse: bool) -> None:
    """End a hold before its deadline."""
    _post(terminal, "payouts", payout, "release", body={"refuse": refuse})


@sandbox.command("return")
@click.argument("payout")
@click.argument("value", type=Reais(), required=False)
@reading
def return_(terminal: Terminal, payout: str, value: Money | None) -> None:
    """Return a settled payout, in full unless a value is given."""
    _post(terminal, "payouts", payout, "return", body=_given(value=value))


@sandbox.command()
@click.argument("account")
@click.argument("reference")
@click.option("--state", type=click.Choice(STATES), default="pending", show_default=True)
@click.option("--value", type=Reais(), help="Without it, the payer decides.")
@click.option("--expires-in", type=click.IntRange(1), help="Seconds.")
@click.option("--reusable", is_flag=True, help="A static charge: it can be paid many times.")
@reading
def charge(  # noqa: PLR0913 - one parameter per option
    terminal: Terminal,
    account: str,
    reference: str,
    *,
    state: str,
    value: Money | None,
    expires_in: int | None,
    reusable: bool,
) -> None:
    """Make a charge on an account's first key."""
    body = {
        "reference": reference,
        "state": state,
        "type": "Static" if reusable else "Dynamic",
        "reusable": reusable,
        **_given(value=value, expires_in=expires_in),
    }
    _post(terminal, "accounts", account, "charges", body=body)


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
@click.option("--executed", is_flag=True, help="With 'status': the request is still executed.")
@click.option("--clear", is_flag=True, help="End all faults.")
@reading
def fault(
    terminal: Terminal,
    *,
    operation: str | None,
    kind: str | None,
    clear: bool,
    **wanted: Unpack[Wanted],
) -> None:
    """
    Make an operation of the bank fail. Without arguments, list the faults in force.

    OPERATION: balance, statement, keys, charge, payment, payout, payout_read,
    refund, refund_read, callbacks, access, *.
    FAULT: refuse, reject, hang, hang_after, reset_before, reset_after, drip,
    status, malformed, wrong_types, huge.
    """
    if clear:
        terminal.show(_told(terminal, lambda bank: bank.delete("faults")))
        return
    if operation is None:
        listed = _told(terminal, lambda bank: bank.get("faults"))
        terminal.show_all(listed["data"], _FAULT_COLUMNS)
        return
    if kind is None:
        message = "say which fault"
        raise click.UsageError(message)
    wanted["count"] = wanted["count"] or None
    _post(terminal, "faults", body={"operation": operation, "fault": kind, **wanted})


@sandbox.command()
@click.option("--key", help="Only payouts of this provider key.")
@reading
def executions(terminal: Terminal, key: str | None) -> None:
    """List payouts that were really executed, oldest first."""
    query = {"key": key} if key else {}
    listed = _told(terminal, lambda bank: bank.get("executions", query=query))
    terminal.show_all(listed["data"], _EXECUTION_COLUMNS)


def _given(**options: object) -> dict[str, object]:
    """Return the options that were given."""
    return {name: value for name, value in options.items() if value is not None}


def _post(
    terminal: Terminal,
    *segments: str,
    body: Mapping[str, object],
    query: Mapping[str, str] | None = None,
) -> None:
    """Make something happen at the bank, and show its answer."""
    terminal.show(_told(terminal, lambda bank: bank.post(*segments, body=body, query=query)))


def _told(terminal: Terminal, tell: Callable[[BankControl], Awaitable[Reply]]) -> Reply:
    """Send a request to the control interface, and return its answer."""
    other: str | None = click.get_current_context().obj

    async def work() -> Reply:
        from gateway.cli.configuration import sandbox_only, settings_of
        from provider_adapters.testing.commands.bank_control import controlling

        settings = settings_of(terminal.config)
        sandbox_only(settings)
        url = settings.sandbox_bank.control_url if other is None else _control_of(settings, other)
        async with controlling(url) as bank:
            return await tell(bank)

    return run(work())


def _control_of(settings: Settings, bank: str) -> str:
    """Return the control interface of a simulated bank that runs; raises ``RuleViolation``."""
    from provider_adapters.testing.commands.banks import FOLDER, BankFolder

    return BankFolder(settings.folder / FOLDER).address(bank).control_url
