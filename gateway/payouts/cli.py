"""``pixgate payouts``: states of payouts, and their certainty."""

from __future__ import annotations

import dataclasses
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import click

from gateway.cli.console import Row, Terminal, changing, fields_of, reading, show_json
from gateway.cli.context import CommandContext, in_store
from gateway.core import trace
from gateway.core.audit_context import RuleViolation
from gateway.core.schemas import instant
from gateway.core.windows import Window
from gateway.payouts.documents import PayoutDetail
from gateway.payouts.model import FINAL_STATES, Attempt, Opinion, Payout, PayoutState, certainty_of

if TYPE_CHECKING:
    from gateway.accounts.service import Accounts
    from gateway.core.account import Account
    from gateway.payouts.staff import PayoutRecords
    from gateway.payouts.verification import Report

LISTED = ("reference", "state", "certainty", "review", "value", "provider", "created_at")
ATTEMPTS = (
    *("number", "started_at", "outcome", "phase", "bytes_left", "reason", "http_status"),
    *("provider_code", "last_probe_at", "next_probe_at"),
)
SIMILAR = ("reference", "state", "value", "created_at")
RETURNS = ("id", "value", "at")
OPINIONS = ("at", "by", "verdict", "withdrawn", "reason")
DIFFERENCES = ("kind", "account_id", "reference", "key", "details")
_PROBED = ("state", "certainty", "review", "provider_id", "e2e_id", "settled_at")
_DAYS = timedelta(days=6)
_DAY = click.DateTime(("%Y-%m-%d",))


def _window(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options for a window of days to a command."""
    ends = click.option("--ends", type=_DAY, help="Last day, in UTC.  [default: today]")
    init = click.option("--init", type=_DAY, help="First day.  [default: six days before]")
    return init(ends(command))


_account = click.option("--account", "account_id", required=True, help="A UUID.")


@click.group("payouts")
def payouts() -> None:
    """Show payouts, follow them up, stop them."""


@payouts.command("list")
@_account
@_window
@click.option("--state", type=click.Choice([each.value for each in PayoutState]))
@reading
def listing(
    terminal: Terminal,
    account_id: str,
    init: datetime | None,
    ends: datetime | None,
    state: str | None,
) -> None:
    """List an account's payouts, newest first."""
    wanted = PayoutState(state) if state else None

    async def listed(office: CommandContext) -> Sequence[Payout]:
        window, account = days(init, ends, office.acting.now()), await _named(office, account_id)
        return await _records(office).created(office.staff, account, window, wanted)

    terminal.show_all([payout_row(each) for each in in_store(terminal, listed)], LISTED)


@payouts.command()
@click.argument("reference")
@_account
@reading
def show(terminal: Terminal, reference: str, account_id: str) -> None:
    """
    Show one payout with its attempts, evidence, similar ones and opinions.

    While it is in review, opinions of others are hidden: people find out independently.
    """

    async def found(office: CommandContext) -> PayoutDetail:
        account = await _named(office, account_id)
        payout = await _records(office).find(office.staff, account, reference)
        return await _records(office).detail(office.staff, account, payout.reference)

    show_dossier(terminal, in_store(terminal, found))


@payouts.command()
@click.argument("reference")
@_account
@changing
def probe(terminal: Terminal, reference: str, account_id: str) -> None:
    """Query a payout at its bank now, as the reconciler does. Sends no money."""

    async def looked(office: CommandContext) -> tuple[Payout, Payout]:
        account = await _named(office, account_id)
        payout = await _records(office).find(office.staff, account, reference)
        return payout, await probed(office, payout)

    before, after = (payout_row(each) for each in in_store(terminal, looked))
    if terminal.as_json:
        terminal.show({"before": before, "after": after})
        return
    rows = [{"": name, "before": before[name], "after": after[name]} for name in _PROBED]
    terminal.show_all(rows, ("", "before", "after"))


@payouts.command()
@click.option("--account", "account_id", help="Only this one.")
@_window
@reading
def verify(
    terminal: Terminal, account_id: str | None, init: datetime | None, ends: datetime | None
) -> None:
    """
    Compare banks' executions with the store. Exit status 1: there is a difference.

    Reads the statements, and the sandbox bank's own ledger; at most 88 days.
    Returns of paid payouts are stored; nothing else is changed.
    """

    def compare(office: CommandContext) -> Awaitable[Report]:
        return verified(office, account_id, days(init, ends, office.acting.now()))

    report = in_store(terminal, compare)
    terminal.show_all([dataclasses.asdict(each) for each in report.differences], DIFFERENCES)
    if not terminal.as_json:
        click.echo(_summary(report), err=True)
    if report.differences:
        click.get_current_context().exit(1)


async def probed(office: CommandContext, payout: Payout) -> Payout:
    """
    Query a payout once, as the reconciler does, and record the act.

    The bank's answer is stored, but not a need for review: the reconciler stores that at its next
    query.
    """
    from gateway.audit.store import StoredAudit  # noqa: PLC0415 - loads SQLAlchemy
    from gateway.payouts.reconciler import Reconciler  # noqa: PLC0415 - the same

    async with office.opened(Reconciler) as reconciler:
        trace.begin(trace.new_trace_id())
        seen = await reconciler.look_at(payout)
    details = {"before": payout.state.value, "after": seen.state.value}
    await office.service(StoredAudit).append(
        office.acting.event("payout.probed", f"payout:{payout.provider_key}", details)
    )
    return seen


async def verified(office: CommandContext, account_id: str | None, window: Window) -> Report:
    """Compare the payouts of one account, or of all, with the banks' executions."""
    from gateway.payouts.verification import Verification  # noqa: PLC0415 - loads SQLAlchemy

    accounts, who = _accounts(office), office.staff
    chosen = [await accounts.find(who, account_id)] if account_id else await accounts.every(who)
    async with office.opened(Verification) as verification:
        return await verification.verify(chosen, window)


def days(init: datetime | None, ends: datetime | None, now: datetime) -> Window:
    """
    Read a window of whole days; by default the week until today.

    Raises:
        RuleViolation: it runs backwards or is longer than 90 days.
    """
    last = ends.date() if ends else now.date()
    first = init.date() if init else last - _DAYS
    try:
        return Window(first, last)
    except ValueError as problem:
        raise RuleViolation(str(problem)) from problem


def _summary(report: Report) -> str:
    """Summarise the comparison in one line."""
    unnamed = f" {report.unnamed} that no statement names," if report.unnamed else ""
    return (
        f"{report.accounts} accounts, {report.rows} payouts, {report.executions} executions"
        f" ({report.foreign} without a key of ours), {report.returned} returned,"
        f"{unnamed}"
        f" {len(report.differences)} differences"
    )


async def _named(office: CommandContext, account_id: str) -> Account:
    """Return the account with a typed id."""
    return await _accounts(office).find(office.staff, account_id)


def _accounts(office: CommandContext) -> Accounts:
    from gateway.accounts.service import Accounts  # noqa: PLC0415 - loads SQLAlchemy

    return office.service(Accounts)


def _records(office: CommandContext) -> PayoutRecords:
    from gateway.payouts.staff import PayoutRecords  # noqa: PLC0415 - the same

    return office.service(PayoutRecords)


def payout_row(payout: Payout) -> Row:
    """Show a payout; of the recipient only the name."""
    failure = payout.failure
    return {
        **fields_of(payout, "account_id", "reference", "state"),
        "certainty": certainty_of(payout).value,
        "review": payout.review,
        "value": str(payout.value),
        "method": payout.method.value,
        "recipient": payout.payee[0],
        "date": payout.date.isoformat(),
        **fields_of(payout, "attempt", "provider", "provider_account", "provider_key"),
        **fields_of(payout, "provider_id", "e2e_id"),
        "failure": failure.code.value if failure else None,
        **fields_of(payout, "client_id", "lease_until", "created_at", "updated_at", "settled_at"),
        "held_until": instant(payout.held_until) if payout.state is PayoutState.ACCEPTED else "",
    }


def attempt_row(attempt: Attempt, payout: Payout) -> Row:
    """Return one attempt and the evidence of its call; final payouts are not queried again."""
    evidence = attempt.evidence
    looked_for = attempt.number == payout.attempt and payout.state not in FINAL_STATES
    return {
        **fields_of(attempt, "number", "provider", "started_at", "ended_at", "send_deadline"),
        **fields_of(attempt, "lease_until", "outcome"),
        "phase": evidence.phase if evidence else None,
        "bytes_left": evidence.bytes_left if evidence else None,
        "reason": evidence.reason if evidence else "",
        "http_status": evidence.http_status if evidence else None,
        "provider_code": evidence.provider_code if evidence else "",
        **fields_of(attempt, "trace_id", "last_probe_at"),
        "next_probe_at": instant(attempt.next_probe_at) if looked_for else "",
    }


def opinion_row(opinion: Opinion) -> Row:
    """Show one opinion."""
    return {
        **fields_of(opinion, "at", "by", "verdict"),
        "withdrawn": opinion.is_withdrawn,
        "reason": opinion.reason,
    }


def show_dossier(terminal: Terminal, dossier: PayoutDetail) -> None:
    """Print all details of a payout: one document, or a record and its tables."""
    payout = dossier.payout
    returns = [
        {"id": each.id, "value": str(each.value), "at": instant(each.at)}
        for each in dossier.returns
    ]
    tables: dict[str, tuple[Sequence[Row], Sequence[str]]] = {
        "attempts": ([attempt_row(each, payout) for each in dossier.attempts], ATTEMPTS),
        "returns": (returns, RETURNS),
        "similar": ([payout_row(each) for each in dossier.similar], SIMILAR),
        "opinions": ([opinion_row(each) for each in dossier.opinions], OPINIONS),
    }
    if terminal.as_json:
        lists = {name: rows for name, (rows, _columns) in tables.items()}
        show_json({**payout_row(payout), **lists})
        return
    terminal.show(payout_row(payout))
    for name, (rows, columns) in tables.items():
        if rows:
            click.echo(f"\n{name}")
            terminal.show_all(rows, columns)
