"""
The panel's sessions: what a browser's opaque cookie stands for, from login to logout.

A browser starts anonymous, with a CSRF token and nothing else. Each gain of privilege
replaces the cookie, so that a cookie known before is worthless afterwards.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from gateway.domain.identity.browsers import Browser, Cookie, SignedInBrowser
from gateway.domain.identity.errors import MFA_EXPIRED, SESSION_REQUIRED, TOKEN_INVALID
from gateway.domain.identity.panel_sessions import PanelSession, PanelState
from gateway.domain.identity.sessions import SignedInUser, person
from gateway.domain.kernel.errors import ServiceError
from gateway.operations.identity.ports import ClientInfo
from gateway.operations.identity.sign_in import SecondFactorRequired
from gateway.operations.identity.tokens import SignedIn
from gateway.operations.identity.user_changes import audit_event, is_valid
from gateway.operations.panel.context import PanelContext
from gateway.operations.panel.token_refresh import ACCESS, MFA, REFRESH, PanelTokens

_EVENT = "session_event"


@dataclass(frozen=True, slots=True)
class PanelSessionRecords:
    """The panel's sessions."""

    context: PanelContext
    tokens: PanelTokens

    async def find(self, value: str) -> Browser | None:
        """Return what a cookie stands for; one that is over or idle is ended, and is nothing."""
        cookie = self.context.cookies.read(value)
        panel = await self.context.store.find(cookie.id_hash) if cookie else None
        # who has the id half alone, as from the store, has nothing
        if cookie is None or panel is None or self.context.opened(panel.sealed, cookie) is None:
            return None
        over = self._over(panel)
        if over:
            await self._end(panel, over)
            return None
        return Browser(cookie, panel)

    async def begin(self, client: ClientInfo) -> Browser:
        """Begin an anonymous one."""
        cookie = self.context.cookies.make()
        panel = self._anonymous(cookie, {}, client)
        await self.context.store.add(panel)
        return Browser(cookie, panel)

    async def signed_in(self, browser: Browser) -> SignedInUser | None:
        """Return who is signed in there; nothing is refreshed, and no idle time slides."""
        if browser.panel.state is not PanelState.FULL:
            return None
        found = await self.context.identity.stores.sessions.find(browser.panel.session_id)
        if (
            found is None
            or not found[0].is_live(self.context.identity.now())
            or not is_valid(*found)
        ):
            return None
        session, user = found
        return person(user, session)

    async def login(
        self, browser: Browser, email: str, password: str, client: ClientInfo
    ) -> Browser:
        """
        Take a password; the browser gets a new cookie.

        Raises:
            ServiceError: PASSWORD_WRONG; TOO_MANY_ATTEMPTS; SESSION_REQUIRED
                when the old cookie was used up meanwhile.
        """
        cookie = self.context.cookies.make()
        # the challenge is answered under the new cookie, and under no other
        bound = replace(client, panel=True, bound_to=cookie.id_hash)
        outcome = await self.context.signing_in.login(email, password, bound)
        if isinstance(outcome, SignedIn):
            return await self._full(browser, cookie, outcome, client)
        return await self._pending(browser, cookie, outcome, client)

    async def submit_code(self, browser: Browser, code: str, client: ClientInfo) -> Browser:
        """
        Take a code; the browser gets a new cookie again.

        Raises:
            ServiceError: MFA_INVALID; MFA_EXPIRED, also where no code was asked
                for; TOO_MANY_ATTEMPTS; SESSION_REQUIRED as ``login``.
        """
        tokens = self.context.opened(browser.panel.sealed, browser.cookie) or {}
        if browser.panel.state is not PanelState.MFA_PENDING or MFA not in tokens:
            raise ServiceError(MFA_EXPIRED, "challenge_unknown")
        bound = replace(client, panel=True, bound_to=browser.cookie.id_hash)
        outcome = await self.context.signing_in.submit_code(tokens[MFA], code, bound)
        return await self._full(browser, self.context.cookies.make(), outcome, client)

    async def seat(self, browser: Browser) -> SignedInBrowser:
        """
        Keep a session alive and return who it is; its cookie may have been renewed.

        Raises:
            ServiceError: SESSION_REQUIRED when the sign-in has ended; as ``PanelTokens.fresh``.
        """
        browser = await self.tokens.fresh(browser)
        tokens = self.context.opened(browser.panel.sealed, browser.cookie) or {}
        try:
            who = await self.context.sign_ins.authenticate(tokens.get(ACCESS, ""))
        except ServiceError as refusal:
            if refusal.error is not TOKEN_INVALID:
                raise
            await self.context.store.remove(browser.cookie.id_hash)
            self.context.seen(_EVENT, "revoked")
            raise ServiceError(SESSION_REQUIRED, "revoked") from refusal
        now = self.context.identity.now()
        if now - browser.panel.seen_at >= self.context.settings.touch:
            await self.context.store.touch(browser.cookie.id_hash, now)
        return SignedInBrowser(await self._renewed(browser), who)

    async def raised(self, old: Browser) -> Browser:
        """
        Give a browser a new cookie after a rise of privilege; the old one is void at once.

        Raises:
            ServiceError: SESSION_REQUIRED when the old one was used up meanwhile.
        """
        cookie = self.context.cookies.make()
        panel = replace(
            self._moved(old, cookie),
            csrf=self.context.cookies.new_csrf(),
            # of a cookie that was just renewed nobody knows: refreshed with the next call
            access_ends_at=old.panel.access_ends_at or self.context.identity.now(),
        )
        if not await self.context.store.replace(old.cookie.id_hash, panel):
            raise ServiceError(SESSION_REQUIRED, "gone")
        # one that was renewed a moment ago does not outlive the rise either
        for each in await self.context.store.of(panel.user_id):
            if each.session_id == panel.session_id and each.id_hash != panel.id_hash:
                await self.context.store.remove(each.id_hash)
        self.context.seen(_EVENT, "rotated")
        return Browser(cookie, panel)

    async def leave(self, browser: Browser | None) -> None:
        """Sign out, tokens and all; safe to repeat."""
        if browser is None:
            return
        who = await self.signed_in(browser)
        if who is not None:
            await self.context.sign_ins.logout(who)
            self.context.seen(_EVENT, "logout")
        await self.forget(browser)

    async def forget(self, browser: Browser) -> None:
        """Void a cookie, whatever became of the sign-in."""
        await self.context.store.remove(browser.cookie.id_hash)

    async def _pending(
        self, browser: Browser, cookie: Cookie, outcome: SecondFactorRequired, client: ClientInfo
    ) -> Browser:
        """Wait for the code."""
        now = self.context.identity.now()
        panel = replace(
            self._anonymous(cookie, {MFA: outcome.mfa_token}, client),
            state=PanelState.MFA_PENDING,
            ends_at=min(outcome.ends_at, now + self.context.settings.pending),
        )
        return await self._risen(browser, Browser(cookie, panel))

    async def _full(
        self, browser: Browser, cookie: Cookie, outcome: SignedIn, client: ClientInfo
    ) -> Browser:
        """Keep the tokens of a sign-in; what cannot be kept is ended."""
        pair, who = outcome.tokens, outcome.person
        content = {ACCESS: pair.access_token, REFRESH: pair.refresh_token}
        panel = replace(
            self._anonymous(cookie, content, client),
            state=PanelState.FULL,
            ends_at=pair.refresh_expires_at,
            session_id=who.session_id,
            user_id=who.user_id,
            access_ends_at=pair.expires_at,
        )
        try:
            risen = await self._risen(browser, Browser(cookie, panel))
        except ServiceError:
            await self.context.sign_ins.logout(who)
            raise
        self.context.seen(_EVENT, "created")
        return risen

    async def _risen(self, old: Browser, new: Browser) -> Browser:
        """Put a new cookie in an old one's place; a sign-in that stood there ends."""
        before = await self.signed_in(old)
        if not await self.context.store.replace(old.cookie.id_hash, new.panel):
            raise ServiceError(SESSION_REQUIRED, "gone")
        if before is not None:
            await self.context.sign_ins.logout(before)
        return new

    async def _renewed(self, browser: Browser) -> Browser:
        """
        Renew an old cookie; of calls at the same time one does it.

        The token against forged requests stays: nobody's privilege rose, and a
        form that is open must not fail.
        """
        context, panel, now = self.context, browser.panel, self.context.identity.now()
        if panel.access_ends_at is None or now - panel.created_at < context.settings.renewal:
            return browser
        until = now + context.settings.lease
        if not await context.store.lease(panel.id_hash, panel.version, now, until):
            return browser
        cookie = context.cookies.make()
        new = self._moved(browser, cookie)
        await context.store.add(new)
        # without that instant it is neither refreshed nor renewed, and ends nothing when it ends
        old = replace(panel, access_ends_at=None, ends_at=now + context.settings.overlap)
        if not await context.store.save(old, panel.version):
            await context.store.remove(new.id_hash)
            return browser
        context.seen(_EVENT, "rotated")
        return Browser(cookie, new)

    def _moved(self, browser: Browser, cookie: Cookie) -> PanelSession:
        """Describe what a browser has under a new cookie."""
        now = self.context.identity.now()
        tokens = self.context.opened(browser.panel.sealed, browser.cookie) or {}
        return replace(
            browser.panel,
            id_hash=cookie.id_hash,
            sealed=self.context.sealed(tokens, cookie),
            created_at=now,
            seen_at=now,
            version=0,
            lease_until=None,
        )

    def _anonymous(
        self, cookie: Cookie, content: Mapping[str, str], client: ClientInfo
    ) -> PanelSession:
        """Describe an anonymous one of now."""
        now = self.context.identity.now()
        return PanelSession(
            id_hash=cookie.id_hash,
            state=PanelState.ANONYMOUS,
            csrf=self.context.cookies.new_csrf(),
            created_at=now,
            seen_at=now,
            ends_at=now + self.context.settings.waiting,
            sealed=self.context.sealed(content, cookie),
            address=client.address,
            user_agent="".join(each for each in client.user_agent[:256] if each.isprintable()),
        )

    def _over(self, panel: PanelSession) -> str:
        """Say why it is over; empty while it is not."""
        now: datetime = self.context.identity.now()
        if now >= panel.ends_at:
            return "absolute_end"
        if panel.state is PanelState.FULL and now - panel.seen_at >= self.context.settings.idle:
            return "idle_end"
        return ""

    async def _end(self, panel: PanelSession, why: str) -> None:
        """End one, and the sign-in that was its."""
        await self.context.store.remove(panel.id_hash)
        if panel.access_ends_at is None:
            return
        identity = self.context.identity
        subject = f"user:{panel.user_id}"
        event = audit_event(
            identity, "system", "session.ended", subject, session=panel.session_id, why=why
        )
        await identity.stores.sessions.end(panel.session_id, identity.now(), why, event)
        self.context.seen(_EVENT, why)
