"""The surface of the panel: gates behind a cookie, each with its defences against CSRF."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from gateway.domain.requests.calls import Call, Policy
from gateway.http.identity.actions import AccountActions, RecoveryActions
from gateway.http.identity.callers import (
    AnonymousCaller,
    SignedInCaller,
    admit_anonymous,
    admit_signed_in,
)
from gateway.http.identity.routes import BODY_BYTES, account_rows, recovery_rows, second_factor_rows
from gateway.http.identity.surface import UserPolicies
from gateway.http.panel.represent import PanelResponses
from gateway.http.panel.routes import (
    PanelSessionActions,
    logout_rows,
    session_rows,
    sign_in_rows,
    step_up_rows,
)
from gateway.http.route import Gate, Row, Surface
from policies.authentication.session import BrowserCookie, DeviceCookie, SessionCookie
from policies.traffic.csrf import CsrfToken, ReadFromOurPage, WriteFromOurPage

NAME = "panel"
CHALLENGE = 'Bearer realm="iam"'
_BEFORE = "these rows are called before the sign-in"
_OWN = "every signed-in user may do this to their own account"
_LEAVING = "signing out twice is no error"

Who = TypeVar("Who")


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelPolicies:
    """
    The policies of cookie gates.

    Attributes:
        users: What is asked of users everywhere. Their quotas come after the checks of
            the origin, so that a foreign page cannot use them up.
    """

    users: UserPolicies
    browser: BrowserCookie
    device: DeviceCookie
    session: SessionCookie

    @property
    def reads(self) -> Sequence[Policy]:
        """The policies of reads by our scripts."""
        return (ReadFromOurPage(origin=self.users.origin, marked=True), self.session)

    @property
    def writes(self) -> Sequence[Policy]:
        """The policies of writes by our scripts."""
        return (WriteFromOurPage(self.users.origin), self.session, CsrfToken())


def session_gate(
    actions: PanelSessionActions, shows: PanelResponses, policies: PanelPolicies
) -> Gate[AnonymousCaller]:
    """Return the gate of the session row, which a page calls before the sign-in."""
    return Gate(
        policies=(
            ReadFromOurPage(origin=policies.users.origin, marked=False),
            policies.users.address_quota,
            policies.browser,
        ),
        admits=admit_anonymous,
        rows=session_rows(actions, shows),
        scheme="session",
        opens="a page learns here whether its browser is signed in",
    )


def panel_surface(
    actions: PanelSessionActions, shows: PanelResponses, policies: PanelPolicies
) -> Surface:
    """Build the surface from its gates."""
    return Surface(
        name=NAME,
        prefix="/panel",
        gates=(
            _strangers(actions, shows, policies),
            _leaving(actions, shows, policies),
            *_members(actions, shows, policies),
        ),
        challenge=CHALLENGE,
        body_bytes=BODY_BYTES,
        exempt=frozenset({"panel.logout"}),
        explains=True,
    )


def _members(
    actions: PanelSessionActions, shows: PanelResponses, policies: PanelPolicies
) -> Sequence[Gate[SignedInCaller]]:
    """Return the gates of signed-in users: one for reads, one for writes."""
    account = AccountActions(actions.services)
    rows = (
        *step_up_rows(actions, shows),
        *account_rows(NAME, account),
        *second_factor_rows(NAME, account),
    )

    def admit(call: Call) -> SignedInCaller:
        """Return the caller with the headers that clear the browser at logout."""
        return replace(admit_signed_in(call), logout_headers=shows.logout_headers)

    parts = ((policies.reads, _reading(rows)), (policies.writes, _writing(rows)))
    return [
        Gate(
            policies=(*asked, policies.users.user_quota),
            admits=admit,
            rows=part,
            scheme="session",
            opens=_OWN,
        )
        for asked, part in parts
    ]


def _strangers(
    actions: PanelSessionActions, shows: PanelResponses, policies: PanelPolicies
) -> Gate[AnonymousCaller]:
    """Return the gate of signing in; its CSRF token prevents login by a foreign page."""
    return Gate(
        policies=(
            WriteFromOurPage(policies.users.origin),
            policies.browser,
            CsrfToken(),
            policies.device,
            policies.users.address_quota,
        ),
        admits=admit_anonymous,
        rows=(
            *sign_in_rows(actions, shows),
            *recovery_rows(NAME, RecoveryActions(actions.services), shows.remembered),
        ),
        scheme="session",
        opens=_BEFORE,
    )


def _leaving(
    actions: PanelSessionActions, shows: PanelResponses, policies: PanelPolicies
) -> Gate[AnonymousCaller]:
    """Return the gate of signing out."""
    return Gate(
        policies=(
            WriteFromOurPage(policies.users.origin),
            policies.browser,
            CsrfToken(without_session=True),
        ),
        admits=admit_anonymous,
        rows=logout_rows(actions, shows),
        scheme="session",
        opens=_LEAVING,
    )


def _reading(rows: Sequence[Row[Who]]) -> list[Row[Who]]:
    return [row for row in rows if row.method == "GET"]


def _writing(rows: Sequence[Row[Who]]) -> list[Row[Who]]:
    return [row for row in rows if row.method != "GET"]
