"""The calls seen: what callers really sent, for tests to look at."""

from __future__ import annotations

from collections import deque
from dataclasses import asdict, dataclass, field

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from provider_adapters.sandbox.bank import clock
from provider_adapters.sandbox.bank.clock import BankClock

_KEPT = 1000
_BODY_KEPT = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenCall:
    """A request as it came; ``path`` raw, with its query; ``Authorization`` without its secret."""

    at: str
    method: str
    path: str
    headers: dict[str, str]
    body: str


@dataclass(frozen=True, slots=True)
class Calls:
    """The last thousand requests, oldest first, in memory only."""

    clock: BankClock
    seen: deque[SeenCall] = field(default_factory=lambda: deque(maxlen=_KEPT))

    def last(self, limit: int) -> list[dict[str, object]]:
        """Give the newest ones as documents, oldest first."""
        return [asdict(call) for call in list(self.seen)[-limit:]] if limit else []

    def clear(self) -> int:
        """Forget all and tell how many there were."""
        cleared = len(self.seen)
        self.seen.clear()
        return cleared

    def note(self, request: web.Request, body: bytes) -> None:
        """Keep a request."""
        headers = {name: _redact(name, value) for name, value in request.headers.items()}
        call = SeenCall(
            at=clock.show(self.clock.micros()),
            method=request.method,
            path=request.raw_path,
            headers=headers,
            body=body[:_BODY_KEPT].decode(errors="replace"),
        )
        self.seen.append(call)


def noting(calls: Calls) -> Middleware:
    """Make the middleware that keeps every request once its body is read."""

    @web.middleware
    async def note(request: web.Request, handler: Handler) -> web.StreamResponse:
        calls.note(request, await request.read())
        return await handler(request)

    return note


def _redact(name: str, value: str) -> str:
    return f"{value.partition(' ')[0]} ***" if name.lower() == "authorization" else value
