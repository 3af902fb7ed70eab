"""
The panel's sessions: what a browser's opaque cookie stands for, from login to logout.

A browser starts anonymous, with a CSRF token and nothing else: its cookie is signed, and has
no row in the store. Each gain of privilege gives it a new opaque cookie with a row.

A sign-in makes the earlier cookie worthless at once. An hour of use and a step-up replace the
cookie of a session, and their answer may be lost: for ``PanelSettings.overlap`` the old cookie
leads to the new one, sealed under the old cookie's own secret half.

- Until a request brings the new cookie, whoever acts with the old one gets the new one. After a
  step-up the second factor counts no longer then: a stolen cookie never gains a fresh factor.
- From then on the old cookie of a step-up reads only, for requests that were on their way.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from gateway.core.browsers import (
    AnonymousCookie,
    Browser,
    ClientInfo,
    Cookie,
    PanelSession,
    PanelState,
    SignedInBrowser,
)
from gateway.core.errors import ServiceError
from gateway.core.sessions import SignedInUser, person
from gateway.core.user_errors import MFA_EXPIRED, SESSION_REQUIRED, TOKEN_INVALID
from gateway.identity.context import is_valid
from gateway.identity.panel_context import PanelContext
from gateway.identity.panel_tokens import ACCESS, MFA, POLL_S, REFRESH, PanelTokens
from gateway.identity.sign_in import SecondFactorRequired
from gateway.identity.token_refresh import SignedIn, printable_agent
from gateway.telemetry.ports import Event

_EVENT: Final = Event.SESSION_EVENT
_FOLLOWER: Final = "follower"
"""The newer cookie, sealed in the row of the one that it replaced."""

_TRIES: Final = 60
"""For six seconds, longer than a refresh takes."""


@dataclass(frozen=True, slots=True)
class PanelSessionRecords:
    """The sessions of the panel's browsers."""

    context: PanelContext
    tokens: PanelTokens

    async def find(self, value: str) -> Browser | None:
        """Return the browser of a cookie; a session that is over or idle is ended, and None."""
        anonymous = self.context.cookies.read_anonymous(value)
        if anonymous is not None:
            browser = self._anonymous(anonymous)
            return None if self._over(browser.panel) else browser
        cookie = self.context.cookies.read(value)
        panel = await self.context.store.find(cookie.id_hash) if cookie else None
        # the id half alone, as a reader of the store knows it, opens nothing
        if cookie is None or panel is None:
            return None
        if self.context.open_tokens(panel.sealed, cookie) is None:
            return None
        over = self._over(panel)
        if over:
            await self._end(panel, over)
            return None
        return Browser(cookie, panel)

    def begin(self) -> Browser:
        """Start an anonymous session; nothing is stored."""
        return self._anonymous(self.context.cookies.make_anonymous(self.context.identity.now()))

    async def signed_in(self, browser: Browser) -> SignedInUser | None:
        """Return the signed-in user, without refreshing or extending anything."""
        if browser.panel.state is not PanelState.FULL:
            return None
        identity = self.context.identity
        found = await identity.stores.sessions.find(browser.panel.session_id)
        if found is None or not found[0].is_live(identity.now()) or not is_valid(*found):
            return None
        session, user = found
        return person(user, session)

    async def login(
        self, browser: Browser, email: str, password: str, client: ClientInfo
    ) -> Browser:
        """
        Sign in by password; the browser gets a new cookie.

        A form that is sent twice signs in twice; the browser keeps one of the cookies, and
        the other session ends by itself.

        Raises:
            ServiceError: PASSWORD_WRONG; TOO_MANY_ATTEMPTS; SESSION_REQUIRED
                when the old cookie had a row that was used up meanwhile.
        """
        cookie = self.context.cookies.make()
        # the challenge can be answered under the new cookie, and under no other
        bound = replace(client, panel=True, bound_to=cookie.id_hash)
        outcome = await self.context.sign_in.login(email, password, bound)
        if isinstance(outcome, SignedIn):
            return await self._full(browser, cookie, outcome, client)
        return await self._pending(browser, cookie, outcome, client)

    async def submit_code(self, browser: Browser, code: str, client: ClientInfo) -> Browser:
        """
        Finish a sign-in by a code; the browser gets a new cookie again.

        Raises:
            ServiceError: MFA_INVALID; MFA_EXPIRED, also where no code was required;
                TOO_MANY_ATTEMPTS; SESSION_REQUIRED as ``login``.
        """
        tokens = self.context.open_tokens(browser.panel.sealed, browser.cookie) or {}
        if browser.panel.state is not PanelState.MFA_PENDING or MFA not in tokens:
            raise ServiceError(MFA_EXPIRED, "challenge_unknown")
        bound = replace(client, panel=True, bound_to=browser.cookie.id_hash)
        outcome = await self.context.sign_in.submit_code(tokens[MFA], code, bound)
        return await self._full(browser, self.context.cookies.make(), outcome, client)

    async def tries_left(self, browser: Browser) -> int:
        """Return how many codes may still be tried for the sign-in of a browser."""
        tokens = self.context.open_tokens(browser.panel.sealed, browser.cookie) or {}
        return await self.context.sign_in.tries_left(tokens.get(MFA, ""))

    async def authenticate(self, browser: Browser, *, acts: bool = True) -> SignedInBrowser:
        """
        Keep a session alive and return its user; its cookie may have been renewed.

        Where nobody ``acts``, it neither lives longer nor gets another cookie.

        Raises:
            ServiceError: SESSION_REQUIRED when the sign-in has ended, or a replaced cookie
                leads nowhere; others as ``PanelTokens.fresh``.
        """
        sent, browser = browser, await self._latest(browser)
        if not sent.is_replaced and not browser.panel.delivered:
            await self.context.store.note_delivery(browser.cookie.id_hash)
            browser = Browser(browser.cookie, replace(browser.panel, delivered=True))
        browser = await self.tokens.fresh(browser)
        tokens = self.context.open_tokens(browser.panel.sealed, browser.cookie) or {}
        try:
            who = await self.context.sessions.authenticate(tokens.get(ACCESS, ""))
        except ServiceError as refusal:
            if refusal.error is not TOKEN_INVALID:
                raise
            await self.context.store.remove(browser.cookie.id_hash)
            self.context.count(_EVENT, "revoked")
            raise ServiceError(SESSION_REQUIRED, "revoked") from refusal
        if sent.is_replaced:
            return await self._replaced(sent, browser, who, acts=acts)
        if not acts:
            return SignedInBrowser(browser, who)
        now = self.context.identity.now()
        if now - browser.panel.seen_at >= self.context.settings.touch:
            await self.context.store.touch(browser.cookie.id_hash, now)
            browser = Browser(browser.cookie, replace(browser.panel, seen_at=now))
        return SignedInBrowser(await self._renewed(browser), who)

    async def rotate(self, old: Browser) -> Browser:
        """
        Give a browser a new cookie and CSRF token after a gain of privilege.

        It waits while the tokens are refreshed: both would be stored, and one lost.

        Raises:
            ServiceError: SESSION_REQUIRED when the old one was used up meanwhile.
        """
        for _ in range(_TRIES):
            new = await self._supersede(old, self.context.cookies.new_csrf())
            if new is not None:
                return new
            await asyncio.sleep(POLL_S)
            found = await self.find(old.cookie.value)
            if found is None or found.is_replaced:
                break
            old = found
        raise ServiceError(SESSION_REQUIRED, "gone")

    async def logout(self, browser: Browser | None) -> None:
        """Sign this browser out; safe to repeat."""
        if browser is None or browser.panel.state is PanelState.ANONYMOUS:
            return
        who = await self.signed_in(browser)
        if who is not None:
            await self.context.sessions.logout(who)
            self.context.count(_EVENT, "logout")
        await self.context.store.remove(browser.cookie.id_hash)

    async def _pending(
        self,
        browser: Browser,
        cookie: Cookie,
        outcome: SecondFactorRequired,
        client: ClientInfo,
    ) -> Browser:
        """Wait for the code under a new cookie."""
        now = self.context.identity.now()
        panel = replace(
            self._begun(cookie, {MFA: outcome.mfa_token}, client),
            state=PanelState.MFA_PENDING,
            ends_at=min(outcome.ends_at, now + self.context.settings.pending),
        )
        return await self._replace(browser, Browser(cookie, panel))

    async def _full(
        self, browser: Browser, cookie: Cookie, outcome: SignedIn, client: ClientInfo
    ) -> Browser:
        """Store the tokens of a sign-in under a new cookie; end it if that fails."""
        pair, who = outcome.tokens, outcome.person
        content = {ACCESS: pair.access_token, REFRESH: pair.refresh_token}
        panel = replace(
            self._begun(cookie, content, client),
            state=PanelState.FULL,
            ends_at=pair.refresh_expires_at,
            session_id=who.session_id,
            user_id=who.user_id,
            access_ends_at=pair.expires_at,
        )
        try:
            new = await self._replace(browser, Browser(cookie, panel))
        except ServiceError:
            await self.context.sessions.logout(who)
            raise
        self.context.count(_EVENT, "created")
        return new

    async def _replace(self, old: Browser, new: Browser) -> Browser:
        """Replace a cookie by a new one; a sign-in under the old one ends."""
        if old.panel.state is PanelState.ANONYMOUS:
            await self.context.store.add(new.panel)
            return new
        before = await self.signed_in(old)
        if not await self.context.store.replace(old.cookie.id_hash, new.panel):
            raise ServiceError(SESSION_REQUIRED, "gone")
        if before is not None:
            await self.context.sessions.logout(before)
        return new

    async def _latest(self, browser: Browser) -> Browser:
        """Return the browser with the newest cookie that its own one leads to."""
        while browser.is_replaced:
            held = self.context.open_tokens(browser.panel.sealed, browser.cookie) or {}
            following = await self.find(held.get(_FOLLOWER, ""))
            if following is None:
                raise ServiceError(SESSION_REQUIRED, "gone")
            browser = following
        return browser

    async def _replaced(
        self, sent: Browser, latest: Browser, who: SignedInUser, *, acts: bool
    ) -> SignedInBrowser:
        """Say what a cookie that was replaced may do: see the module."""
        stepped_up = latest.panel.csrf != sent.panel.csrf
        if not acts or (stepped_up and latest.panel.delivered):
            return SignedInBrowser(Browser(sent.cookie, latest.panel, reads_only=True), who)
        if stepped_up:
            await self.context.identity.stores.sessions.note_factor(who.session_id, None)
            who = replace(who, factor_at=None)
            self.context.count(_EVENT, "recovered")
        return SignedInBrowser(replace(latest, answer_lost=stepped_up), who)

    async def _renewed(self, browser: Browser) -> Browser:
        """
        Renew an old cookie; of parallel calls, one does it.

        The CSRF token stays: no privilege was gained, and an open form must not fail.
        """
        panel, now = browser.panel, self.context.identity.now()
        if now - panel.created_at < self.context.settings.renewal:
            return browser
        return await self._supersede(browser, panel.csrf) or browser

    async def _supersede(self, old: Browser, csrf: str) -> Browser | None:
        """Replace a cookie; None when another call does, or refreshes its tokens."""
        context, now = self.context, self.context.identity.now()
        cookie = context.cookies.make()
        tokens = context.open_tokens(old.panel.sealed, old.cookie) or {}
        new = replace(
            old.panel,
            id_hash=cookie.id_hash,
            csrf=csrf,
            sealed=context.seal_tokens(tokens, cookie),
            created_at=now,
            seen_at=now,
            version=0,
            lease_until=None,
            delivered=False,
        )
        # without ``access_ends_at`` the old one is not refreshed, and its end ends nothing
        left = replace(
            old.panel,
            sealed=context.seal_tokens({_FOLLOWER: cookie.value}, old.cookie),
            access_ends_at=None,
            ends_at=min(old.panel.ends_at, now + context.settings.overlap),
        )
        if not await context.store.supersede(left, new, now):
            return None
        context.count(_EVENT, "rotated")
        return Browser(cookie, new)

    def _anonymous(self, begun: AnonymousCookie) -> Browser:
        """Describe the browser of a signed cookie."""
        panel = PanelSession(
            id_hash=begun.cookie.id_hash,
            state=PanelState.ANONYMOUS,
            csrf=begun.csrf,
            created_at=begun.created_at,
            seen_at=begun.created_at,
            ends_at=begun.created_at + self.context.settings.anonymous,
        )
        return Browser(begun.cookie, panel)

    def _begun(
        self, cookie: Cookie, content: Mapping[str, str], client: ClientInfo
    ) -> PanelSession:
        """Describe a session that starts now; its state and its end are still to be said."""
        now = self.context.identity.now()
        return PanelSession(
            id_hash=cookie.id_hash,
            state=PanelState.ANONYMOUS,
            csrf=self.context.cookies.new_csrf(),
            created_at=now,
            seen_at=now,
            ends_at=now + self.context.settings.anonymous,
            sealed=self.context.seal_tokens(content, cookie),
            address=client.address,
            user_agent=printable_agent(client.user_agent),
        )

    def _over(self, panel: PanelSession) -> str:
        """Return why a session is over; empty while it is not."""
        now: datetime = self.context.identity.now()
        if now >= panel.ends_at:
            return "absolute_end"
        if panel.state is PanelState.FULL and now - panel.seen_at >= self.context.settings.idle:
            return "idle_end"
        return ""

    async def _end(self, panel: PanelSession, why: str) -> None:
        """End a session, and the sign-in behind it."""
        await self.context.store.remove(panel.id_hash)
        if panel.access_ends_at is None:
            return
        identity = self.context.identity
        subject = f"user:{panel.user_id}"
        event = identity.audit_event(
            "system", "session.ended", subject, session=panel.session_id, why=why
        )
        await identity.stores.sessions.end(panel.session_id, identity.now(), why, event)
        self.context.count(_EVENT, why)
