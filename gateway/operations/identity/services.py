"""Every operation of identity, built once."""

from __future__ import annotations

from dataclasses import dataclass

from gateway.companies.model import KnownCompany
from gateway.operations.identity.passwords import Passwords, ResetRequests
from gateway.operations.identity.ports import IdentityContext
from gateway.operations.identity.second_factors import SecondFactors
from gateway.operations.identity.sessions import OwnSessions
from gateway.operations.identity.sign_in import SignIn
from gateway.operations.identity.signing_keys import NewKey, SigningKeyRecords
from gateway.operations.identity.tokens import TokenRefresh
from gateway.operations.identity.users import Invitations, UserRecords


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
    invitations: Invitations
    users: UserRecords
    signing_keys: SigningKeyRecords


def build_identity_services(
    context: IdentityContext, known_company: KnownCompany, new_key: NewKey
) -> IdentityServices:
    """Build every operation on one context; ``new_key`` makes signing keys."""
    users, reset_requests = UserRecords(context, known_company), ResetRequests(context)
    return IdentityServices(
        sign_in=SignIn(context),
        tokens=TokenRefresh(context),
        sessions=OwnSessions(context),
        passwords=Passwords(context, reset_requests),
        reset_requests=reset_requests,
        second_factors=SecondFactors(context),
        invitations=Invitations(context, users),
        users=users,
        signing_keys=SigningKeyRecords(context, new_key),
    )
