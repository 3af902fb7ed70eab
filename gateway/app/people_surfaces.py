"""The surfaces of people with everything they need: identity, its keys, the panel."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from gateway.app.build_identity import People
from gateway.app.build_panel import Panel
from gateway.config.settings import Settings
from gateway.http.identity.actions import AccountActions, RecoveryActions, SignInActions
from gateway.http.identity.surface import (
    IdentityActions,
    IdentityPolicies,
    identity_surface,
    keys_surface,
)
from gateway.http.panel.api import allowed_in, panel_api
from gateway.http.panel.represent import PanelResponses
from gateway.http.panel.routes import PanelSessionActions
from gateway.http.panel.surface import PanelActions, PanelPolicies, panel_surface, session_gate
from gateway.http.route import Surface
from gateway.telemetry.ports import Count
from policies.authentication.bearer import BearerToken
from policies.authentication.session import (
    HARDENED,
    INSECURE,
    BrowserCookie,
    DeviceCookie,
    SessionCookie,
)
from policies.traffic.quota import Quota, WithinAddressQuota, WithinPersonQuota

_RETURNED: Final = frozenset({"sign_in", "second_factor"})
"""Quotas of guesses: whoever was right gets the draw back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleParts:
    """
    What the surfaces of people stand on.

    Attributes:
        count: Counts an event under a label.
    """

    settings: Settings
    people: People
    panel: Panel
    count: Count


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleQuestions:
    """
    What is asked about people on every surface of theirs.

    Attributes:
        persons: The same buckets everywhere: a person has one.
    """

    bearer: BearerToken
    persons: WithinPersonQuota


def make_people_questions(parts: PeopleParts) -> PeopleQuestions:
    """Make the policies that find out whose access token it is, and how often they ask."""
    rate = parts.settings.ratelimits.person
    return PeopleQuestions(
        bearer=BearerToken(parts.people.services.sessions.authenticate),
        persons=WithinPersonQuota(Quota(rate.rate, rate.burst), time.monotonic, parts.count),
    )


def make_people_surfaces(parts: PeopleParts, who: PeopleQuestions) -> Sequence[Surface]:
    """Put identity, its keys and the panel together."""
    environment = parts.settings.environment
    quota, panel = _quota(parts), _panel_runs(parts)
    questions = make_panel_questions(parts, who, quota)
    runs = IdentityActions(
        sign_in=SignInActions(parts.people.services),
        recovery=panel.recovery,
        account=panel.account,
        session=session_gate(panel, questions),
    )
    return (
        identity_surface(
            runs,
            IdentityPolicies(
                bearer=who.bearer, quota=quota, persons=who.persons, origin=questions.origin
            ),
            environment,
        ),
        keys_surface(parts.people.keyring.published, quota),
        panel_surface(panel, questions),
    )


def make_panel_api(parts: PeopleParts, who: PeopleQuestions, office: Surface) -> Surface:
    """Serve the back office a second time, for the panel's pages."""
    questions = make_panel_questions(parts, who, _quota(parts))
    return panel_api(office, questions, allowed_in(parts.settings.environment))


def make_panel_questions(
    parts: PeopleParts, who: PeopleQuestions, quota: WithinAddressQuota
) -> PanelPolicies:
    """Make the policies of cookie gates."""
    form = INSECURE if parts.settings.session.insecure_dev else HARDENED
    records = parts.panel.records
    return PanelPolicies(
        quota=quota,
        persons=who.persons,
        browser=BrowserCookie(form, records.find),
        device=DeviceCookie(form, parts.panel.devices.read),
        session=SessionCookie(form=form, find=records.find, authenticate=records.authenticate),
        origin=lambda: parts.settings.origin,
    )


def _panel_runs(parts: PeopleParts) -> PanelActions:
    """Make what the panel's rows run."""
    form = INSECURE if parts.settings.session.insecure_dev else HARDENED
    services, panel = parts.people.services, parts.panel
    return PanelActions(
        session=PanelSessionActions(records=panel.records, views=panel.views, services=services),
        shows=PanelResponses(
            form, parts.settings.environment, parts.panel.devices, parts.settings.factor_roles
        ),
        recovery=RecoveryActions(services),
        account=AccountActions(services),
    )


def _quota(parts: PeopleParts) -> WithinAddressQuota:
    """Make the token buckets of addresses."""
    rates = parts.settings.ratelimits
    wanted = {
        "anonymous": rates.anonymous,
        "keys": rates.keys,
        "sign_in": rates.sign_in,
        "second_factor": rates.second_factor,
        "recovery": rates.recovery,
    }
    quotas = {name: Quota(rate.rate, rate.burst) for name, rate in wanted.items()}
    return WithinAddressQuota(quotas, time.monotonic, parts.count, _RETURNED)
