"""The panel: gates behind a cookie, each with its layers against forged requests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from gateway.domain.requests.calls import Call, Policy
from gateway.http.identity.account_routes import (
    BODY_BYTES,
    account_rows,
    recovery_rows,
    second_factor_rows,
)
from gateway.http.identity.actions import AccountActions, RecoveryActions
from gateway.http.identity.callers import (
    AnonymousCaller,
    SignedInCaller,
    admit_anonymous,
    admit_signed_in,
)
from gateway.http.panel.represent import PanelResponses
from gateway.http.panel.routes import (
    PanelSessionActions,
    entrance_rows,
    logout_rows,
    session_rows,
    step_up_rows,
)
from gateway.http.route import Gate, Row, Surface
from policies.authentication.session import BrowserCookie, DeviceCookie, SessionCookie
from policies.traffic.address_quota import WithinAddressQuota
from policies.traffic.csrf import CsrfToken, Origin, ReadFromOurPage, WriteFromOurPage
from policies.traffic.person_quota import WithinPersonQuota

NAME = "panel"
CHALLENGE = 'Bearer realm="iam"'
READING = frozenset({"GET"})
_BEFORE = "nobody is signed in before they sign in"
_OWN = "whoever signed in does this to their own account"
_LEAVING = "signing out twice is no mistake"

Who = TypeVar("Who")


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelPolicies:
    """
    The policies of cookie gates.

    Attributes:
        quota: Of addresses, before anybody is known.
        persons: Of people, from then on. Both are asked behind what tells foreign
            pages, so that none of those can use them up.
        origin: Where our pages come from.
    """

    quota: WithinAddressQuota
    persons: WithinPersonQuota
    browser: BrowserCookie
    device: DeviceCookie
    session: SessionCookie
    origin: Origin

    @property
    def reads(self) -> Sequence[Policy]:
        """Ask a script that reads."""
        return (ReadFromOurPage(origin=self.origin, marked=True), self.session)

    @property
    def writes(self) -> Sequence[Policy]:
        """Ask a script that writes."""
        return (WriteFromOurPage(self.origin), self.session, CsrfToken())


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelActions:
    """What the rows run."""

    acts: PanelSessionActions
    shows: PanelResponses
    ways_back: RecoveryActions
    own: AccountActions


def session_gate(runs: PanelActions, policies: PanelPolicies) -> Gate[AnonymousCaller]:
    """Return the gate of the session row: a page asks it before anybody is known."""
    return Gate(
        policies=(
            ReadFromOurPage(origin=policies.origin, marked=False),
            policies.quota,
            policies.browser,
        ),
        admits=admit_anonymous,
        rows=session_rows(runs.acts, runs.shows),
        scheme="session",
        opens="a page learns here whether anybody is signed in",
    )


def panel_surface(runs: PanelActions, policies: PanelPolicies) -> Surface:
    """Put the gates together."""
    return Surface(
        name=NAME,
        prefix="/panel",
        gates=(
            _strangers(runs, policies),
            _leaving(runs, policies),
            *_members(runs, policies),
        ),
        challenge=CHALLENGE,
        body_bytes=BODY_BYTES,
        exempt=frozenset({"panel.logout"}),
        explains=True,
    )


def _members(runs: PanelActions, policies: PanelPolicies) -> Sequence[Gate[SignedInCaller]]:
    """Return the gates of who signed in: one for reads, one for writes."""
    rows = (
        *step_up_rows(runs.acts, runs.shows),
        *account_rows(NAME, runs.own),
        *second_factor_rows(NAME, runs.own),
    )

    def admit(call: Call) -> SignedInCaller:
        """Let somebody in who leaves nothing behind when their session ends."""
        return replace(admit_signed_in(call), logout_headers=runs.shows.logout_headers)

    parts = ((policies.reads, _reading(rows)), (policies.writes, _writing(rows)))
    return [
        Gate(
            policies=(*asked, policies.persons),
            admits=admit,
            rows=part,
            scheme="session",
            opens=_OWN,
        )
        for asked, part in parts
    ]


def _strangers(runs: PanelActions, policies: PanelPolicies) -> Gate[AnonymousCaller]:
    """Return the gate of signing in: the token guards against being signed in by others."""
    return Gate(
        policies=(
            WriteFromOurPage(policies.origin),
            policies.browser,
            CsrfToken(),
            policies.device,
            policies.quota,
        ),
        admits=admit_anonymous,
        rows=(
            *entrance_rows(runs.acts, runs.shows),
            *recovery_rows(NAME, runs.ways_back, runs.shows.remembered),
        ),
        scheme="session",
        opens=_BEFORE,
    )


def _leaving(runs: PanelActions, policies: PanelPolicies) -> Gate[AnonymousCaller]:
    """Return the gate of signing out."""
    return Gate(
        policies=(
            WriteFromOurPage(policies.origin),
            policies.browser,
            CsrfToken(without_session=True),
        ),
        admits=admit_anonymous,
        rows=logout_rows(runs.acts, runs.shows),
        scheme="session",
        opens=_LEAVING,
    )


def _reading(rows: Sequence[Row[Who]]) -> list[Row[Who]]:
    return [row for row in rows if row.method in READING]


def _writing(rows: Sequence[Row[Who]]) -> list[Row[Who]]:
    return [row for row in rows if row.method not in READING]
