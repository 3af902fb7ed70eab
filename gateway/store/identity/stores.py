"""The store's ports of identity."""

from __future__ import annotations

from dataclasses import dataclass

from gateway.domain.identity.attempt_limits import FailureCounts
from gateway.domain.identity.challenges import Challenges, Outbox
from gateway.domain.identity.panel_sessions import PanelSessions
from gateway.domain.identity.sessions import Sessions, SigningKeys
from gateway.domain.identity.users import Users
from gateway.store.identity.challenges import StoredChallenges, StoredOutbox
from gateway.store.identity.panel_sessions import StoredPanelSessions
from gateway.store.identity.sessions import StoredSessions, StoredSigningKeys
from gateway.store.identity.users import StoredFailureCounts, StoredUsers
from gateway.store.kernel.database import Database


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentityStore:
    """The ports of ``gateway.domain.identity.ports`` over one database."""

    users: Users
    sessions: Sessions
    challenges: Challenges
    panels: PanelSessions
    signing_keys: SigningKeys
    failures: FailureCounts
    outbox: Outbox


def identity_store(database: Database) -> IdentityStore:
    """Make identity's stores over a database."""
    return IdentityStore(
        users=StoredUsers(database),
        sessions=StoredSessions(database),
        challenges=StoredChallenges(database),
        panels=StoredPanelSessions(database),
        signing_keys=StoredSigningKeys(database),
        failures=StoredFailureCounts(database),
        outbox=StoredOutbox(database),
    )
