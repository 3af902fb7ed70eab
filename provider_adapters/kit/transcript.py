"""The last calls of a provider, without personal data and secrets, for operators to read."""

from __future__ import annotations

import logging
from collections import OrderedDict, deque
from collections.abc import Collection, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Final

import msgspec

from gateway.banks.client.messages import ProviderAnswer, ProviderRequest

# With a hundred exchanges of two bodies each, at most 3 MB for each provider.
_LONGEST_BODY = 16 * 1024
# Enough to see what a bank has been answering; they live in memory only.
_KEPT = 100
# Of each account that a bank knows by credentials of its own: 16 MB for each provider at most.
_KEPT_OF_ACCOUNT = 8
_LONGEST_OF_ACCOUNT = 4 * 1024
_ACCOUNTS = 256
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

    Calls under an account's own credentials stand apart: the last eight of each of the
    256 accounts used last. No account sees another account's calls.

    ``harmless`` names the fields of the bank's documents without personal data
    or secrets; the values of all others are hidden.
    """

    def __init__(self, provider: str, harmless: Collection[str]) -> None:
        self._provider = provider
        self._harmless = frozenset(harmless)
        self._ring: deque[Exchange] = deque(maxlen=_KEPT)
        self._of_accounts: OrderedDict[str, deque[Exchange]] = OrderedDict()

    def keep(
        self, at: datetime, request: ProviderRequest, answer: ProviderAnswer | None, failure: str
    ) -> None:
        """Keep one call; it is logged at debug level only."""
        longest = _LONGEST_BODY if request.identity is None else _LONGEST_OF_ACCOUNT
        exchange = Exchange(
            at=at,
            operation=request.operation,
            method=request.method,
            template=request.template,
            sent_headers=scrubbed_headers(request.headers),
            sent=request.body and _bounded(request.body, longest),
            status=0 if answer is None else answer.status,
            received_headers=_NOTHING if answer is None else answer.headers,
            received=b"" if answer is None else _bounded(answer.body, longest),
            failure=failure,
        )
        ring = self._ring if request.identity is None else self._of(request.identity.account_id)
        ring.append(exchange)
        if _log.isEnabledFor(logging.DEBUG):
            _log.debug("provider exchange %s", self._shown(exchange))

    def shown(self, account_id: str = "") -> list[dict[str, object]]:
        """
        Return calls, oldest first, scrubbed.

        Those under an account's own credentials are shown for that account alone.
        """
        ring = self._of_accounts.get(account_id, ()) if account_id else self._ring
        return [self._shown(exchange) for exchange in ring]

    def _of(self, account_id: str) -> deque[Exchange]:
        """Return the calls of one account; calls of the least recently used account go."""
        ring = self._of_accounts.pop(account_id, None) or deque(maxlen=_KEPT_OF_ACCOUNT)
        self._of_accounts[account_id] = ring
        if len(self._of_accounts) > _ACCOUNTS:
            self._of_accounts.popitem(last=False)
        return ring

    def _shown(self, exchange: Exchange) -> dict[str, object]:
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


def _bounded(body: bytes, longest: int) -> bytes:
    """Return the body, or a note instead of a long one."""
    return body if len(body) <= longest else b"(too long to keep)"


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
    """Hide all but harmless fields; a value without a field name is never harmless."""
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
