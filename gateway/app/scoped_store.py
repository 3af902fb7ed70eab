"""The part of the store that the back office works with."""

from __future__ import annotations

from dataclasses import dataclass

from gateway.approvals.store import StoredApprovals
from gateway.store.kernel.database import Database
from gateway.store.lists import ScopedRecords


@dataclass(frozen=True, slots=True, kw_only=True)
class BackOfficeStore:
    """Orders that wait for a second person, and records within a company scope."""

    approvals: StoredApprovals
    scoped: ScopedRecords


def backoffice_store(database: Database) -> BackOfficeStore:
    """Keep the back office's things in a database."""
    return BackOfficeStore(
        approvals=StoredApprovals(database),
        scoped=ScopedRecords(database),
    )
