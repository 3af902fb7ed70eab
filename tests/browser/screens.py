"""
Every screen of the panel: the one list that the tests, the photographs and the bench go through.

A page without an entry fails a test, and so does an entry without a page.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from gateway.core.rights import Role
from tests.browser.inspection import LOOKS, USUAL, Look
from tests.browser.people import MOVED, NOBODY, PENDING, PLAIN

OK = 200
NOT_FOUND = 404
FORBIDDEN = 403


@dataclass(frozen=True, slots=True, kw_only=True)
class Screen:
    """
    One screen.

    Attributes:
        name: Of its photographs.
        path: With names of ``tests/browser/seeds.py`` in braces.
        by: The role of who looks; ``NOBODY`` is not signed in.
        empty: What somebody gets whose company has nothing: ``OK`` of a list, ``NOT_FOUND`` of
            what belongs to another company; None where the page is the same for everybody.
        closed_to: A role that may not see it; None where every role may.
    """

    name: str
    path: str
    by: str = Role.ADMIN
    empty: int | None = OK
    closed_to: str | None = None

    def at(self, seeds: Mapping[str, str]) -> str:
        """Return the address, with the ids of what was planted."""
        return self.path.format_map(seeds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """
    A screen in one of its states, looked at in one way.

    Attributes:
        state: ``data``, ``empty`` or ``closed``.
    """

    screen: Screen
    state: str
    look: Look

    def __str__(self) -> str:
        return f"{self.screen.name} {self.state} {self.look}"

    @property
    def status(self) -> int:
        if self.state == "closed":
            return FORBIDDEN
        return self.screen.empty or OK if self.state == "empty" else OK


_ACCESS = (
    Screen(
        name="credentials",
        path="/panel/credentials",
        by=Role.SECURITY,
        closed_to=Role.APPROVER,
    ),
    Screen(
        name="credential",
        path="/panel/credentials/{credential}",
        by=Role.SECURITY,
        empty=NOT_FOUND,
        closed_to=Role.APPROVER,
    ),
    Screen(
        name="credential_new",
        path="/panel/credentials/new",
        by=Role.SECURITY,
        closed_to=Role.APPROVER,
    ),
    Screen(
        name="credential_rotation",
        path="/panel/credentials/{credential}/rotate",
        by=Role.SECURITY,
        empty=NOT_FOUND,
        closed_to=Role.APPROVER,
    ),
    Screen(
        name="credential_end",
        path="/panel/credentials/{credential}/revoke",
        by=Role.SECURITY,
        empty=NOT_FOUND,
        closed_to=Role.APPROVER,
    ),
)

_ENDPOINTS = (
    Screen(name="endpoints", path="/panel/endpoints"),
    Screen(name="endpoint", path="/panel/endpoints/{endpoint}", empty=NOT_FOUND),
    Screen(
        name="endpoint_new",
        path="/panel/endpoints/new?company_id={company}",
        empty=None,
        closed_to=Role.OPERATOR,
    ),
    Screen(name="deliveries", path="/panel/deliveries"),
    Screen(name="delivery", path="/panel/deliveries/{delivery}", empty=NOT_FOUND),
    Screen(
        name="endpoint_deliveries",
        path="/panel/endpoints/{endpoint}/deliveries",
        empty=NOT_FOUND,
    ),
)

_AT_ACCOUNT = "/panel/accounts/{main}"
_ACCOUNTS = (
    Screen(name="accounts", path="/panel/accounts"),
    Screen(name="account", path=f"{_AT_ACCOUNT}?read=1", empty=NOT_FOUND),
    Screen(name="account-bank", path=f"{_AT_ACCOUNT}/bank", empty=NOT_FOUND, closed_to=Role.VIEWER),
    Screen(name="companies", path="/panel/companies"),
    Screen(name="company", path="/panel/companies/{company}", empty=NOT_FOUND),
    Screen(
        name="single-sign-on",
        path="/panel/companies/{company}/single-sign-on",
        empty=NOT_FOUND,
        closed_to=Role.OPERATOR,
    ),
    Screen(
        name="account-new",
        path="/panel/companies/{company}/new-account",
        empty=NOT_FOUND,
        closed_to=Role.OPERATOR,
    ),
    Screen(name="sandbox", path="/panel/sandbox", by=Role.OPERATOR),
    Screen(name="statement", path=f"{_AT_ACCOUNT}/statement?read=1", empty=NOT_FOUND),
    Screen(name="closing", path=f"{_AT_ACCOUNT}/closing?read=1", empty=NOT_FOUND),
    Screen(name="closings", path="/panel/closings?days=1", by=Role.APPROVER),
    Screen(name="keys", path=f"{_AT_ACCOUNT}/keys?read=1", by=Role.OPERATOR, empty=NOT_FOUND),
    Screen(
        name="key-cancel",
        path=f"{_AT_ACCOUNT}/keys/{{key}}/cancel?read=1",
        by=Role.OPERATOR,
        empty=NOT_FOUND,
        closed_to=Role.VIEWER,
    ),
)
_CHARGES = (
    Screen(name="charges", path="/panel/charges", by=Role.OPERATOR),
    Screen(
        name="charge",
        path=f"{_AT_ACCOUNT}/charges/{{open_charge}}?read=1",
        by=Role.OPERATOR,
        empty=NOT_FOUND,
    ),
    Screen(
        name="charge-new",
        path=f"{_AT_ACCOUNT}/new-charge?read=1",
        by=Role.OPERATOR,
        empty=NOT_FOUND,
        closed_to=Role.VIEWER,
    ),
    Screen(name="received", path="/panel/received?account_id={main}&read=1", by=Role.OPERATOR),
    Screen(
        name="refund",
        path=f"{_AT_ACCOUNT}/received/{{payment}}/refund?read=1",
        by=Role.OPERATOR,
        empty=NOT_FOUND,
        closed_to=Role.VIEWER,
    ),
)
_PAYOUT = "/panel/accounts/{main}/payouts"
_PAYOUTS = (
    Screen(name="payouts", path="/panel/payouts"),
    Screen(name="payout", path=_PAYOUT + "/{paid}", empty=NOT_FOUND),
    Screen(name="payout-returned", path=_PAYOUT + "/{returned}", empty=NOT_FOUND),
    Screen(name="payout-in-review", path=_PAYOUT + "/{in_review}", empty=NOT_FOUND),
    Screen(name="payout-not-executed", path=_PAYOUT + "/{not_executed}", empty=NOT_FOUND),
    Screen(name="payout-receipt", path=_PAYOUT + "/{paid}/receipt", empty=NOT_FOUND),
    Screen(name="payout-certainty", path=_PAYOUT + "/{paid}/certainty", empty=NOT_FOUND),
    Screen(name="unresolved", path="/panel/unresolved", by=Role.APPROVER),
    Screen(
        name="payout-new",
        path="/panel/payouts/new",
        by=Role.OPERATOR,
        closed_to=Role.VIEWER,
    ),
    Screen(
        name="payout-new-bank",
        path="/panel/payouts/new?to=bank_account",
        by=Role.OPERATOR,
        closed_to=Role.VIEWER,
    ),
    Screen(
        name="payout-recipients",
        path="/panel/payouts/new/recipients?account_id={main}",
        by=Role.OPERATOR,
        closed_to=Role.VIEWER,
    ),
    Screen(
        name="payout-again",
        path="/panel/payouts/new?account_id={main}&again={paid}",
        by=Role.OPERATOR,
        closed_to=Role.VIEWER,
    ),
    Screen(
        name="payout-new-balance",
        path="/panel/payouts/new/balance?account_id={main}&value=1,00",
        by=Role.OPERATOR,
        empty=NOT_FOUND,
    ),
    Screen(name="search", path="/panel/search?q=pedido-10"),
)

_BATCHES = (
    Screen(name="batches", path="/panel/batches"),
    Screen(name="batch", path="/panel/batches/{file}", empty=NOT_FOUND),
    Screen(name="batch-wrong", path="/panel/batches/{wrong_file}", empty=NOT_FOUND),
    Screen(name="batch-new", path="/panel/batches/new", by=Role.OPERATOR, closed_to=Role.VIEWER),
)

_APPROVALS = (
    Screen(name="approvals", path="/panel/approvals", by=Role.APPROVER),
    Screen(
        name="approval-batch",
        path="/panel/approvals/{file_order}",
        by=Role.APPROVER,
        empty=NOT_FOUND,
    ),
    Screen(
        name="approval",
        path="/panel/approvals/{approval}",
        by=Role.APPROVER,
        empty=NOT_FOUND,
    ),
    Screen(
        name="approval-payout",
        path="/panel/approvals/{payout_order}",
        by=Role.APPROVER,
        empty=NOT_FOUND,
    ),
)

_NOW = "since={since}&until={until}"

_OPERATIONS = (
    Screen(name="overview", path="/panel"),
    Screen(name="overview-month", path="/panel?period=30d"),
    Screen(name="badges", path="/panel/badges"),
    Screen(name="overview-latest", path=f"/panel/overview/latest?{_NOW}"),
    Screen(name="overview-balances", path="/panel/overview/balances"),
    Screen(
        name="overview-refusals",
        path=f"/panel/overview/refusals?{_NOW}",
        closed_to=Role.VIEWER,
    ),
    Screen(name="providers", path="/panel/providers", empty=None),
    Screen(name="provider", path="/panel/providers/sandbox?window=24h", empty=None),
    Screen(name="incident", path="/panel/providers/sandbox/incident", empty=None),
    Screen(name="stops", path="/panel/stops"),
    Screen(name="outflow", path="/panel/outflow"),
    Screen(
        name="outflow_subject",
        path="/panel/outflow/company/{company}",
        empty=NOT_FOUND,
    ),
    Screen(
        name="stop_new",
        path="/panel/stops/new?scope=provider&subject=sandbox",
        empty=None,
        closed_to=Role.VIEWER,
    ),
    Screen(
        name="stop_ending",
        path="/panel/stops/{stop}/lift",
        empty=NOT_FOUND,
        closed_to=Role.VIEWER,
    ),
    Screen(name="callbacks", path="/panel/callbacks"),
)

_REQUESTS = (
    Screen(name="requests", path="/panel/requests", closed_to=Role.VIEWER),
    Screen(name="trace", path="/panel/trace/{trace}", empty=NOT_FOUND, closed_to=Role.VIEWER),
    Screen(name="explain", path="/panel/explain", closed_to=Role.VIEWER),
)
_CONTROL = (
    Screen(name="audit", path="/panel/audit", by=Role.SECURITY, closed_to=Role.VIEWER),
    Screen(name="audit-proof", path="/panel/audit/proof", by=Role.SECURITY, closed_to=Role.VIEWER),
    Screen(name="config", path="/panel/config", by=Role.SECURITY, closed_to=Role.VIEWER),
    Screen(name="errors", path="/panel/errors"),
    Screen(name="reference", path="/panel/reference"),
)
_PEOPLE = (
    Screen(name="own-account", path="/panel/me", by=Role.SECURITY, empty=None),
    Screen(name="own-notifications", path="/panel/me/notifications", empty=None),
    Screen(name="chats", path="/panel/chats", closed_to=Role.OPERATOR),
    Screen(name="people", path="/panel/people", closed_to=Role.OPERATOR),
    Screen(name="person", path="/panel/people/{person}", empty=NOT_FOUND, closed_to=Role.OPERATOR),
)

SCREENS: tuple[Screen, ...] = (
    Screen(name="sign-in", path="/panel/login", by=NOBODY, empty=None),
    Screen(name="sign-in-company", path="/panel/login/company", by=NOBODY, empty=None),
    Screen(
        name="sign-in-company-back",
        path="/panel/login/company/{company}/callback",
        by=NOBODY,
        empty=None,
    ),
    Screen(name="second-factor", path="/panel/login/code", by=PENDING, empty=None),
    Screen(name="network", path="/panel/login/network", by=MOVED, empty=None),
    Screen(name="recovery-code", path="/panel/login/code?with=recovery", by=PENDING, empty=None),
    Screen(name="forgotten", path="/panel/forgotten", by=NOBODY, empty=None),
    Screen(name="forgotten-sent", path="/panel/forgotten?sent=1", by=NOBODY, empty=None),
    Screen(name="new-password", path="/panel/reset?token=made-up", by=NOBODY, empty=None),
    Screen(name="invitation", path="/panel/invitation?token=made-up", by=NOBODY, empty=None),
    Screen(name="factor", path="/panel/factor", by=PLAIN, empty=None),
    Screen(name="factor-code", path="/panel/factor/code", by=PLAIN, empty=None),
    Screen(name="stay", path="/panel/stay", empty=None),
    *_OPERATIONS,
    *_ACCESS,
    *_ENDPOINTS,
    *_ACCOUNTS,
    *_CHARGES,
    *_APPROVALS,
    *_BATCHES,
    *_PAYOUTS,
    *_REQUESTS,
    *_CONTROL,
    *_PEOPLE,
)


def states(screen: Screen) -> Iterator[str]:
    yield "data"
    if screen.empty is not None:
        yield "empty"
    if screen.closed_to is not None:
        yield "closed"


def usual(screen: Screen) -> Case:
    """Return the case that is looked at in every run of the tests."""
    return Case(screen=screen, state="data", look=USUAL)


def cases(screen: Screen) -> list[Case]:
    """Return every case of a screen, the usual one first."""
    return [
        Case(screen=screen, state=state, look=look) for state in states(screen) for look in LOOKS
    ]
