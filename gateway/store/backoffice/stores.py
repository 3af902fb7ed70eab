"""The part of the store that the back office works with."""

from __future__ import annotations

from dataclasses import dataclass

from gateway.domain.backoffice.callbacks import Callbacks
from gateway.domain.backoffice.lists import AuditRecord, ScopedRecords
from gateway.domain.backoffice.overview import OverviewRecords
from gateway.domain.backoffice.payout_search import PayoutDirectory
from gateway.domain.backoffice.readings import AccountReadings
from gateway.domain.backoffice.request_log import RequestLog
from gateway.domain.backoffice.weather import ProviderMinutes
from gateway.store.approvals import StoredApprovals
from gateway.store.audit.record import StoredAuditRecord
from gateway.store.backoffice.callbacks import StoredCallbacks
from gateway.store.backoffice.lists import StoredScopedRecords
from gateway.store.backoffice.overview import StoredOverview
from gateway.store.backoffice.payout_directory import StoredPayoutDirectory
from gateway.store.backoffice.provider_minutes import StoredProviderMinutes
from gateway.store.backoffice.readings import StoredAccountReadings
from gateway.store.backoffice.request_log import StoredRequestLog
from gateway.store.kernel.database import Database


@dataclass(frozen=True, slots=True, kw_only=True)
class BackOfficeStore:
    """The ports of ``gateway.domain.backoffice.lists`` over one database."""

    approvals: StoredApprovals
    callbacks: Callbacks
    requests: RequestLog
    record: AuditRecord
    scoped: ScopedRecords
    overview: OverviewRecords
    provider_minutes: ProviderMinutes
    readings: AccountReadings
    payouts: PayoutDirectory


def backoffice_store(database: Database) -> BackOfficeStore:
    """Keep the back office's things in a database."""
    return BackOfficeStore(
        approvals=StoredApprovals(database),
        callbacks=StoredCallbacks(database),
        requests=StoredRequestLog(database),
        record=StoredAuditRecord(database),
        scoped=StoredScopedRecords(database),
        overview=StoredOverview(database),
        provider_minutes=StoredProviderMinutes(database),
        readings=StoredAccountReadings(database),
        payouts=StoredPayoutDirectory(database),
    )
