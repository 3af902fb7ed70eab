"""The store's ports of identity."""

from __future__ import annotations

from dataclasses import dataclass

from gateway.domain.identity.challenges import Challenges
from gateway.domain.identity.failure_counts import FailureCounts
from gateway.domain.identity.mail import Outbox
from gateway.domain.identity.panel_sessions import PanelSessions
from gateway.domain.identity.sessions import Sessions
from gateway.domain.identity.signing_keys import SigningKeys
from gateway.domain.identity.users import Users
from gateway.store.identity.challenges import StoredChallenges
from gateway.store.identity.failure_counts import StoredFailureCounts
from gateway.store.identity.outbox import StoredOutbox
from gateway.store.identity.panel_sessions import StoredPanelSessions
from gateway.store.identity.sessions import StoredSessions
from gateway.store.identity.signing_keys import StoredSigningKeys
from gateway.store.identity.users import StoredUsers
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
