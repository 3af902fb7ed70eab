"""The part of the store that the back office works with."""

from __future__ import annotations

from dataclasses import dataclass

from gateway.domain.backoffice.approvals import Approvals
from gateway.domain.backoffice.callbacks import Callbacks
from gateway.domain.backoffice.lists import AuditRecord, RequestLog, ScopedRecords
from gateway.store.approvals import StoredApprovals
from gateway.store.audit.record import StoredAuditRecord
from gateway.store.backoffice.callbacks import StoredCallbacks
from gateway.store.backoffice.lists import StoredRequestLog, StoredScopedRecords
from gateway.store.kernel.database import Database


@dataclass(frozen=True, slots=True, kw_only=True)
class BackOfficeStore:
    """The ports of ``gateway.domain.backoffice.lists`` over one database."""

    approvals: Approvals
    callbacks: Callbacks
    requests: RequestLog
    record: AuditRecord
    scoped: ScopedRecords


def backoffice_store(database: Database) -> BackOfficeStore:
    """Keep the back office's things in a database."""
    return BackOfficeStore(
        approvals=StoredApprovals(database),
        callbacks=StoredCallbacks(database),
        requests=StoredRequestLog(database),
        record=StoredAuditRecord(database),
        scoped=StoredScopedRecords(database),
    )
