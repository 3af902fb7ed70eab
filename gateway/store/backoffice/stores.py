"""The part of the store that the back office works with."""

from __future__ import annotations

from dataclasses import dataclass

from gateway.domain.backoffice.lists import ScopedRecords
from gateway.store.approvals import StoredApprovals
from gateway.store.backoffice.lists import StoredScopedRecords
from gateway.store.kernel.database import Database


@dataclass(frozen=True, slots=True, kw_only=True)
class BackOfficeStore:
    """The ports of ``gateway.domain.backoffice.lists`` over one database."""

    approvals: StoredApprovals
    scoped: ScopedRecords


def backoffice_store(database: Database) -> BackOfficeStore:
    """Keep the back office's things in a database."""
    return BackOfficeStore(
        approvals=StoredApprovals(database),
        scoped=StoredScopedRecords(database),
    )
