"""Companies: the owners of accounts and credentials."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gateway.domain.accounts.accounts import Companies, Company
from gateway.domain.kernel.storage import AlreadyExists
from gateway.operations.kernel.audit_context import AuditContext, RuleViolation, identifier, name


@dataclass(frozen=True, slots=True, kw_only=True)
class CompanyRecords:
    """
    The register of companies.

    Attributes:
        new_id: Makes a UUID.
    """

    companies: Companies
    acting: AuditContext
    new_id: Callable[[], str]

    async def create(self, called: str, company_id: str = "") -> Company:
        """
        Add a company; an empty ``company_id`` chooses one.

        Raises:
            RuleViolation: for an unusable name or id, or an id that is taken.
        """
        chosen = identifier(company_id, "company", "id") if company_id else self.new_id()
        company = Company(chosen, name(called), self.acting.now())
        event = self.acting.event("company.created", f"company:{chosen}", {"name": company.name})
        try:
            await self.companies.add(company, event)
        except AlreadyExists as problem:
            message = f"the company {chosen} exists already"
            raise RuleViolation(message, "taken", field="id") from problem
        return company

    async def list(self) -> Sequence[Company]:
        """Return all, oldest first."""
        return await self.companies.list()


async def existing(companies: Companies, company_id: str, field: str = "company_id") -> Company:
    """
    Return the company of that id.

    Raises:
        RuleViolation: when there is none.
    """
    company = await companies.find(identifier(company_id, "company", field))
    if company is None:
        message = f"there is no company {company_id}"
        raise RuleViolation(message, "company_unknown", field=field)
    return company
