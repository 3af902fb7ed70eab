"""Credentials as documents: never a digest, and a secret only in the answer that made it."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal, NamedTuple, NotRequired, TypedDict

import msgspec

from gateway.domain.accounts.credentials import Credential
from gateway.domain.backoffice.lists import Care, CredentialCounts, care_of
from gateway.http.backoffice.callers import BackOfficeCaller
from gateway.http.rendering import Amount, instant
from gateway.http.resources.documents import Instant, Meter
from gateway.http.resources.represent import meter
from gateway.operations.accounts.credentials import Issued
from gateway.operations.bank.pages import Listed


class CredentialDocument(TypedDict):
    """A credential, never a secret or a digest; a limit that is absent does not limit."""

    client_id: str
    name: str
    state: Literal["live", "expired", "revoked"]
    company_id: str
    account_id: str
    permissions: list[str]
    live_secrets: int
    created_at: Instant
    expires_at: Instant
    revoked_at: Instant
    last_used_at: Instant
    care: Annotated[
        Literal["", "expires_soon", "pays_unused", "wide_for_ever"],
        msgspec.Meta(description="Why a live one asks for a look; empty for none."),
    ]
    limit_per_payout: NotRequired[Amount]
    limit_per_day: NotRequired[Amount]


class CredentialCountsDocument(TypedDict):
    """How many there are of each state; those that ask for a look are live."""

    live: int
    care: int
    ended: int


class CredentialList(TypedDict):
    """The credentials you may see, oldest first; ``counts`` are those of every state."""

    data: list[CredentialDocument]
    meta: Meter
    counts: CredentialCountsDocument


class SecretDocument(TypedDict):
    """A secret; it is shown only this once."""

    client_id: str
    client_secret: str
    name: str
    company_id: str
    account_id: str
    permissions: list[str]
    expires_at: Instant
    old_secret_ends_at: Instant


class CountedCredentials(NamedTuple):
    """A page of credentials, and how many there are of each state."""

    listed: Listed[Credential]
    counts: CredentialCounts


_CARE: dict[Care | None, Literal["", "expires_soon", "pays_unused", "wide_for_ever"]] = {
    None: "",
    Care.EXPIRES_SOON: "expires_soon",
    Care.PAYS_UNUSED: "pays_unused",
    Care.WIDE_FOR_EVER: "wide_for_ever",
}


def credential(found: Credential, who: BackOfficeCaller) -> CredentialDocument:
    """Show one."""
    now = who.acting.now()
    used = [each.last_used_at for each in found.secrets if each.last_used_at]
    live = [1 for each in found.secrets if each.expires_at is None or each.expires_at > now]
    state = _state(found, now)
    shown: CredentialDocument = {
        "client_id": found.client_id,
        "name": found.name,
        "state": state,
        "company_id": found.company_id,
        "account_id": found.account_id or "",
        "permissions": sorted(map(str, found.permissions)),
        "live_secrets": len(live) if state == "live" else 0,
        "created_at": instant(found.created_at),
        "expires_at": instant(found.expires_at),
        "revoked_at": instant(found.revoked_at),
        "last_used_at": instant(max(used, default=None)),
        "care": _CARE[care_of(found, now)],
    }
    if found.limits.per_payout is not None:
        shown["limit_per_payout"] = found.limits.per_payout
    if found.limits.per_day is not None:
        shown["limit_per_day"] = found.limits.per_day
    return shown


def _state(found: Credential, now: datetime) -> Literal["live", "expired", "revoked"]:
    if found.revoked_at is not None:
        return "revoked"
    return "expired" if found.expires_at is not None and found.expires_at <= now else "live"


def credential_list(found: CountedCredentials, who: BackOfficeCaller) -> CredentialList:
    """Show a page of them, and the counts."""
    listed, counts = found
    return {
        "data": [credential(each, who) for each in listed.items],
        "meta": meter(listed.paging, listed.total),
        "counts": {"live": counts.live, "care": counts.care, "ended": counts.ended},
    }


def secret(issued: Issued, _who: BackOfficeCaller) -> SecretDocument:
    """Show the secret, this once."""
    made = issued.credential
    return {
        "client_id": made.client_id,
        "client_secret": issued.client_secret,
        "name": made.name,
        "company_id": made.company_id,
        "account_id": made.account_id or "",
        "permissions": sorted(map(str, made.permissions)),
        "expires_at": instant(made.expires_at),
        "old_secret_ends_at": instant(issued.old_ends),
    }
