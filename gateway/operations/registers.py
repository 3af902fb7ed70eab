"""The registers that administrators keep, each time in the name of whoever writes in them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from gateway.operations.accounts import AccountRecords
from gateway.operations.administration import Acting
from gateway.operations.companies import CompanyRecords
from gateway.operations.credentials import CredentialRecords
from gateway.operations.reviews import ReviewDesk
from gateway.operations.stops import StopRecords


@dataclass(frozen=True, slots=True, kw_only=True)
class Registers:
    """The registers, for one actor."""

    acting: Acting
    companies: CompanyRecords
    accounts: AccountRecords
    credentials: CredentialRecords
    stops: StopRecords
    reviews: ReviewDesk

    def by(self, acting: Acting) -> Registers:
        """Return the same registers for somebody else."""
        return Registers(
            acting=acting,
            companies=replace(self.companies, acting=acting),
            accounts=replace(self.accounts, acting=acting),
            credentials=replace(self.credentials, acting=acting),
            stops=replace(self.stops, acting=acting),
            reviews=replace(self.reviews, acting=acting),
        )
