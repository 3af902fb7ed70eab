"""The panel: gates behind a cookie, each with its layers against forged requests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from gateway.domain.requests.calls import Call, Policy
from gateway.http.identity.account_routes import BODY_BYTES, factor_rows, own_rows, way_back_rows
from gateway.http.identity.actions import OwnAccount, WaysBack
from gateway.http.identity.callers import Guest, Member, admit_guest, admit_member
from gateway.http.panel.represent import PanelShows
from gateway.http.panel.routes import (
    PanelActs,
    entrance_rows,
    leaving_rows,
    rising_rows,
    session_rows,
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
class PanelQuestions:
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
class PanelRuns:
    """What the rows run."""

    acts: PanelActs
    shows: PanelShows
    ways_back: WaysBack
    own: OwnAccount


def session_gate(runs: PanelRuns, questions: PanelQuestions) -> Gate[Guest]:
    """Return the gate of the session row: a page asks it before anybody is known."""
    return Gate(
        policies=(
            ReadFromOurPage(origin=questions.origin, marked=False),
            questions.quota,
            questions.browser,
        ),
        admits=admit_guest,
        rows=session_rows(runs.acts, runs.shows),
        scheme="session",
        opens="a page learns here whether anybody is signed in",
    )


def panel_surface(runs: PanelRuns, questions: PanelQuestions) -> Surface:
    """Put the gates together."""
    return Surface(
        name=NAME,
        prefix="/panel",
        gates=(
            _strangers(runs, questions),
            _leaving(runs, questions),
            *_members(runs, questions),
        ),
        challenge=CHALLENGE,
        body_bytes=BODY_BYTES,
        exempt=frozenset({"panel.logout"}),
        explains=True,
    )


def _members(runs: PanelRuns, questions: PanelQuestions) -> Sequence[Gate[Member]]:
    """Return the gates of who signed in: one for reads, one for writes."""
    rows = (
        *rising_rows(runs.acts, runs.shows),
        *own_rows(NAME, runs.own),
        *factor_rows(NAME, runs.own),
    )

    def admit(call: Call) -> Member:
        """Let somebody in who leaves nothing behind when their session ends."""
        return replace(admit_member(call), farewell=runs.shows.farewell)

    parts = ((questions.reads, _reading(rows)), (questions.writes, _writing(rows)))
    return [
        Gate(
            policies=(*policies, questions.persons),
            admits=admit,
            rows=part,
            scheme="session",
            opens=_OWN,
        )
        for policies, part in parts
    ]


def _strangers(runs: PanelRuns, questions: PanelQuestions) -> Gate[Guest]:
    """Return the gate of signing in: the token guards against being signed in by others."""
    return Gate(
        policies=(
            WriteFromOurPage(questions.origin),
            questions.browser,
            CsrfToken(),
            questions.device,
            questions.quota,
        ),
        admits=admit_guest,
        rows=(
            *entrance_rows(runs.acts, runs.shows),
            *way_back_rows(NAME, runs.ways_back, runs.shows.remembered),
        ),
        scheme="session",
        opens=_BEFORE,
    )


def _leaving(runs: PanelRuns, questions: PanelQuestions) -> Gate[Guest]:
    """Return the gate of signing out."""
    return Gate(
        policies=(
            WriteFromOurPage(questions.origin),
            questions.browser,
            CsrfToken(without_session=True),
        ),
        admits=admit_guest,
        rows=leaving_rows(runs.acts, runs.shows),
        scheme="session",
        opens=_LEAVING,
    )


def _reading(rows: Sequence[Row[Who]]) -> list[Row[Who]]:
    return [row for row in rows if row.method in READING]


def _writing(rows: Sequence[Row[Who]]) -> list[Row[Who]]:
    return [row for row in rows if row.method not in READING]
