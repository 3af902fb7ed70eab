"""What the store keeps and no reader may see: which columns, and what is in them."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any, Final

from sqlalchemy import LargeBinary, select

from gateway.app.kernel import Kernel
from gateway.store.tables.every import METADATA

SECRET: Final = frozenset(
    {
        "accounts.sealed_credentials",
        "approvals.sealed_order",
        "chats.sealed_url",
        "credential_secrets.digest",
        "endpoints.sealed_former_secret",
        "endpoints.sealed_secret",
        "identity_providers.sealed_secret",
        "mail_tokens.digest",
        "mfa_challenges.digest",
        "panel_sessions.id_hash",
        "panel_sessions.sealed",
        "payout_batch_rows.sealed_order",
        "payout_events.sealed_facts",
        "payouts.payee_digest",
        "push_subscriptions.endpoint_digest",
        "push_subscriptions.sealed_address",
        "recovery_codes.digest",
        "refresh_tokens.digest",
        "signing_keys.sealed_private",
        "users.password",
        "users.totp_secret",
    }
)
OPEN: Final = frozenset(
    {
        "audit.hash",  # what the proof of the audit log shows
        "audit_head.hash",
        "audit_head.seal",
        "company_moves.digest",  # of the payouts that moved, to compare two cells
        "endpoints.former_secret_ends_at",
        "endpoints.secret_made_at",
        "day_closings.digest",  # names a day as it was shown
        "day_readings.digest",
        "deliveries.body",  # ids alone, shown to whoever may read deliveries
        "callbacks.body",  # what the bank sent; only who may read callbacks sees it
        "outflow_payees.payee",  # of a destination, which the payout itself has in full
        "notification_choices.digest",  # kinds of occasions
        "payout_batches.file_sha256",  # recognises a file that is uploaded again
        "panel_sessions.csrf",  # in every form of the browser that it belongs to
        "passkeys.credential",  # a public key, and the authenticator's model
        "signing_keys.public",
    }
)
_OF_REFERENCES: Final = "reference_sha256"
"""A digest of what every list shows."""
_SHORTEST: Final = 8


def doubtful() -> set[str]:
    """Return the columns that hold bytes, or whose names say that they are secret."""
    words = ("password", "digest", "seal", "secret", "csrf", "hash", "token")
    return {
        f"{table.name}.{column.name}"
        for table in METADATA.tables.values()
        for column in table.columns
        if column.name != _OF_REFERENCES
        and (isinstance(column.type, LargeBinary) or any(word in column.name for word in words))
    }


async def stored_secrets(kernel: Kernel) -> dict[str, set[str]]:
    """Return the content of each secret column, as text in every form that a page might have."""
    found: dict[str, set[str]] = {}
    async with kernel.store.database.reading() as connection:
        for name in SECRET:
            table, column = name.split(".")
            rows = await connection.execute(select(METADATA.tables[table].c[column]))
            found[name] = {form for (value,) in rows for form in _forms(value)}
        accounts = METADATA.tables["accounts"].c
        rows = await connection.execute(select(accounts.sealed_credentials, accounts.id))
        opened = {kernel.keys.sealer.open(sealed, id_) for sealed, id_ in rows if sealed}
    plain = {each for each in opened if len(each) > _SHORTEST}  # "secret" is a word of pages too
    return {**found, "credentials for banks": plain}


def _forms(value: Any) -> Iterator[str]:
    if isinstance(value, str) and len(value) >= _SHORTEST:
        yield value
    if isinstance(value, bytes) and len(value) >= _SHORTEST:
        yield value.hex()
        yield base64.b64encode(value).decode().rstrip("=")
        yield base64.urlsafe_b64encode(value).decode().rstrip("=")
        yield str(value)[2:-1]
