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
    secret_headers: Collection[str]
    kept: deque[dict[str, object]] = field(default_factory=lambda: deque(maxlen=_KEPT))

    def recording(self) -> Middleware:
        """Return the middleware that records every request."""

        @web.middleware
        async def record(request: web.Request, handler: Handler) -> web.StreamResponse:
            body = await request.read()
            call: dict[str, object] = {
                "at": clock.show(self.clock.micros()),
                "method": request.method,
                "path": request.raw_path,
                "headers": {
                    name: self._shown(name, text) for name, text in request.headers.items()
                },
                "body": body[:_BODY_KEPT].decode(errors="replace"),
            }
            self.kept.append(call)
            return await handler(request)

        return record

    def _shown(self, name: str, value: str) -> str:
        if name.lower() not in self.secret_headers:
            return value
        scheme, space, _ = value.partition(" ")
        return f"{scheme} ***" if space else "***"
