"""The requests that the bank received, kept for tests to read."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection
from dataclasses import dataclass, field

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from provider_adapters.testing.bank.kernel import clock
from provider_adapters.testing.bank.kernel.clock import BankClock

# At most 4 MB of bodies.
_KEPT = 1000
_BODY_KEPT = 4096


@dataclass(frozen=True, slots=True)
class RecordedCalls:
    """
    The last thousand requests as documents, oldest first, in memory only.

    Each has the raw path with its query; secret headers are without their value.
    """

    clock: BankClock
    secret_headers: Collection[str] = frozenset({"authorization"})
    _ring: deque[dict[str, object]] = field(default_factory=lambda: deque(maxlen=_KEPT))

    def last(self, limit: int) -> list[dict[str, object]]:
        """Return the newest ones as documents, oldest first."""
        return list(self._ring)[-limit:] if limit else []

    def clear(self) -> int:
        """Remove all; return how many there were."""
        cleared = len(self._ring)
        self._ring.clear()
        return cleared

    def record(self, request: web.Request, body: bytes) -> None:
        """Record a request."""
        headers = {name: self._redact(name, value) for name, value in request.headers.items()}
        call: dict[str, object] = {
            "at": clock.show(self.clock.micros()),
            "method": request.method,
            "path": request.raw_path,
            "headers": headers,
            "body": body[:_BODY_KEPT].decode(errors="replace"),
        }
        self._ring.append(call)

    def _redact(self, name: str, value: str) -> str:
        if name.lower() not in self.secret_headers:
            return value
        scheme, space, _ = value.partition(" ")
        return f"{scheme} ***" if space else "***"


def recording(calls: RecordedCalls) -> Middleware:
    """Return the middleware that records every request."""

    @web.middleware
    async def record(request: web.Request, handler: Handler) -> web.StreamResponse:
        calls.record(request, await request.read())
        return await handler(request)

    return record
