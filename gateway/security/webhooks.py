"""Signatures of messages between servers, as Standard Webhooks has them: HMAC-SHA-256."""

from __future__ import annotations

import base64
import hmac
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Final

SECRET_PREFIX: Final = "whsec_"  # noqa: S105 - what each secret begins with


def secret_bytes(secret: str) -> bytes:
    """
    Return the key of a secret: ``whsec_`` and base64.

    Raises:
        ValueError: it has another form.
    """
    if not secret.startswith(SECRET_PREFIX):
        raise ValueError
    return base64.b64decode(secret.removeprefix(SECRET_PREFIX), validate=True)


def signed_headers(
    secrets: Iterable[bytes], message_id: str, at: datetime, body: bytes
) -> Mapping[str, str]:
    """Return the headers of a message: its id, its instant in seconds, a signature by each key."""
    instant = str(int(at.timestamp()))
    signed = f"{message_id}.{instant}.".encode() + body
    made = (base64.b64encode(hmac.digest(each, signed, "sha256")).decode() for each in secrets)
    return {
        "webhook-id": message_id,
        "webhook-timestamp": instant,
        "webhook-signature": " ".join(f"v1,{each}" for each in made),
    }
