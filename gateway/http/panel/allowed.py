"""
The rows of the back office that the panel's pages may call: this list and nothing else.

A new row of the back office is not open to the panel until it is listed here.
"""

from __future__ import annotations

from typing import Final

from gateway.domain.accounts.accounts import Environment

_ACCOUNTS: Final = (
    *("accounts", "account", "account_create", "account_change"),
    *("account_provider", "account_provider_test"),
    *("balance", "statement", "report"),
    *("pix_keys", "pix_key", "pix_key_create", "pix_key_cancel", "pix_key_owner"),
    *("qrcode", "qrcode_generate", "qrcode_cancel"),
    *("pix_transactions", "pix_refunds", "pix_refund", "pix_refund_create"),
    *("withdraw", "withdraws", "withdraw_bank", "withdraw_pix", "withdraw_cancel"),
)
_DECISIONS: Final = (
    *("approvals", "approval", "approval_approve", "approval_reject", "approval_secret"),
    *("reviews", "review_judge", "stops", "stop_pull", "stop_lift"),
)
_PEOPLE: Final = (
    *("users", "user", "roles", "user_invite", "user_invite_again", "user_roles"),
    *("user_companies", "user_disable", "user_enable", "user_reset_mfa"),
    *("user_rename", "user_unlock"),
    *("user_sessions", "user_sessions_end", "user_session_end"),
)
_CONTROL: Final = (
    *("companies", "company", "company_create"),
    *("credentials", "credential", "credential_issue", "credential_rotate", "credential_revoke"),
    "credential_limits",
    *("audit", "audit_export", "audit_verify", "requests"),
    *("providers", "webhooks"),
)

_SANDBOX: Final = ("outbox",)
"""Rows that exist in the sandbox alone."""


def allowed_in(environment: Environment) -> frozenset[str]:
    """Return the names of the rows that the panel may call in an environment."""
    only = _SANDBOX if environment is Environment.SANDBOX else ()
    names = (*_ACCOUNTS, *_DECISIONS, *_PEOPLE, *_CONTROL, *only)
    return frozenset(f"backoffice.{name}" for name in names)
