"""The last calls of one provider as an operator may see them."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Collection, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Final

import msgspec

from gateway.net.client.messages import ProviderAnswer, ProviderRequest
from provider_adapters._shared.scrubbing import scrubbed_body, scrubbed_headers

_LONGEST_BODY = 16 * 1024
_KEPT = 100
_NOTHING: Final[Mapping[str, str]] = MappingProxyType({})

_log = logging.getLogger("pixgate.provider.transcript")


class Exchange(msgspec.Struct, frozen=True, kw_only=True):
    """
    One call as it is kept.

    Bodies and the answer's headers are kept as they came and scrubbed when
    somebody looks, for scrubbing costs more than the call; nothing else ever
    reads them. Credentials are not kept at all.

    Attributes:
        failure: The fixed reason word; empty when the bank answered well.
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
    A ring of the last hundred exchanges, in memory only.

    ``harmless`` names the fields of the bank's documents that carry neither
    personal data nor secrets; the values of all others are hidden.
    """

    def __init__(self, provider: str, harmless: Collection[str]) -> None:
        self._provider = provider
        self._harmless = frozenset(harmless)
        self._ring: deque[Exchange] = deque(maxlen=_KEPT)

    def keep(
        self, at: datetime, request: ProviderRequest, answer: ProviderAnswer | None, failure: str
    ) -> None:
        """Keep one call; its text is written to the log at debug level only."""
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
        """Return the exchanges, oldest first, scrubbed."""
        return [self._shown(exchange) for exchange in self._ring]

    def _shown(self, exchange: Exchange) -> dict[str, object]:
        """Scrub one exchange."""
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
    """Keep a body of ordinary size, a longer one not at all."""
    return body if len(body) <= _LONGEST_BODY else b"(too long to keep)"
