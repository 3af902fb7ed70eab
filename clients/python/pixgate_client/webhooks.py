"""Deliveries of events to an endpoint of yours: Standard Webhooks, HMAC-SHA-256."""

from __future__ import annotations

import base64
import binascii
import hmac
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from pixgate_client.documents import parse, read
from pixgate_client.model import Event

TOLERANCE_S: Final = 300.0
_PREFIX: Final = "whsec_"
_LONGEST_TIMESTAMP: Final = 12


class SignatureInvalid(ValueError):
    """The message was not signed with one of these secrets, or not lately: answer 401."""


@dataclass(frozen=True, slots=True)
class _Body:
    type: str
    timestamp: datetime
    data: Mapping[str, Any]


def verify(
    headers: Mapping[str, str],
    body: bytes,
    secrets: str | Iterable[str],
    *,
    now: datetime | None = None,
    tolerance_s: float = TOLERANCE_S,
) -> Event:
    """
    Check a delivery, and return its event. An event may come again, with the same ``id``.

    Args:
        headers: Of the request, in whatever case.
        body: Its bytes as they came.
        secrets: ``whsec_…``; several while a secret is rotated.
        now: An aware time; the clock's if absent.
        tolerance_s: How far the time of the delivery may be away.

    Raises:
        SignatureInvalid: it is not from the gateway, or too old.
        ValueError: a secret is none.
    """
    keys = [_key(each) for each in ([secrets] if isinstance(secrets, str) else secrets)]
    given = {name.lower(): value for name, value in headers.items()}
    message_id = given.get("webhook-id", "")
    timestamp = given.get("webhook-timestamp", "")
    signed = f"{message_id}.{timestamp}.".encode() + body
    if not _is_signed(signed, given.get("webhook-signature", ""), keys):
        problem = "no signature of these secrets"
        raise SignatureInvalid(problem)
    if not _is_recent(timestamp, now or datetime.now(UTC), tolerance_s):
        problem = f"the delivery is more than {tolerance_s:g} seconds away"
        raise SignatureInvalid(problem)
    found = read(_Body, parse(body))
    return Event(message_id, found.type, found.timestamp, found.data)


def _is_signed(signed: bytes, signatures: str, keys: Sequence[bytes]) -> bool:
    """Compare every signature with every key, in a time that tells nothing."""
    given = [each.removeprefix("v1,").encode() for each in signatures.split() if each[:3] == "v1,"]
    made = [base64.b64encode(hmac.digest(key, signed, "sha256")) for key in keys]
    return any([hmac.compare_digest(one, other) for one in given for other in made])  # noqa: C419 - all of them


def _is_recent(timestamp: str, now: datetime, tolerance_s: float) -> bool:
    is_number = timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= _LONGEST_TIMESTAMP
    return is_number and abs(now.timestamp() - int(timestamp)) <= tolerance_s


def _key(secret: str) -> bytes:
    """Read a secret; the error does not repeat it."""
    try:
        if secret.startswith(_PREFIX):
            return base64.b64decode(secret.removeprefix(_PREFIX), validate=True)
    except binascii.Error:
        pass
    problem = "a secret is whsec_ and base64"
    raise ValueError(problem)
