"""The last calls of one provider, without personal data and secrets, for operators to read."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Collection, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Final

import msgspec

from gateway.net.client.messages import ProviderAnswer, ProviderRequest

# With a hundred exchanges of two bodies each, at most 3 MB for each provider.
_LONGEST_BODY = 16 * 1024
# Enough to see what a bank has been answering; they live in memory only.
_KEPT = 100
_NOTHING: Final[Mapping[str, str]] = MappingProxyType({})

HIDDEN = "***"

# Deeper than any document of a bank; what lies below is hidden.
_DEEPEST = 12
_HARMLESS_HEADERS = frozenset(
    {
        "content-encoding",
        "content-length",
        "content-type",
        "date",
        "idempotency-key",
        "idempotent-replayed",
        "location",
        "retry-after",
        "transfer-encoding",
        "x-trace-id",
    }
)
_ANY_JSON = msgspec.json.Decoder()

_log = logging.getLogger("pixgate.provider.transcript")


class Exchange(msgspec.Struct, frozen=True, kw_only=True):
    """
    One call as it is kept.

    Bodies and the answer's headers are kept as received, and scrubbed when an
    operator reads them: scrubbing costs more than the call. Nothing else reads
    them. Credentials are not kept.

    Attributes:
        failure: The reason; empty when the call succeeded.
    """

    at: datetime
    operation: str
    method: str
    template: str
    sent_headers: Mapping[str, str]
    sent: bytes
    status: int
    received_headers: Mapping[str, str]
    received: bytes
    failure: str


class Transcript:
    """
    The last hundred calls, in memory only.

    ``harmless`` names the fields of the bank's documents without personal data
    or secrets; the values of all others are hidden.
    """

    def __init__(self, provider: str, harmless: Collection[str]) -> None:
        self._provider = provider
        self._harmless = frozenset(harmless)
        self._ring: deque[Exchange] = deque(maxlen=_KEPT)

    def keep(
        self, at: datetime, request: ProviderRequest, answer: ProviderAnswer | None, failure: str
    ) -> None:
        """Keep one call; it is logged at debug level only."""
        exchange = Exchange(
            at=at,
            operation=request.operation,
            method=request.method,
            template=request.template,
            sent_headers=scrubbed_headers(request.headers),
            sent=_bounded(request.body),
            status=0 if answer is None else answer.status,
            received_headers=_NOTHING if answer is None else answer.headers,
            received=b"" if answer is None else _bounded(answer.body),
            failure=failure,
        )
        self._ring.append(exchange)
        if _log.isEnabledFor(logging.DEBUG):
            _log.debug("provider exchange %s", self._shown(exchange))

    def shown(self) -> list[dict[str, object]]:
        """Return the calls, oldest first, scrubbed."""
        return [self._shown(exchange) for exchange in self._ring]

    def _shown(self, exchange: Exchange) -> dict[str, object]:
        """Scrub one call."""
        return {
            "provider": self._provider,
            "at": exchange.at.isoformat(),
            "operation": exchange.operation,
            "request": {
                "method": exchange.method,
                "path": exchange.template,
                "headers": dict(exchange.sent_headers),
                "body": scrubbed_body(exchange.sent, self._harmless),
            },
            "answer": {
                "status": exchange.status,
                "headers": scrubbed_headers(exchange.received_headers),
                "body": scrubbed_body(exchange.received, self._harmless),
            },
            "failure": exchange.failure,
        }


def _bounded(body: bytes) -> bytes:
    """Return the body, or a note instead of a long one."""
    return body if len(body) <= _LONGEST_BODY else b"(too long to keep)"


def scrubbed_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Return all headers, with the values of the harmless ones only."""
    return {
        name: text if name.lower() in _HARMLESS_HEADERS else HIDDEN
        for name, text in headers.items()
    }


def scrubbed_body(body: bytes, harmless: Collection[str]) -> object:
    """
    Return a JSON document with the values of the fields named in ``harmless`` only.

    All others are hidden, so a field that the bank adds is hidden too. For a
    body that is not JSON, return its length.
    """
    if not body:
        return None
    try:
        return _scrubbed(_ANY_JSON.decode(body), harmless, _DEEPEST)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return f"{len(body)} bytes, not JSON"


def _scrubbed(value: object, harmless: Collection[str], depth: int) -> object:
    """Hide what is not harmless; a value without a field name never is."""
    if value is None or isinstance(value, bool):
        return value
    if depth == 0 or not isinstance(value, dict | list):
        return HIDDEN
    if isinstance(value, list):
        return [_scrubbed(item, harmless, depth - 1) for item in value]
    return {
        name: item
        if name in harmless and not isinstance(item, dict | list)
        else _scrubbed(item, harmless, depth - 1)
        for name, item in value.items()
    }
