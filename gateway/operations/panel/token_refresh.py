"""
The panel's tokens: refreshed before they expire, once, however many calls wait for it.

Within a process one task serves every call; between processes the lease in the row
decides who refreshes. The task goes on when the call that started it is cancelled.
"""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import replace
from datetime import timedelta
from typing import Final

from gateway.domain.identity.browsers import Browser, Cookie
from gateway.domain.identity.errors import REFRESH_INVALID, SESSION_REQUIRED
from gateway.domain.identity.panel_sessions import PanelSession
from gateway.domain.kernel import errors
from gateway.domain.kernel.errors import ServiceError
from gateway.domain.kernel.storage import StoreUnavailable
from gateway.operations.identity.tokens import TokenPair
from gateway.operations.panel.context import PanelContext

ACCESS: Final = "access"
REFRESH: Final = "refresh"
MFA: Final = "mfa"
_LOOK_AGAIN_S: Final = 0.1
_NOT_WORTH_IT: Final = timedelta(seconds=1)
_COUNTED: Final = "token_refresh"


class PanelTokens:
    """Keeps the access token of a browser alive; call ``close`` in the end."""

    def __init__(self, context: PanelContext) -> None:
        """Fly nothing yet."""
        self._parts = context
        self._flights: dict[str, asyncio.Task[PanelSession]] = {}

    async def fresh(self, browser: Browser) -> Browser:
        """
        Return the browser with an access token that lives a while longer.

        Raises:
            ServiceError: SESSION_REQUIRED when it cannot be refreshed any more;
                ``SVC.SYS.002`` when it is over and refreshing takes too long.
            StoreUnavailable: it is over, and the store does not answer.
        """
        panel = browser.panel
        if not self._is_due(panel):
            return browser
        flight = self._flights.get(panel.id_hash)
        if flight is None:
            flight = self._begin(browser)
        else:
            self._parts.seen(_COUNTED, "coalesced")
        patience = self._parts.settings.patience.total_seconds()
        await asyncio.wait({flight}, timeout=patience)
        if flight.done():
            return Browser(browser.cookie, flight.result())
        return Browser(browser.cookie, self._borne(panel))

    async def close(self) -> None:
        """Give up what is under way."""
        flights = list(self._flights.values())
        for flight in flights:
            flight.cancel()
        await asyncio.gather(*flights, return_exceptions=True)

    def _begin(self, browser: Browser) -> asyncio.Task[PanelSession]:
        """Begin a flight that outlives the call."""
        key = browser.panel.id_hash
        flight = asyncio.create_task(self._fly(browser))  # noqa: TID251 - close() ends it

        def landed(task: asyncio.Task[PanelSession]) -> None:
            self._flights.pop(key, None)
            if not task.cancelled():
                # looked at, so that nobody is told of a failure that all callers left behind
                task.exception()

        self._flights[key] = flight
        flight.add_done_callback(landed)
        return flight

    async def _fly(self, browser: Browser) -> PanelSession:
        """Refresh, unless somebody else did or does."""
        context, now = self._parts, self._parts.identity.now()
        panel = await context.store.find(browser.panel.id_hash)
        if panel is None:
            raise ServiceError(SESSION_REQUIRED, "gone")
        if not self._is_due(panel):
            return panel
        until = now + context.settings.lease
        if await context.store.lease(panel.id_hash, panel.version, now, until):
            return await self._exchanged(panel, browser.cookie)
        context.seen(_COUNTED, "coalesced")
        return await self._awaited(panel)

    async def _awaited(self, panel: PanelSession) -> PanelSession:
        """Let another process refresh; the old token serves as long as it lives."""
        if self._lives(panel):
            return panel
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._parts.settings.patience.total_seconds()):
                while True:
                    found = await self._parts.store.find(panel.id_hash)
                    if found is None:
                        raise ServiceError(SESSION_REQUIRED, "gone")
                    if not self._is_due(found):
                        return found
                    await asyncio.sleep(_LOOK_AGAIN_S)
        return self._borne(panel)

    async def _exchanged(self, panel: PanelSession, cookie: Cookie) -> PanelSession:
        """Exchange the refresh token and keep the new pair."""
        context = self._parts
        tokens = context.opened(panel.sealed, cookie) or {}
        try:
            async with asyncio.timeout(context.settings.call.total_seconds()):
                pair = await context.refreshing.refresh(tokens.get(REFRESH, ""))
        except ServiceError as refusal:
            if refusal.error is not REFRESH_INVALID:
                raise
            await context.store.remove(panel.id_hash)
            context.seen(_COUNTED, "invalid_grant")
            raise ServiceError(SESSION_REQUIRED, "refresh") from refusal
        except (StoreUnavailable, TimeoutError) as problem:
            context.seen(_COUNTED, "error")
            return self._borne(panel, problem)
        context.seen(_COUNTED, "ok")
        return await self._kept(panel, cookie, pair)

    async def _kept(self, panel: PanelSession, cookie: Cookie, pair: TokenPair) -> PanelSession:
        """Store the new pair over the version it was made from."""
        content = {ACCESS: pair.access_token, REFRESH: pair.refresh_token}
        sealed = self._parts.sealed(content, cookie)
        new = replace(panel, sealed=sealed, access_ends_at=pair.expires_at)
        if not await self._parts.store.save(new, panel.version):
            raise ServiceError(SESSION_REQUIRED, "gone")
        return replace(new, version=panel.version + 1, lease_until=None)

    def _borne(self, panel: PanelSession, problem: Exception | None = None) -> PanelSession:
        """Go on with the old token while it lives."""
        if self._lives(panel):
            return panel
        raise ServiceError(errors.AUTH_UNAVAILABLE, "refresh", {"Retry-After": "2"}) from problem

    def _lives(self, panel: PanelSession) -> bool:
        ends_at = panel.access_ends_at
        return ends_at is not None and self._parts.identity.now() < ends_at

    def _is_due(self, panel: PanelSession) -> bool:
        """Say whether the token should be refreshed; not where it lasts to the very end."""
        ends_at = panel.access_ends_at
        if ends_at is None or panel.ends_at - ends_at <= _NOT_WORTH_IT:
            return False
        return ends_at - self._parts.identity.now() < self._parts.settings.ahead
