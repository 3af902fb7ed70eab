"""
The sandbox bank's callbacks: how they are signed, and how signatures are checked.

As in Standard Webhooks: HMAC-SHA-256 over id, timestamp and body, joined by full
stops. A timestamp more than five minutes away is refused.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from gateway.domain.backoffice.callbacks import CallbackKind, Notice
from gateway.domain.kernel.clocks import Now
from gateway.domain.kernel.headers import Headers

EVENT: Final = "Webhook-Id"
INSTANT: Final = "Webhook-Timestamp"
SIGNATURE: Final = "Webhook-Signature"
TOLERANCE_S: Final = 300

_VERSION: Final = "v1,"
# Characters of an id, and signatures in a header; Standard Webhooks needs far less.
_LONGEST: Final = 128
_MOST: Final = 8
_KINDS: Final[Mapping[str, CallbackKind]] = {
    "transferencia": CallbackKind.PAYOUT,
    "cobranca": CallbackKind.CHARGE,
    "devolucao": CallbackKind.REFUND,
}


def token_of(secret: bytes) -> str:
    """Return the last step of the callbacks' address: 32 hexadecimal digits."""
    return hmac.digest(secret, b"callback address", "sha256").hex()[:32]


def sign(secret: bytes, event: str, at: datetime, body: bytes) -> dict[str, str]:
    """Return the headers of a callback."""
    instant = str(int(at.timestamp()))
    signature = base64.b64encode(_mac(secret, event, instant, body)).decode()
    return {EVENT: event, INSTANT: instant, SIGNATURE: f"{_VERSION}{signature}"}


class SandboxProof:
    """Checks callbacks of the sandbox bank; a ``CallbackProof``."""

    def __init__(self, secrets: Sequence[bytes], now: Now) -> None:
        """Accept signatures of any of these secrets, former ones included."""
        self._secrets = secrets
        self._tokens = [token_of(each).encode() for each in secrets]
        self._now = now

    def check(self, headers: Headers, body: bytes, token: str) -> Notice | None:
        """Return what a callback says; None when anything about it is wrong."""
        event, instant, signatures = (_only(headers, name) for name in (EVENT, INSTANT, SIGNATURE))
        known = _among(token.encode("utf-8", "surrogateescape"), self._tokens)
        if not known or not event or not self._is_fresh(instant):
            return None
        wanted = [_mac(each, event, instant, body) for each in self._secrets]
        # Every signature is compared: while a secret is being replaced there are several.
        right = [_among(each, wanted) for each in _signatures(signatures)]
        return _notice(body, event) if any(right) else None

    def read(self, body: bytes) -> Notice:
        """Read a body that was checked before."""
        return _notice(body, "")

    def _is_fresh(self, instant: str) -> bool:
        if not (instant.isascii() and instant.isdigit() and len(instant) <= _LONGEST // 8):
            return False
        return abs(self._now().timestamp() - int(instant)) <= TOLERANCE_S


def _among(value: bytes, known: Sequence[bytes]) -> bool:
    """Return whether it is one of these, in a time that does not depend on which."""
    return sum(hmac.compare_digest(value, each) for each in known) > 0


def _mac(secret: bytes, event: str, instant: str, body: bytes) -> bytes:
    return hmac.digest(secret, f"{event}.{instant}.".encode() + body, "sha256")


def _only(headers: Headers, name: str) -> str:
    """Return the header's only printable value; empty for none or several."""
    values = headers.getall(name, ())
    if len(values) != 1 or len(values[0]) > _LONGEST * _MOST:
        return ""
    return values[0] if values[0].isascii() and values[0].isprintable() else ""


def _signatures(header: str) -> list[bytes]:
    found = []
    for each in header.split(" ")[:_MOST]:
        try:
            found.append(binascii.a2b_base64(each.removeprefix(_VERSION), strict_mode=True))
        except ValueError:
            continue
    return found


def _notice(body: bytes, event: str) -> Notice:
    """Read a body; an unknown kind is still a callback of the bank."""
    try:
        said: Any = json.loads(body)
    except (ValueError, RecursionError):
        said = None
    texts = said if isinstance(said, dict) else {}
    kind = _KINDS.get(str(texts.get("tipo")), CallbackKind.OTHER)
    name = "referencia" if kind is CallbackKind.CHARGE else "chave"
    return Notice(
        event=event[:_LONGEST],
        kind=kind,
        subject=_text(texts.get(name)),
        account=_text(texts.get("conta")),
    )


def _text(found: object) -> str:
    """Return a text that can be stored; empty for anything else."""
    if not isinstance(found, str) or len(found) > _LONGEST * _MOST:
        return ""
    return found if found.isprintable() else ""
