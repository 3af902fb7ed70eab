"""The registers that administrators keep, each time in the name of whoever writes in them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from gateway.operations.accounts.accounts import AccountRecords
from gateway.operations.accounts.companies import CompanyRecords
from gateway.operations.accounts.credentials import CredentialRecords
from gateway.operations.backoffice.reviews import PayoutReviews
from gateway.operations.backoffice.stops import KillSwitches
from gateway.operations.kernel.audit_context import AuditContext


@dataclass(frozen=True, slots=True, kw_only=True)
class AdminServices:
    """The registers, for one actor."""

    acting: AuditContext
    companies: CompanyRecords
    accounts: AccountRecords
    credentials: CredentialRecords
    stops: KillSwitches
    reviews: PayoutReviews

    def by(self, acting: AuditContext) -> AdminServices:
        """Return the same registers for somebody else."""
        return AdminServices(
            acting=acting,
            companies=replace(self.companies, acting=acting),
            accounts=replace(self.accounts, acting=acting),
            credentials=replace(self.credentials, acting=acting),
            stops=replace(self.stops, acting=acting),
            reviews=replace(self.reviews, acting=acting),
        )
