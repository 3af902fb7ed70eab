"""What a page of the panel learns of its own session (``GET /iam/v1/auth/session``)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from gateway.domain.accounts.accounts import Company
from gateway.domain.identity.browsers import Browser
from gateway.domain.identity.panel_sessions import PanelState
from gateway.domain.identity.sessions import SignedInUser
from gateway.operations.identity.ports import ClientInfo
from gateway.operations.identity.second_factors import SecondFactorCodes
from gateway.operations.panel.sessions import PanelSessionRecords


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedInView:
    """
    Somebody who is signed in.

    Attributes:
        company: The only one they see; None when they see several or all.
        idle_ends_at: Without another call.
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
        signed_in: None before that; it names nobody while a code is asked for.
        given: The cookie is a new one, which the answer gives.
    """

    browser: Browser
    signed_in: SignedInView | None
    given: bool

    @property
    def is_pending(self) -> bool:
        """Say whether a code is asked for."""
        return self.browser.panel.state is PanelState.MFA_PENDING


@dataclass(frozen=True, slots=True)
class PanelViews:
    """Looks at sessions without keeping them alive."""

    records: PanelSessionRecords

    async def visit(self, browser: Browser | None, client: ClientInfo) -> PanelView:
        """Look at a browser; one whose cookie stands for nothing begins anew."""
        if browser is not None and browser.panel.state is not PanelState.FULL:
            return PanelView(browser, None, given=False)
        if browser is not None:
            who = await self.records.signed_in(browser)
            if who is not None:
                return PanelView(browser, await self._signed_in(browser, who), given=False)
        return PanelView(await self.records.begin(client), None, given=True)

    async def risen(self, browser: Browser) -> PanelView:
        """Look at a browser that has just got a new cookie."""
        who = await self.records.signed_in(browser)
        seen = None if who is None else await self._signed_in(browser, who)
        return PanelView(browser, seen, given=True)

    async def _signed_in(self, browser: Browser, who: SignedInUser) -> SignedInView:
        """Gather what is told of a person."""
        context, panel = self.records.context, browser.panel
        codes_left = (
            await SecondFactorCodes(context.identity).left(who.user_id) if who.has_factor else 0
        )
        return SignedInView(
            person=who,
            company=await self._company(who),
            codes_left=codes_left,
            idle_ends_at=min(panel.seen_at + context.settings.idle, panel.ends_at),
        )

    async def _company(self, who: SignedInUser) -> Company | None:
        """Return the one company of a person who sees one alone."""
        if len(who.companies) != 1:
            return None
        (company_id,) = who.companies
        return await self.records.context.companies.find(company_id)
