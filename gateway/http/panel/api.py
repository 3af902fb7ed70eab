"""
The back office served a second time, for the panel's pages: only the rows listed here.

A new row of the back office is not open to the panel until it is listed here.

The same rows behind the same policies, except for authentication. Nothing is proxied,
so there is no header to strip, no destination to choose and no token to pass on.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Final

from gateway.domain.accounts.accounts import Environment
from gateway.domain.requests.calls import Policy
from gateway.http.panel.surface import READING, PanelPolicies
from gateway.http.route import Gate, Row, Surface
from policies.authentication.bearer import BearerToken

_ACCOUNTS: Final = (
    *("accounts", "account", "account_create", "account_change"),
    *("account_provider", "account_provider_test"),
    *("balance", "blocks", "statement", "linked_statement", "report"),
    *("pix_keys", "pix_key", "pix_key_create", "pix_key_cancel", "pix_key_owner"),
    *("charges", "qrcode", "qrcode_generate", "qrcode_cancel"),
    *("pix_transactions", "pix_refunds", "pix_refund", "pix_refund_create"),
    *(
        "withdraw",
        "withdraw_dossier",
        "withdraw_probe",
        "withdraws",
        *("payouts", "payouts_export"),
        "search",
        "counts",
        "withdraw_bank",
        "withdraw_pix",
        "withdraw_cancel",
        "bank_numbers",
    ),
)
_DECISIONS: Final = (
    *("approvals", "approval", "approval_approve", "approval_reject", "approval_secret"),
    *("approval_facts", "reviews", "review_judge", "review_withdraw"),
    *("unresolved", "unresolved_probe"),
    *("stops", "stop_pull", "stop_lift"),
)
_PEOPLE: Final = (
    *("users", "user", "roles", "user_invite", "user_invite_again", "user_roles"),
    *("user_companies", "user_disable", "user_enable", "user_reset_mfa"),
    *("user_rename", "user_unlock"),
    *("user_sessions", "user_sessions_end", "user_session_end"),
)
_CONTROL: Final = (
    *("companies", "company", "company_create", "names"),
    *("credentials", "credential", "credential_issue", "credential_rotate", "credential_revoke"),
    "credential_limits",
    *("audit", "audit_export", "audit_verify"),
    *("requests", "requests_summary", "requests_export"),
    *("trace", "trace_explanation", "explain", "config"),
    *("overview", "readings", "weather", "provider_weather", "providers", "webhooks"),
)
_SANDBOX: Final = (
    "outbox",
    *("sandbox", "sandbox_pay", "sandbox_top_up", "sandbox_fault", "sandbox_faults_clear"),
    "sandbox_clock",
)
"""Rows that exist in the sandbox alone."""


def allowed_in(environment: Environment) -> frozenset[str]:
    """Return the names of the rows that the panel may call in an environment."""
    only = _SANDBOX if environment is Environment.SANDBOX else ()
    names = (*_ACCOUNTS, *_DECISIONS, *_PEOPLE, *_CONTROL, *only)
    return frozenset(f"backoffice.{name}" for name in names)


NAME = "panel_api"
PREFIX = "/panel/api"


def panel_api(office: Surface, policies: PanelPolicies, allowed: frozenset[str]) -> Surface:
    """
    Serve the rows of ``office`` that ``allowed`` names, and no others.

    Raises:
        ValueError: a name belongs to no row behind a user's token.
    """
    asked = [gate for gate in office.gates if _asks(gate)]
    unknown = allowed - {row.name for gate in asked for row in gate.rows}
    if unknown:
        problem = f"the panel may call rows that are not there: {', '.join(sorted(unknown))}"
        raise ValueError(problem)
    return Surface(
        name=NAME,
        prefix=PREFIX,
        gates=tuple(again for gate in asked for again in _again(gate, policies, allowed)),
        challenge=office.challenge,
        body_bytes=office.body_bytes,
        exempt=frozenset(),
        explains=True,
    )


def _again(
    gate: Gate[Any], policies: PanelPolicies, allowed: frozenset[str]
) -> Iterable[Gate[Any]]:
    """Return a gate once for reads and once for writes; a gate without rows is left out."""
    rows = [row for row in gate.rows if row.name in allowed]
    reads = [row for row in rows if row.method in READING]
    writes = [row for row in rows if row.method not in READING]
    for part, asked in ((reads, policies.reads), (writes, policies.writes)):
        if part:
            yield _behind(gate, asked, part)


def _behind(gate: Gate[Any], policies: Sequence[Policy], rows: Sequence[Row[Any]]) -> Gate[Any]:
    """Put rows behind the cookie; all policies but the token's stay in their order."""
    place = next(i for i, each in enumerate(gate.policies) if isinstance(each, BearerToken))
    kept = (*gate.policies[:place], *policies, *gate.policies[place + 1 :])
    return replace(gate, policies=kept, rows=rows, scheme="session")


def _asks(gate: Gate[Any]) -> bool:
    """Say whether a gate requires a user's token."""
    return any(isinstance(policy, BearerToken) for policy in gate.policies)
