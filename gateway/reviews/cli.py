"""``pixgate payouts unresolved`` and ``review``: unproven payouts, decided by two users."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import click

from gateway.cli.console import Row, Terminal, changing, reading
from gateway.cli.context import CommandContext, in_store
from gateway.core import strict
from gateway.core.money import Money
from gateway.payouts.cli import ATTEMPTS, attempt_row, opinion_row, payout_row
from gateway.payouts.model import Verdict
from gateway.reviews.model import (
    JudgementBody,
    Progress,
    ReviewState,
    UnresolvedPayout,
    WithdrawalBody,
)

if TYPE_CHECKING:
    from gateway.reviews.service import Reviews

COLUMNS = ("account_id", "reference", "state", "value", "provider", "e2e_id", "created_at")
UNRESOLVED = (
    *("account_id", "reference", "age", "state", "review", "value", "provider"),
    *("reason", "last_probe_at", "next_probe_at"),
)
_TOLD = {
    Progress.WAITING: "Kept. A second user must say the same.",
    Progress.DISAGREED: (
        "Kept. Opinions differ: a third user decides, or one of the two withdraws theirs."
    ),
    Progress.DECIDED: "Decided.",
}


@click.command()
@reading
def unresolved(terminal: Terminal) -> None:
    """List payouts that are unknown or in review, oldest first."""

    async def listed(office: CommandContext) -> list[Row]:
        now = office.acting.now()
        found = await _reviews(office).everything(office.staff)
        return [unresolved_row(each, now) for each in found]

    terminal.show_all(in_store(terminal, listed), UNRESOLVED)


@click.group("review")
def review() -> None:
    """Payouts in review."""


@review.command("list")
@reading
def listing(terminal: Terminal) -> None:
    """List payouts in review, oldest first."""
    found = in_store(terminal, lambda office: _reviews(office).everything(office.staff))
    waiting = [each.payout for each in found if each.payout.review]
    terminal.show_all([payout_row(each) for each in waiting], COLUMNS)


@review.command()
@click.argument("reference")
@click.option("--account", "account_id", required=True, help="A UUID.")
@click.option("--outcome", type=click.Choice([each.value for each in Verdict]), required=True)
@click.option("--reason", required=True, help="How you know; for the auditors.")
@click.option("--moved", help="What the bank moved, such as 777.11; if not as ordered.")
@changing
def resolve(terminal: Terminal, /, reference: str, **said: str) -> None:
    """
    Say how a payout ended; two different users who agree end it.

    This pays no one: it records the outcome at the bank.
    """
    _require_name(terminal)
    judgement = JudgementBody(
        account_id=said["account_id"],
        reference=reference,
        verdict=Verdict(said["outcome"]),
        reason=said["reason"],
        value=_amount(said["moved"]) if said["moved"] else None,
    )
    state = in_store(terminal, lambda office: _reviews(office).judge(office.staff, judgement))
    _show(terminal, state, _TOLD[state.progress])


@review.command()
@click.argument("reference")
@click.option("--account", "account_id", required=True, help="A UUID.")
@changing
def withdraw(terminal: Terminal, reference: str, account_id: str) -> None:
    """Withdraw your opinion; it stays on record, and you may give another."""
    _require_name(terminal)
    named = WithdrawalBody(account_id=account_id, reference=reference)
    state = in_store(terminal, lambda office: _reviews(office).withdraw(office.staff, named))
    _show(terminal, state, "Withdrawn.")


def _require_name(terminal: Terminal) -> None:
    if not terminal.by:
        message = "--by is required: the two opinions must come from different people"
        raise click.UsageError(message)


def _amount(text: str) -> Money:
    try:
        return strict.amount(text)
    except strict.Malformed as problem:
        message = "--moved is an amount such as 777.11"
        raise click.UsageError(message) from problem


def _show(terminal: Terminal, state: ReviewState, message: str) -> None:
    rows = [opinion_row(each) for each in state.opinions]
    said = [f"{row['by']}:{row['verdict']}" for row in rows]
    terminal.show(
        {
            "progress": state.progress.value,
            **payout_row(state.payout),
            "opinions_given": state.given,
            "opinions": rows if terminal.as_json else said,
        }
    )
    if not terminal.as_json:
        click.echo(message, err=True)


def unresolved_row(case: UnresolvedPayout, now: datetime) -> Row:
    """Return an unproven payout's row, with its latest evidence and both checks."""
    tries = case.attempts
    latest = attempt_row(tries[-1], case.payout) if tries else dict.fromkeys(ATTEMPTS)
    age = now - case.payout.created_at
    return {
        **payout_row(case.payout),
        "age": age_of(age),
        "age_s": int(age.total_seconds()),
        **{name: latest[name] for name in ATTEMPTS if name not in {"number", "started_at"}},
    }


def age_of(age: timedelta) -> str:
    """Write an age in its two largest units: ``3d 4h``, ``5m 10s``."""
    minutes, seconds = divmod(max(int(age.total_seconds()), 0), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    parts = (f"{days}d", f"{hours}h", f"{minutes}m", f"{seconds}s")
    first = next((at for at, part in enumerate(parts[:-1]) if part[0] != "0"), len(parts) - 1)
    return " ".join(parts[first : first + 2])


def _reviews(office: CommandContext) -> Reviews:
    from gateway.reviews.service import Reviews  # noqa: PLC0415 - loads SQLAlchemy

    return office.service(Reviews)
