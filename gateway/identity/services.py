"""Every operation of identity, built once."""

from __future__ import annotations

from dataclasses import dataclass

from gateway.companies.model import KnownCompany
from gateway.identity.context import IdentityContext
from gateway.identity.password_changes import Passwords, ResetRequests
from gateway.identity.second_factors import SecondFactors
from gateway.identity.sessions import OwnSessions, TokenRefresh
from gateway.identity.sign_in import SignIn
from gateway.identity.signing_keys import SigningKeyRecords
from gateway.identity.users import Users


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentityServices:
    """
    The operations of identity.

    Attributes:
        reset_requests: Queued here, answered by a periodic task.
    """

    sign_in: SignIn
    tokens: TokenRefresh
    sessions: OwnSessions
    passwords: Passwords
    reset_requests: ResetRequests
    second_factors: SecondFactors
    users: Users
    signing_keys: SigningKeyRecords


def build_identity_services(
    context: IdentityContext, known_company: KnownCompany
) -> IdentityServices:
    """Build every operation on one context."""
    reset_requests = ResetRequests(context)
    return IdentityServices(
        sign_in=SignIn(context),
        tokens=TokenRefresh(context),
        sessions=OwnSessions(context),
        passwords=Passwords(context, reset_requests),
        reset_requests=reset_requests,
        second_factors=SecondFactors(context),
        users=Users(context=context, known_company=known_company),
        signing_keys=SigningKeyRecords(
            context.stores.signing_keys,
            context.crypto.sealing,
            context.settings.access,
            context.now,
        ),
    )
