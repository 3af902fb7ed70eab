"""The part of the store that the back office works with."""

from __future__ import annotations

from dataclasses import dataclass

from gateway.domain.office_stores import Approvals, AuditRecord, Callbacks, Lists, RequestLog
from gateway.store.approvals import StoredApprovals
from gateway.store.audit_reading import StoredAuditRecord
from gateway.store.callbacks import StoredCallbacks
from gateway.store.database import Database
from gateway.store.lists import StoredLists
from gateway.store.request_log import StoredRequestLog


@dataclass(frozen=True, slots=True, kw_only=True)
class OfficeStore:
    """The ports of ``gateway.domain.office_stores`` over one database."""

    approvals: Approvals
    callbacks: Callbacks
    requests: RequestLog
    record: AuditRecord
    lists: Lists


def office_store(database: Database) -> OfficeStore:
    """Keep the back office's things in a database."""
    return OfficeStore(
        approvals=StoredApprovals(database),
        callbacks=StoredCallbacks(database),
        requests=StoredRequestLog(database),
        record=StoredAuditRecord(database),
        lists=StoredLists(database),
    )
