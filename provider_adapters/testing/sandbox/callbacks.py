"""How the sandbox bank signs its callbacks: Standard Webhooks, HMAC-SHA-256."""

from __future__ import annotations

import base64
import hmac
from datetime import datetime


def sign(secret: bytes, event: str, at: datetime, body: bytes) -> dict[str, str]:
    """Return the headers of a callback."""
    instant = str(int(at.timestamp()))
    message = f"{event}.{instant}.".encode() + body
    signature = base64.b64encode(hmac.digest(secret, message, "sha256")).decode()
    return {
        "Webhook-Id": event,
        "Webhook-Timestamp": instant,
        "Webhook-Signature": f"v1,{signature}",
    }
