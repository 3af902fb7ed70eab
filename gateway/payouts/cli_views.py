"""Payouts as rows and records for operators."""

from __future__ import annotations

from collections.abc import Sequence

import click

from gateway.cli.console import Row, Terminal, fields_of, show_json
from gateway.core.schemas import instant
from gateway.payouts.documents import PayoutDetail
from gateway.payouts.model import FINAL_STATES, Attempt, Payout, PayoutState
from gateway.payouts.opinions import Opinion
from gateway.payouts.status import certainty_of

LISTED = ("reference", "state", "certainty", "review", "value", "provider", "created_at")
ATTEMPTS = (
    *("number", "started_at", "outcome", "phase", "bytes_left", "reason", "http_status"),
    *("provider_code", "last_probe_at", "next_probe_at"),
)
SIMILAR = ("reference", "state", "value", "created_at")
RETURNS = ("id", "value", "at")
OPINIONS = ("at", "by", "verdict", "withdrawn", "reason")


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
    """Show one attempt and what is known of its call; a final payout is not looked at again."""
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
    """Print everything about a payout: one document, or a record and its tables."""
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
