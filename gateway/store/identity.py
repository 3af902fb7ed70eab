"""The part of the store that keeps people."""

from __future__ import annotations

from dataclasses import dataclass

from gateway.domain.identity_stores import (
    Challenges,
    FailureCounts,
    Outbox,
    PanelSessions,
    Sessions,
    SigningKeys,
    Users,
)
from gateway.store.challenges import StoredChallenges
from gateway.store.database import Database
from gateway.store.failure_counts import StoredFailureCounts
from gateway.store.outbox import StoredOutbox
from gateway.store.panel_sessions import StoredPanelSessions
from gateway.store.sessions import StoredSessions
from gateway.store.signing_keys import StoredSigningKeys
from gateway.store.users import StoredUsers


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentityStore:
    """The ports of ``gateway.domain.identity_stores`` over one database."""

    users: Users
    sessions: Sessions
    challenges: Challenges
    panels: PanelSessions
    signing_keys: SigningKeys
    failures: FailureCounts
    outbox: Outbox


def identity_store(database: Database) -> IdentityStore:
    """Keep people in a database."""
    return IdentityStore(
        users=StoredUsers(database),
        sessions=StoredSessions(database),
        challenges=StoredChallenges(database),
        panels=StoredPanelSessions(database),
        signing_keys=StoredSigningKeys(database),
        failures=StoredFailureCounts(database),
        outbox=StoredOutbox(database),
    )
