"""Every store of identity."""

from __future__ import annotations

from dataclasses import dataclass

from gateway.identity.challenge_store import StoredChallenges, StoredOutbox
from gateway.identity.challenges import Outbox
from gateway.identity.panel_session_store import StoredPanelSessions
from gateway.identity.session_store import StoredSessions, StoredSigningKeys
from gateway.identity.user_store import StoredFailureCounts, StoredUsers
from gateway.store.kernel.database import Database


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentityStore:
    """Identity's stores over one database."""

    users: StoredUsers
    sessions: StoredSessions
    challenges: StoredChallenges
    panels: StoredPanelSessions
    signing_keys: StoredSigningKeys
    failures: StoredFailureCounts
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
