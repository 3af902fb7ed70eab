"""Every operation of identity, built once."""

from __future__ import annotations

from dataclasses import dataclass

from gateway.domain.accounts.accounts import Companies
from gateway.operations.identity.passwords import PasswordRecords, ResetWishes
from gateway.operations.identity.ports import Parts
from gateway.operations.identity.second_factors import Factors
from gateway.operations.identity.sessions import SessionRecords
from gateway.operations.identity.sign_in import SigningIn
from gateway.operations.identity.signing_keys import NewKey, SigningKeyRecords
from gateway.operations.identity.tokens import Refreshing
from gateway.operations.identity.users import Invitations, UserRecords


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentityDesk:
    """
    The operations on people.

    Attributes:
        wishes: For reset links; somebody has them answered now and then.
    """

    signing_in: SigningIn
    refreshing: Refreshing
    sessions: SessionRecords
    passwords: PasswordRecords
    wishes: ResetWishes
    factors: Factors
    invitations: Invitations
    users: UserRecords
    keys: SigningKeyRecords


def identity_desk(parts: Parts, companies: Companies, new_key: NewKey) -> IdentityDesk:
    """Open the desk."""
    users, wishes = UserRecords(parts, companies), ResetWishes(parts)
    return IdentityDesk(
        signing_in=SigningIn(parts),
        refreshing=Refreshing(parts),
        sessions=SessionRecords(parts),
        passwords=PasswordRecords(parts, wishes),
        wishes=wishes,
        factors=Factors(parts),
        invitations=Invitations(parts, users),
        users=users,
        keys=SigningKeyRecords(parts, new_key),
    )
