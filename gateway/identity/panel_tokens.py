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

from gateway.core import errors
from gateway.core.browsers import Browser, Cookie, PanelSession
from gateway.core.errors import ServiceError
from gateway.core.storage import StoreUnavailable
from gateway.core.user_errors import REFRESH_INVALID, SESSION_REQUIRED
from gateway.identity.panel_context import PanelContext
from gateway.identity.token_refresh import TokenPair
from gateway.telemetry.ports import Event

ACCESS: Final = "access"
REFRESH: Final = "refresh"
MFA: Final = "mfa"
"""Names of the tokens sealed in a row."""

# a pause that a person does not notice, and few reads of the store
POLL_S: Final = 0.1
# a token that lasts as long as its session is not refreshed; times are cut to whole seconds
_NOT_WORTH_IT: Final = timedelta(seconds=1)
_EVENT: Final = Event.TOKEN_REFRESH


class PanelTokens:
    """Keeps the access tokens of browsers valid; call ``close`` in the end."""

    def __init__(self, context: PanelContext) -> None:
        """Start with no refresh running."""
        self._context = context
        self._tasks: dict[str, asyncio.Task[PanelSession]] = {}

    async def fresh(self, browser: Browser) -> Browser:
        """
        Return the browser with an access token that stays valid for a while.

        Raises:
            ServiceError: SESSION_REQUIRED when it cannot be refreshed any more;
                ``SVC.SYS.002`` when it has expired and the refresh takes too long.
            StoreUnavailable: it has expired, and the store does not answer.
        """
        panel = browser.panel
        if not self._is_due(panel):
            return browser
        task = self._tasks.get(panel.id_hash)
        if task is None:
            task = self._start(browser)
        else:
            self._context.count(_EVENT, "coalesced")
        wait_s = self._context.settings.wait_timeout.total_seconds()
        await asyncio.wait({task}, timeout=wait_s)
        if task.done():
            return Browser(browser.cookie, task.result())
        return Browser(browser.cookie, self._stale_ok(panel))

    async def close(self) -> None:
        """Cancel every refresh and wait for its end."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _start(self, browser: Browser) -> asyncio.Task[PanelSession]:
        """Start a refresh that outlives the call."""
        key = browser.panel.id_hash
        task = asyncio.create_task(self._refresh(browser))  # noqa: TID251 - close() ends it

        def on_done(done: asyncio.Task[PanelSession]) -> None:
            self._tasks.pop(key, None)
            if not done.cancelled():
                # read, or asyncio would log an error that no caller waits for any more
                done.exception()

        self._tasks[key] = task
        task.add_done_callback(on_done)
        return task

    async def _refresh(self, browser: Browser) -> PanelSession:
        """Refresh, unless another process did or does."""
        context, now = self._context, self._context.identity.now()
        panel = await context.store.find(browser.panel.id_hash)
        if panel is None:
            raise ServiceError(SESSION_REQUIRED, "gone")
        if not self._is_due(panel):
            return panel
        until = now + context.settings.lease
        if await context.store.lease(panel.id_hash, panel.version, now, until):
            return await self._exchange(panel, browser.cookie)
        context.count(_EVENT, "coalesced")
        return await self._await_other(panel)

    async def _await_other(self, panel: PanelSession) -> PanelSession:
        """Let another process refresh; the old token is used as long as it is valid."""
        if self._is_alive(panel):
            return panel
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._context.settings.wait_timeout.total_seconds()):
                while True:
                    found = await self._context.store.find(panel.id_hash)
                    if found is None:
                        raise ServiceError(SESSION_REQUIRED, "gone")
                    if not self._is_due(found):
                        return found
                    await asyncio.sleep(POLL_S)
        return self._stale_ok(panel)

    async def _exchange(self, panel: PanelSession, cookie: Cookie) -> PanelSession:
        """Exchange the refresh token and store the new pair."""
        context = self._context
        tokens = context.open_tokens(panel.sealed, cookie) or {}
        try:
            async with asyncio.timeout(context.settings.refresh_timeout.total_seconds()):
                pair = await context.tokens.exchange(tokens.get(REFRESH, ""))
        except ServiceError as refusal:
            if refusal.error is not REFRESH_INVALID:
                raise
            await context.store.remove(panel.id_hash)
            context.count(_EVENT, "invalid_grant")
            raise ServiceError(SESSION_REQUIRED, "refresh") from refusal
        except (StoreUnavailable, TimeoutError) as problem:
            context.count(_EVENT, "error")
            return self._stale_ok(panel, problem)
        context.count(_EVENT, "ok")
        return await self._save(panel, cookie, pair)

    async def _save(self, panel: PanelSession, cookie: Cookie, pair: TokenPair) -> PanelSession:
        """Store the new pair over the version it was made from."""
        content = {ACCESS: pair.access_token, REFRESH: pair.refresh_token}
        sealed = self._context.seal_tokens(content, cookie)
        new = replace(panel, sealed=sealed, access_ends_at=pair.expires_at)
        if not await self._context.store.save(new, panel.version):
            raise ServiceError(SESSION_REQUIRED, "gone")
        return replace(new, version=panel.version + 1, lease_until=None)

    def _stale_ok(self, panel: PanelSession, problem: Exception | None = None) -> PanelSession:
        """Continue with the old token while it is valid; otherwise answer ``SVC.SYS.002``."""
        if self._is_alive(panel):
            return panel
        raise ServiceError(errors.AUTH_UNAVAILABLE, "refresh", {"Retry-After": "2"}) from problem

    def _is_alive(self, panel: PanelSession) -> bool:
        ends_at = panel.access_ends_at
        return ends_at is not None and self._context.identity.now() < ends_at

    def _is_due(self, panel: PanelSession) -> bool:
        """Say whether the token should be refreshed; not if it lasts until the session ends."""
        ends_at = panel.access_ends_at
        if ends_at is None or panel.ends_at - ends_at <= _NOT_WORTH_IT:
            return False
        return ends_at - self._context.identity.now() < self._context.settings.refresh_ahead
