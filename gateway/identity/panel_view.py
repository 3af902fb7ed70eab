"""What a page of the panel learns of its own session (``GET /iam/v1/auth/session``)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from gateway.companies.model import Company
from gateway.core.browsers import Browser, ClientInfo, PanelState
from gateway.core.errors import ServiceError
from gateway.core.sessions import SignedInUser
from gateway.core.user_errors import CSRF_FAILED
from gateway.identity.panel_sessions import PanelSessionRecords
from gateway.identity.second_factors import SecondFactorCodes, SecondFactors


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
        signed_in: None before that; while a code is required, it names nobody.
        new_cookie: The cookie is a new one, which the answer must set.
    """

    browser: Browser
    signed_in: SignedInView | None
    new_cookie: bool

    @property
    def is_pending(self) -> bool:
        """Say whether a code is required."""
        return self.browser.panel.state is PanelState.MFA_PENDING


@dataclass(frozen=True, slots=True)
class PanelViews:
    """Signs browsers in, and shows their sessions without keeping them alive."""

    records: PanelSessionRecords

    async def login(
        self, browser: Browser | None, email: str, password: str, client: ClientInfo
    ) -> PanelView:
        """
        Sign this browser in. Returns its session, which may ask for a second factor.

        Raises:
            ServiceError: as ``PanelSessionRecords.login``.
        """
        return await self._new(await self.records.login(_present(browser), email, password, client))

    async def submit_code(
        self, browser: Browser | None, code: str, client: ClientInfo
    ) -> PanelView:
        """
        Finish the sign-in of this browser with a code.

        Raises:
            ServiceError: as ``PanelSessionRecords.submit_code``.
        """
        return await self._new(await self.records.submit_code(_present(browser), code, client))

    async def step_up(self, browser: Browser | None, caller: SignedInUser, code: str) -> PanelView:
        """
        Submit a code of the second factor; it counts as recent for five minutes.

        The browser gets a new cookie.

        Raises:
            ServiceError: as ``SecondFactors.step_up`` and ``PanelSessionRecords.rotate``.
        """
        await SecondFactors(self.records.context.identity).step_up(caller, code)
        return await self._new(await self.records.rotate(_present(browser)))

    async def visit(self, browser: Browser | None) -> PanelView:
        """
        Show the browser's session, signed in or not; always 200, by cookie alone.

        If its cookie stands for nothing, it starts a new session. Its idle time goes on.
        """
        if browser is not None and browser.panel.state is not PanelState.FULL:
            return PanelView(browser, None, new_cookie=False)
        if browser is not None:
            who = await self.records.signed_in(browser)
            if who is not None:
                return PanelView(browser, await self._signed_in(browser, who), new_cookie=False)
        return PanelView(self.records.begin(), None, new_cookie=True)

    async def _new(self, browser: Browser) -> PanelView:
        """Show a browser that has just got a new cookie."""
        who = await self.records.signed_in(browser)
        signed_in = None if who is None else await self._signed_in(browser, who)
        return PanelView(browser, signed_in, new_cookie=True)

    async def _signed_in(self, browser: Browser, who: SignedInUser) -> SignedInView:
        """Gather what is shown of a user."""
        context, panel = self.records.context, browser.panel
        codes_left = 0
        if who.has_factor:
            codes_left = await SecondFactorCodes(context.identity).left(who.user_id)
        return SignedInView(
            person=who,
            company=await self._company(who),
            codes_left=codes_left,
            idle_ends_at=min(panel.seen_at + context.settings.idle, panel.ends_at),
        )

    async def _company(self, who: SignedInUser) -> Company | None:
        """Return the company of a user who sees only one."""
        if len(who.companies) != 1:
            return None
        (company_id,) = who.companies
        return await self.records.context.find_company(company_id)


def _present(browser: Browser | None) -> Browser:
    """Return the browser that the policies found."""
    if browser is None:
        raise ServiceError(CSRF_FAILED, "token")
    return browser
