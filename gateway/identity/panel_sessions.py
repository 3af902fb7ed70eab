"""
The panel's sessions behind a browser's opaque cookie, from login to logout.

A browser starts anonymous, with a CSRF token and nothing else: its cookie is signed, and has
no row in the store. Each gain of privilege gives it a new opaque cookie with a row.

A sign-in makes the earlier cookie worthless at once. An hour of use and a step-up replace the
cookie of a session, and their answer may be lost: for ``PanelSettings.overlap`` the old cookie
leads to the new one, sealed under the old cookie's own secret half.

- No cookie counts a code that was given after it: from the moment that a code is accepted, it
  counts with the cookie that it gave alone.
- Until a request brings the new cookie, a request that acts with the old one gets the new one.
After a
  step-up the second factor counts no longer then: a stolen cookie never gains a fresh factor.
- From then on the old cookie of a step-up reads only, for requests that were on their way.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final

from gateway.companies.model import Company
from gateway.core import errors
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
from gateway.core.sessions import IssuerSession, SignedInUser, person
from gateway.core.storage import StoreUnavailable
from gateway.core.user import User
from gateway.core.user_access import NETWORK_NEW
from gateway.core.user_errors import (
    CSRF_FAILED,
    MFA_EXPIRED,
    REFRESH_INVALID,
    SESSION_REQUIRED,
    TOKEN_INVALID,
)
from gateway.identity.context import IdentityContext, is_valid
from gateway.identity.cookies import PanelCookies
from gateway.identity.second_factor_codes import SecondFactorCodes
from gateway.identity.second_factors import SecondFactors
from gateway.identity.sessions import (
    OwnSessions,
    SignedIn,
    TokenPair,
    TokenRefresh,
    printable_agent,
)
from gateway.identity.sign_in import SecondFactorRequired, SignIn
from gateway.identity.store import StoredPanelSessions
from gateway.identity.webauthn import Assertion, AssertionOptions
from gateway.telemetry.ports import Event

ACCESS: Final = "access"
REFRESH: Final = "refresh"
MFA: Final = "mfa"
"""Names of the tokens sealed in a row."""

# a pause that a person does not notice, and few reads of the store
POLL_S: Final = 0.1
# a token that lasts as long as its session is not refreshed; times are cut to whole seconds
_NOT_WORTH_IT: Final = timedelta(seconds=1)
_REFRESHED: Final = Event.TOKEN_REFRESH
_EVENT: Final = Event.SESSION_EVENT
_FOLLOWER: Final = "follower"
"""The newer cookie, sealed in the row of the one that it replaced."""

_TRIES: Final = 60
"""For six seconds, longer than a refresh takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelSettings:
    """
    Lifetimes of the panel's sessions.

    Attributes:
        idle: A session ends after this time without a call.
        anonymous: Lifetime of a cookie before the sign-in.
        pending: Time between the password and the code.
        renewal: A cookie of this age is renewed.
        overlap: For so long a cookie that was renewed, or replaced at a step-up, leads to
            the newer one.
        refresh_ahead: An access token with less time left is refreshed first.
        lease: Exclusive right to refresh; longer than ``refresh_timeout``, or two
            processes would refresh the same token.
        refresh_timeout: Longest duration of a refresh.
        wait_timeout: How long other calls wait for it.
        touch: ``seen_at`` is written at most this often.
    """

    idle: timedelta = timedelta(minutes=15)
    anonymous: timedelta = timedelta(minutes=15)
    pending: timedelta = timedelta(minutes=5)
    renewal: timedelta = timedelta(minutes=60)
    overlap: timedelta = timedelta(seconds=30)
    refresh_ahead: timedelta = timedelta(seconds=60)
    lease: timedelta = timedelta(seconds=15)
    refresh_timeout: timedelta = timedelta(seconds=5)
    wait_timeout: timedelta = timedelta(seconds=6)
    touch: timedelta = timedelta(seconds=30)


@dataclass(frozen=True, slots=True, kw_only=True)
class IssuerProof:
    """
    What the identity provider of a company has proven.

    Attributes:
        user: As stored now.
        is_factor_proven: It has asked for a second factor, and the company trusts it in that.
        signed_in_at: When the person signed in there, as it says; None where it does not.
    """

    user: User
    by: IssuerSession
    is_factor_proven: bool
    signed_in_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedInView:
    """
    A user who is signed in.

    Attributes:
        company: The only company they see; None when they see several or all.
        idle_ends_at: When the session ends without another call.
    """

    person: SignedInUser
    company: Company | None
    codes_left: int
    idle_ends_at: datetime


@dataclass(frozen=True, slots=True)
class PanelView:
    """
    A browser, and who is signed in there.

    Attributes:
        signed_in: None before that; without a name while a code is required.
        new_cookie: Whether the answer must set a new cookie.
    """

    browser: Browser
    signed_in: SignedInView | None
    new_cookie: bool

    @property
    def is_pending(self) -> bool:
        """Return whether a code is required: to sign in, or at another network."""
        return self.browser.panel.state is not PanelState.ANONYMOUS and self.signed_in is None


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelSessions:
    """
    Signs browsers in and out, and keeps their sessions alive; close it in the end.

    Access tokens are refreshed once, however many calls wait. Within a process one task serves
    every call; between processes the lease in the row decides who refreshes. The task continues
    when the call that started it is cancelled.
    """

    store: StoredPanelSessions
    find_company: Callable[[str], Awaitable[Company | None]]
    cookies: PanelCookies
    identity: IdentityContext
    factors: SecondFactors
    settings: PanelSettings
    _refreshes: dict[str, asyncio.Task[PanelSession]] = field(default_factory=dict, init=False)

    async def find(self, value: str) -> Browser | None:
        """Return the browser of a cookie; a session that is over or idle is ended, and None."""
        anonymous = self.cookies.read_anonymous(value)
        if anonymous is not None:
            browser = self._anonymous(anonymous)
            return None if self._over(browser.panel) else browser
        cookie = self.cookies.read(value)
        panel = await self.store.find(cookie.id_hash) if cookie else None
        # the id half alone, as a reader of the store knows it, opens nothing
        if cookie is None or panel is None:
            return None
        if self._open(panel.sealed, cookie) is None:
            return None
        over = self._over(panel)
        if over:
            await self._end(panel, over)
            return None
        return Browser(cookie, panel)

    def begin(self) -> Browser:
        """Start an anonymous session; nothing is stored."""
        return self._anonymous(self.cookies.make_anonymous(self.identity.now()))

    async def signed_in(self, browser: Browser) -> SignedInUser | None:
        """Return the signed-in user, without refreshing or extending anything."""
        if browser.panel.state is not PanelState.FULL:
            return None
        identity = self.identity
        found = await identity.stores.sessions.find(browser.panel.session_id)
        if found is None or not found[0].is_live(identity.now()) or not is_valid(*found):
            return None
        session, user = found
        return _counting(person(user, session), browser.panel)

    async def login(
        self, browser: Browser | None, email: str, password: str, client: ClientInfo
    ) -> PanelView:
        """
        Sign this browser in. Returns its session, which may ask for a second factor.

        Raises:
            ServiceError: PASSWORD_WRONG; TOO_MANY_ATTEMPTS; SESSION_REQUIRED
                when the old cookie had a row that was used up meanwhile.
        """
        # a form that is sent twice signs in twice: the browser keeps one of the cookies, and the
        # other session ends by itself
        old = _present(browser)
        cookie = self.cookies.make()
        # the challenge can be answered under the new cookie, and under no other
        bound = replace(client, panel=True, bound_to=cookie.id_hash)
        outcome = await SignIn(self.identity).login(email, password, bound)
        if isinstance(outcome, SignedIn):
            return await self._new(await self._full(old, cookie, outcome, client))
        return await self._new(await self._pending(old, cookie, outcome, client))

    async def login_by_issuer(
        self, browser: Browser | None, proof: IssuerProof, client: ClientInfo
    ) -> PanelView:
        """
        Sign this browser in after the identity provider of a company has named the user.

        A browser without a cookie of ours, which may come from the provider, gets its first one.

        Raises:
            ServiceError: SESSION_REQUIRED as ``login``; as ``SignIn.by_issuer``.
        """
        old = browser or self.begin()
        cookie = self.cookies.make()
        bound = replace(client, panel=True, bound_to=cookie.id_hash)
        outcome = await SignIn(self.identity).by_issuer(
            proof.user,
            proof.by,
            bound,
            is_factor_proven=proof.is_factor_proven,
            signed_in_at=proof.signed_in_at,
        )
        if isinstance(outcome, SignedIn):
            return await self._new(await self._full(old, cookie, outcome, client))
        return await self._new(await self._pending(old, cookie, outcome, client))

    async def passkey_options(self, browser: Browser | None) -> AssertionOptions:
        """
        Ask for a passkey to sign in by: the answer works once, for five minutes, in this browser.

        Raises:
            ServiceError: as ``SignIn.passkey_options``.
        """
        present = _present(browser)
        tokens = self._open(present.panel.sealed, present.cookie) or {}
        id_hash = present.cookie.id_hash
        return await SignIn(self.identity).passkey_options(tokens.get(MFA, ""), id_hash)

    async def login_by_passkey(
        self, browser: Browser | None, passkey: Assertion, client: ClientInfo
    ) -> PanelView:
        """
        Sign this browser in by a passkey, whether a password was given before or not.

        Raises:
            ServiceError: PASSKEY_INVALID; TOO_MANY_ATTEMPTS; SESSION_REQUIRED as ``login``.
        """
        old = _present(browser)
        bound = replace(client, panel=True, bound_to=old.cookie.id_hash)
        tokens = self._open(old.panel.sealed, old.cookie) or {}
        outcome = await SignIn(self.identity).by_passkey(passkey, bound, tokens.get(MFA, ""))
        cookie = self.cookies.make()
        return await self._new(await self._full(old, cookie, outcome, client))

    async def submit_code(
        self, browser: Browser | None, code: str, client: ClientInfo
    ) -> PanelView:
        """
        Finish the sign-in of this browser with a code.

        Raises:
            ServiceError: MFA_INVALID; MFA_EXPIRED, also where no code was required;
                TOO_MANY_ATTEMPTS; SESSION_REQUIRED as ``login``.
        """
        old = _present(browser)
        tokens = self._open(old.panel.sealed, old.cookie) or {}
        if old.panel.state is not PanelState.MFA_PENDING or MFA not in tokens:
            raise ServiceError(MFA_EXPIRED, "challenge_unknown")
        bound = replace(client, panel=True, bound_to=old.cookie.id_hash)
        outcome = await SignIn(self.identity).submit_code(tokens[MFA], code, bound)
        cookie = self.cookies.make()
        return await self._new(await self._full(old, cookie, outcome, client))

    async def step_up(
        self, browser: Browser | None, caller: SignedInUser, code: str, client: ClientInfo
    ) -> PanelView:
        """
        Submit a code of the second factor; it counts as recent for five minutes.

        The browser gets a new cookie, and its session may be used at the client's network.

        Raises:
            ServiceError: as ``SecondFactors.step_up`` and ``rotate``.
        """
        await self.factors.step_up(caller, code, client)
        return await self._new(await self.rotate(_present(browser)))

    async def step_up_by_passkey(
        self,
        browser: Browser | None,
        caller: SignedInUser,
        passkey: Assertion,
        client: ClientInfo,
    ) -> PanelView:
        """
        Use a passkey; it counts as a recent second factor for five minutes.

        The browser gets a new cookie, and its session may be used at the client's network.

        Raises:
            ServiceError: as ``SecondFactors.step_up_by_passkey`` and ``rotate``.
        """
        await self.factors.step_up_by_passkey(caller, passkey, client)
        return await self._new(await self.rotate(_present(browser)))

    async def confirm_network(
        self, browser: Browser | None, given: str | Assertion, client: ClientInfo
    ) -> PanelView:
        """
        Submit a code, or use a passkey, at a network that is new to the session of a browser.

        Raises:
            ServiceError: SESSION_REQUIRED without a session; as ``step_up``, or as
                ``step_up_by_passkey``.
        """
        latest = await self._latest(_present(browser))
        who = await self.signed_in(latest)
        if who is None:
            raise ServiceError(SESSION_REQUIRED, "missing")
        if isinstance(given, str):
            return await self.step_up(latest, who, given, client)
        return await self.step_up_by_passkey(latest, who, given, client)

    async def visit(self, browser: Browser | None, client: ClientInfo) -> PanelView:
        """
        Show the browser's session, signed in or not; always 200, by cookie alone.

        Without a session for its cookie, it starts a new one. Its idle time continues. At a
        network that is new to the session no user is shown: a code is required, or without a
        second factor a new sign-in.
        """
        if browser is not None and browser.panel.state is not PanelState.FULL:
            return PanelView(browser, None, new_cookie=False)
        if browser is not None:
            who = await self.signed_in(browser)
            if who is not None and not who.is_known_at(client.address):
                return PanelView(
                    browser if who.has_factor else self.begin(),
                    None,
                    new_cookie=not who.has_factor,
                )
            if who is not None:
                return PanelView(browser, await self._signed_in(browser, who), new_cookie=False)
        return PanelView(self.begin(), None, new_cookie=True)

    async def tries_left(self, browser: Browser) -> int:
        """Return how many codes may still be tried for the sign-in of a browser."""
        tokens = self._open(browser.panel.sealed, browser.cookie) or {}
        return await SignIn(self.identity).tries_left(tokens.get(MFA, ""))

    async def authenticate(
        self, browser: Browser, *, acts: bool = True, address: str | None = None
    ) -> SignedInBrowser:
        """
        Keep a session alive and return its user; its cookie may have been renewed.

        Unless the request ``acts``, it neither lives longer nor gets another cookie.

        Args:
            browser: With the cookie that it sent.
            acts: See above.
            address: At a network that is new to the session it neither lives longer nor gets
                another cookie; None asks for no network.

        Raises:
            ServiceError: SESSION_REQUIRED when the sign-in has ended, a replaced cookie
                leads nowhere, or the network is new to the session; others as ``fresh``.
        """
        sent, browser = browser, await self._latest(browser)
        browser = await self.fresh(browser)
        tokens = self._open(browser.panel.sealed, browser.cookie) or {}
        try:
            who = await OwnSessions(self.identity).authenticate(tokens.get(ACCESS, ""))
        except ServiceError as refusal:
            if refusal.error is not TOKEN_INVALID:
                raise
            await self.store.remove(browser.cookie.id_hash)
            self._count(_EVENT, "revoked")
            raise ServiceError(SESSION_REQUIRED, "revoked") from refusal
        if address is not None and not who.is_known_at(address):
            raise ServiceError(SESSION_REQUIRED, NETWORK_NEW)
        who = _counting(who, sent.panel)
        if not sent.is_replaced and not browser.panel.delivered:
            await self.store.note_delivery(browser.cookie.id_hash)
            browser = Browser(browser.cookie, replace(browser.panel, delivered=True))
        if sent.is_replaced:
            return await self._replaced(sent, browser, who, acts=acts)
        if not acts:
            return SignedInBrowser(browser, who)
        now = self.identity.now()
        if now - browser.panel.seen_at >= self.settings.touch:
            await self.store.touch(browser.cookie.id_hash, now)
            browser = Browser(browser.cookie, replace(browser.panel, seen_at=now))
        return SignedInBrowser(await self._renewed(browser), who)

    async def rotate(self, old: Browser) -> Browser:
        """
        Give a browser a new cookie and CSRF token after a gain of privilege.

        It waits while the tokens are refreshed: both would be stored, and one lost.

        Raises:
            ServiceError: SESSION_REQUIRED when the old one was used up meanwhile.
        """
        proven_at = self.identity.now()
        for _ in range(_TRIES):
            new = await self._supersede(old, self.cookies.new_csrf(), proven_at)
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
            await OwnSessions(self.identity).logout(who)
            self._count(_EVENT, "logout")
        await self.store.remove(browser.cookie.id_hash)

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
        task = self._refreshes.get(panel.id_hash)
        if task is None:
            task = self._start(browser)
        else:
            self._count(_REFRESHED, "coalesced")
        wait_s = self.settings.wait_timeout.total_seconds()
        await asyncio.wait({task}, timeout=wait_s)
        if task.done():
            return Browser(browser.cookie, task.result())
        return Browser(browser.cookie, self._stale_ok(panel))

    async def close(self) -> None:
        """Cancel every refresh and wait for its end."""
        tasks = list(self._refreshes.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _new(self, browser: Browser) -> PanelView:
        """Show a browser that has just got a new cookie."""
        who = await self.signed_in(browser)
        signed_in = None if who is None else await self._signed_in(browser, who)
        return PanelView(browser, signed_in, new_cookie=True)

    async def _signed_in(self, browser: Browser, who: SignedInUser) -> SignedInView:
        """Gather a user's fields for pages."""
        panel = browser.panel
        codes_left = 0
        if who.has_factor:
            codes_left = await SecondFactorCodes(self.identity).left(who.user_id)
        return SignedInView(
            person=who,
            company=await self._company(who),
            codes_left=codes_left,
            idle_ends_at=min(panel.seen_at + self.settings.idle, panel.ends_at),
        )

    async def _company(self, who: SignedInUser) -> Company | None:
        """Return the company of a user who sees only one."""
        if len(who.companies) != 1:
            return None
        (company_id,) = who.companies
        return await self.find_company(company_id)

    async def _pending(
        self,
        browser: Browser,
        cookie: Cookie,
        outcome: SecondFactorRequired,
        client: ClientInfo,
    ) -> Browser:
        """Wait for the code under a new cookie."""
        now = self.identity.now()
        panel = replace(
            self._begun(cookie, {MFA: outcome.mfa_token}, client),
            state=PanelState.MFA_PENDING,
            ends_at=min(outcome.ends_at, now + self.settings.pending),
        )
        return await self._replace(browser, Browser(cookie, panel))

    async def _full(
        self, browser: Browser, cookie: Cookie, outcome: SignedIn, client: ClientInfo
    ) -> Browser:
        """Store the tokens of a sign-in under a new cookie; end it if that fails."""
        pair, who = outcome.tokens, outcome.person
        content = {ACCESS: pair.access_token, REFRESH: pair.refresh_token}
        begun = self._begun(cookie, content, client)
        panel = replace(
            begun,
            state=PanelState.FULL,
            proven_at=begun.created_at,
            ends_at=pair.refresh_expires_at,
            session_id=who.session_id,
            user_id=who.user_id,
            access_ends_at=pair.expires_at,
        )
        try:
            new = await self._replace(browser, Browser(cookie, panel))
        except ServiceError:
            await OwnSessions(self.identity).logout(who)
            raise
        self._count(_EVENT, "created")
        return new

    async def _replace(self, old: Browser, new: Browser) -> Browser:
        """Replace a cookie; a sign-in under the old cookie ends."""
        if old.panel.state is PanelState.ANONYMOUS:
            await self.store.add(new.panel)
            return new
        before = await self.signed_in(old)
        if not await self.store.replace(old.cookie.id_hash, new.panel):
            raise ServiceError(SESSION_REQUIRED, "gone")
        if before is not None:
            await OwnSessions(self.identity).logout(before)
        return new

    async def _latest(self, browser: Browser) -> Browser:
        """Return the browser with the newest cookie that its own one leads to."""
        while browser.is_replaced:
            held = self._open(browser.panel.sealed, browser.cookie) or {}
            following = await self.find(held.get(_FOLLOWER, ""))
            if following is None:
                raise ServiceError(SESSION_REQUIRED, "gone")
            browser = following
        return browser

    async def _replaced(
        self, sent: Browser, latest: Browser, who: SignedInUser, *, acts: bool
    ) -> SignedInBrowser:
        """Return the rights of a replaced cookie: see the module."""
        stepped_up = latest.panel.csrf != sent.panel.csrf
        if not acts or (stepped_up and latest.panel.delivered):
            return SignedInBrowser(Browser(sent.cookie, latest.panel, reads_only=True), who)
        if stepped_up:
            await self.identity.stores.sessions.note_factor(who.session_id, None)
            who = replace(who, factor_at=None)
            self._count(_EVENT, "recovered")
        return SignedInBrowser(replace(latest, answer_lost=stepped_up), who)

    async def _renewed(self, browser: Browser) -> Browser:
        """
        Renew an old cookie; of parallel calls, one does it.

        The CSRF token stays: no privilege was gained, and an open form must not fail. Nor does
        the new cookie count a code that the old one does not.
        """
        panel, now = browser.panel, self.identity.now()
        if now - panel.created_at < self.settings.renewal:
            return browser
        return await self._supersede(browser, panel.csrf, panel.proven_at) or browser

    async def _supersede(
        self, old: Browser, csrf: str, proven_at: datetime | None
    ) -> Browser | None:
        """Replace a cookie; None when another call does, or refreshes its tokens."""
        now = self.identity.now()
        cookie = self.cookies.make()
        tokens = self._open(old.panel.sealed, old.cookie) or {}
        new = replace(
            old.panel,
            id_hash=cookie.id_hash,
            csrf=csrf,
            sealed=self._seal(tokens, cookie),
            created_at=now,
            seen_at=now,
            version=0,
            lease_until=None,
            delivered=False,
            proven_at=proven_at,
        )
        # without ``access_ends_at`` the old one is not refreshed, and its end ends nothing
        left = replace(
            old.panel,
            sealed=self._seal({_FOLLOWER: cookie.value}, old.cookie),
            access_ends_at=None,
            ends_at=min(old.panel.ends_at, now + self.settings.overlap),
        )
        if not await self.store.supersede(left, new, now):
            return None
        self._count(_EVENT, "rotated")
        return Browser(cookie, new)

    def _anonymous(self, begun: AnonymousCookie) -> Browser:
        """Describe the browser of a signed cookie."""
        panel = PanelSession(
            id_hash=begun.cookie.id_hash,
            state=PanelState.ANONYMOUS,
            csrf=begun.csrf,
            created_at=begun.created_at,
            seen_at=begun.created_at,
            ends_at=begun.created_at + self.settings.anonymous,
        )
        return Browser(begun.cookie, panel)

    def _begun(
        self, cookie: Cookie, content: Mapping[str, str], client: ClientInfo
    ) -> PanelSession:
        """Describe a session that starts now; its state and its end are still to be said."""
        now = self.identity.now()
        return PanelSession(
            id_hash=cookie.id_hash,
            state=PanelState.ANONYMOUS,
            csrf=self.cookies.new_csrf(),
            created_at=now,
            seen_at=now,
            ends_at=now + self.settings.anonymous,
            sealed=self._seal(content, cookie),
            address=client.address,
            user_agent=printable_agent(client.user_agent),
        )

    def _over(self, panel: PanelSession) -> str:
        """Return why a session is over; empty while it is not."""
        now: datetime = self.identity.now()
        if now >= panel.ends_at:
            return "absolute_end"
        if panel.state is PanelState.FULL and now - panel.seen_at >= self.settings.idle:
            return "idle_end"
        return ""

    async def _end(self, panel: PanelSession, why: str) -> None:
        """End a session, and the sign-in behind it."""
        await self.store.remove(panel.id_hash)
        if panel.access_ends_at is None:
            return
        identity = self.identity
        subject = f"user:{panel.user_id}"
        event = identity.audit_event(
            "system", "session.ended", subject, session=panel.session_id, why=why
        )
        await identity.stores.sessions.end(panel.session_id, identity.now(), why, event)
        self._count(_EVENT, why)

    def _start(self, browser: Browser) -> asyncio.Task[PanelSession]:
        """Start a refresh that outlives the call."""
        key = browser.panel.id_hash
        task = asyncio.create_task(self._refresh(browser))  # noqa: TID251 - close() ends it

        def on_done(done: asyncio.Task[PanelSession]) -> None:
            self._refreshes.pop(key, None)
            if not done.cancelled():
                # read, or asyncio would log an error that no caller waits for any more
                done.exception()

        self._refreshes[key] = task
        task.add_done_callback(on_done)
        return task

    async def _refresh(self, browser: Browser) -> PanelSession:
        """Refresh, unless another process did or does."""
        now = self.identity.now()
        panel = await self.store.find(browser.panel.id_hash)
        if panel is None:
            raise ServiceError(SESSION_REQUIRED, "gone")
        if not self._is_due(panel):
            return panel
        until = now + self.settings.lease
        if await self.store.lease(panel.id_hash, panel.version, now, until):
            return await self._exchange(panel, browser.cookie)
        self._count(_REFRESHED, "coalesced")
        return await self._await_other(panel)

    async def _await_other(self, panel: PanelSession) -> PanelSession:
        """Let another process refresh; the old token is used as long as it is valid."""
        if self._is_alive(panel):
            return panel
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self.settings.wait_timeout.total_seconds()):
                while True:
                    found = await self.store.find(panel.id_hash)
                    if found is None:
                        raise ServiceError(SESSION_REQUIRED, "gone")
                    if not self._is_due(found):
                        return found
                    await asyncio.sleep(POLL_S)
        return self._stale_ok(panel)

    async def _exchange(self, panel: PanelSession, cookie: Cookie) -> PanelSession:
        """Exchange the refresh token and store the new pair."""
        tokens = self._open(panel.sealed, cookie) or {}
        try:
            async with asyncio.timeout(self.settings.refresh_timeout.total_seconds()):
                pair = await TokenRefresh(self.identity).exchange(tokens.get(REFRESH, ""))
        except ServiceError as refusal:
            if refusal.error is not REFRESH_INVALID:
                raise
            await self.store.remove(panel.id_hash)
            self._count(_REFRESHED, "invalid_grant")
            raise ServiceError(SESSION_REQUIRED, "refresh") from refusal
        except (StoreUnavailable, TimeoutError) as problem:
            self._count(_REFRESHED, "error")
            return self._stale_ok(panel, problem)
        self._count(_REFRESHED, "ok")
        return await self._save(panel, cookie, pair)

    async def _save(self, panel: PanelSession, cookie: Cookie, pair: TokenPair) -> PanelSession:
        """Store the new pair over the version it was made from."""
        content = {ACCESS: pair.access_token, REFRESH: pair.refresh_token}
        sealed = self._seal(content, cookie)
        new = replace(panel, sealed=sealed, access_ends_at=pair.expires_at)
        if not await self.store.save(new, panel.version):
            raise ServiceError(SESSION_REQUIRED, "gone")
        return replace(new, version=panel.version + 1, lease_until=None)

    def _stale_ok(self, panel: PanelSession, problem: Exception | None = None) -> PanelSession:
        """Continue with the old token while it is valid; otherwise answer ``SVC.SYS.002``."""
        if self._is_alive(panel):
            return panel
        raise ServiceError(errors.AUTH_UNAVAILABLE, "refresh", {"Retry-After": "2"}) from problem

    def _is_alive(self, panel: PanelSession) -> bool:
        ends_at = panel.access_ends_at
        return ends_at is not None and self.identity.now() < ends_at

    def _is_due(self, panel: PanelSession) -> bool:
        """Return whether the token should be refreshed; not if it lasts until the session ends."""
        ends_at = panel.access_ends_at
        if ends_at is None or panel.ends_at - ends_at <= _NOT_WORTH_IT:
            return False
        return ends_at - self.identity.now() < self.settings.refresh_ahead

    def _seal(self, tokens: Mapping[str, str], cookie: Cookie) -> bytes:
        """Encrypt tokens for the row of a cookie."""
        return self.cookies.seal(json.dumps(tokens), cookie)

    def _open(self, sealed: bytes, cookie: Cookie) -> Mapping[str, str] | None:
        """Decrypt the tokens of a cookie's row; None when they are not sealed for it."""
        text = self.cookies.open(sealed, cookie)
        return None if text is None else json.loads(text)

    def _count(self, event: Event, label: str) -> None:
        self.identity.events.on_outcome(event, label)


def _counting(who: SignedInUser, panel: PanelSession) -> SignedInUser:
    """Return the user of a cookie, without a code that was given after it."""
    if who.factor_at is None:
        return who
    counts = panel.proven_at is not None and who.factor_at <= panel.proven_at
    return who if counts else replace(who, factor_at=None)


def _present(browser: Browser | None) -> Browser:
    """Return the browser that the policies found."""
    if browser is None:
        raise ServiceError(CSRF_FAILED, "token")
    return browser
