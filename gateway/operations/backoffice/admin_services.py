"""The administrators' records, each time for one caller: their name, their company scope."""

from __future__ import annotations

from dataclasses import dataclass, replace

from gateway.domain.kernel.company_scope import CompanyScope
from gateway.operations.accounts.accounts import AccountRecords
from gateway.operations.accounts.companies import CompanyRecords
from gateway.operations.accounts.credentials import CredentialRecords
from gateway.operations.backoffice.reviews import PayoutReviews
from gateway.operations.backoffice.scoped_records import RecordsInScope
from gateway.operations.backoffice.stops import KillSwitches
from gateway.operations.kernel.audit_context import AuditContext


@dataclass(frozen=True, slots=True, kw_only=True)
class AdminServices:
    """
    The records that administrators keep, for one caller.

    Attributes:
        visible: What the caller may see and change; asked before a record is changed.
    """

    acting: AuditContext
    visible: RecordsInScope
    companies: CompanyRecords
    accounts: AccountRecords
    credentials: CredentialRecords
    stops: KillSwitches
    reviews: PayoutReviews

    def by(self, acting: AuditContext, scope: CompanyScope) -> AdminServices:
        """Return the same services for another caller."""
        return AdminServices(
            acting=acting,
            visible=replace(self.visible, scope=scope),
            companies=replace(self.companies, acting=acting),
            accounts=replace(self.accounts, acting=acting),
            credentials=replace(self.credentials, acting=acting),
            stops=replace(self.stops, acting=acting),
            reviews=replace(self.reviews, acting=acting),
        )
