"""Create, find and list companies."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from msgspec.structs import replace
from sqlalchemy import Select, case, func, select, update

from gateway.audit import store as audit_log
from gateway.companies.model import Company, CompanyRequest, CompanySummary, ContactRequest
from gateway.core import strict
from gateway.core.access import Staff, requires
from gateway.core.audit import AuditEvent
from gateway.core.audit_context import RuleViolation, identifier, name
from gateway.core.company_scope import CompanyScope
from gateway.core.errors import ServiceError
from gateway.core.permissions import Action
from gateway.core.rights import Area
from gateway.core.storage import AlreadyExists
from gateway.core.user_errors import NOT_FOUND
from gateway.core.windows import Listed, Paging
from gateway.store.kernel.database import Database, page
from gateway.store.kernel.structs import from_row, row_of
from gateway.store.tables.core import accounts, companies
from gateway.store.tables.scope import of_company

Text = tuple[str, str]
"""In Portuguese and in English."""
Mail = Callable[[str, Text, Text], Awaitable[None]]
"""Sends mail to an address: a subject and a text; a store that fails loses it."""


async def _mail_nobody(_address: str, _subject: Text, _text: Text) -> None:
    """Send nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Companies:
    """
    The companies.

    Attributes:
        new_id: Makes a UUID.
        mail: Sends a subject and a text, each in Portuguese and in English, to an address.
    """

    database: Database
    new_id: Callable[[], str]
    mail: Mail = _mail_nobody

    @requires(Area.COMPANY, Action.MANAGE)
    async def create(self, who: Staff, wanted: CompanyRequest) -> Company:
        """
        Add a company.

        Raises:
            RuleViolation: for an unusable name, id or contact, or an id that is taken.
        """
        chosen = identifier(wanted.id, "company", "id") if wanted.id else self.new_id()
        company = Company(
            chosen, name(wanted.name), who.acting.now(), _read_contact(wanted.contact)
        )
        event = who.acting.event(
            "company.created",
            f"company:{chosen}",
            {"name": company.name, **({"contact": company.contact} if company.contact else {})},
        )
        try:
            await add_company(self.database, company, event)
        except AlreadyExists as problem:
            message = f"the company {chosen} exists already"
            raise RuleViolation(message, "taken", field="id") from problem
        return company

    @requires(Area.COMPANY, Action.WRITE)
    async def set_contact(self, who: Staff, company_id: str, wanted: ContactRequest) -> Company:
        """
        Set a company's contact; the former one is told by mail.

        Raises:
            ServiceError: as ``get`` does.
            RuleViolation: no e-mail address, or another person changed it meanwhile.
        """
        found, contact = await self.get(who, company_id), _read_contact(wanted.contact)
        if contact == found.contact:
            return found
        details = {"contact": contact or "none", "before": found.contact or "none"}
        event = who.acting.event("company.contact_set", f"company:{found.id}", details)
        change = (
            update(companies)
            .where(companies.c.id == found.id, companies.c.contact == found.contact)
            .values(contact=contact)
        )
        if not await audit_log.change(self.database, change, event):
            message = f"the company {found.id} was changed meanwhile"
            raise RuleViolation(message, "changed_meanwhile")
        if found.contact:
            await self.mail(found.contact, *_replaced(found))
        return replace(found, contact=contact)

    @requires(Area.COMPANY, Action.READ)
    async def get(self, who: Staff, company_id: str) -> Company:
        """
        Read one company.

        Raises:
            ServiceError: ``NOT_FOUND``: there is none in the caller's companies.
        """
        wanted = _LISTED.where(companies.c.id == company_id)
        found = await _first(self.database, _in(who.scope, wanted))
        if found is None:
            raise ServiceError(NOT_FOUND, "company")
        return found

    @requires(Area.COMPANY, Action.READ)
    async def page(self, who: Staff, paging: Paging) -> Listed[Company]:
        """List the companies you may see."""
        listed = _in(who.scope, _LISTED)
        return await page(self.database, listed, paging, partial(from_row, kind=Company))

    @requires(Area.COMPANY, Action.READ)
    async def summaries(self, who: Staff, paging: Paging) -> Listed[CompanySummary]:
        """List companies with the summary of their accounts."""
        listed = _in(who.scope, _SUMMARIES)
        return await page(self.database, listed, paging, partial(from_row, kind=CompanySummary))

    @requires(Area.COMPANY, Action.READ)
    async def every(self, who: Staff) -> Sequence[Company]:
        """Return all that the caller may see, oldest first."""
        rows = await self.database.rows(_in(who.scope, _LISTED))
        return [from_row(row, Company) for row in rows]


def _read_contact(text: str) -> str:
    """Read an e-mail address, or nothing; RuleViolation for anything else."""
    if not text.strip():
        return ""
    try:
        return strict.email(text)
    except strict.Malformed as problem:
        message = f"not an e-mail address: {text!r}"
        raise RuleViolation(message, "email_form", field="contact") from problem


def _replaced(company: Company) -> tuple[Text, Text]:
    """Write to a contact that is none any more."""
    portuguese = (
        f"Este endereço não é mais o contato da empresa {company.id}: não recebe mais avisos sobre"
        " os endpoints aos quais os eventos dela são entregues. Se ninguém devia ter feito isso,"
        " avise quem opera o gateway."
    )
    english = (
        f"This address is no longer the contact of the company {company.id}: it is not told any"
        " more about the endpoints that its events are delivered to. If nobody should have done"
        " this, tell whoever operates the gateway."
    )
    subject = ("Contato de uma empresa alterado", "Contact of a company changed")
    return subject, (portuguese, english)


async def add_company(database: Database, company: Company, event: AuditEvent) -> None:
    """Store a new company; AlreadyExists when the id is taken."""
    async with database.writing() as connection:
        if not await database.add(connection, companies, row_of(company)):
            raise AlreadyExists(company.id)
        await audit_log.append(connection, event)


async def find_company(database: Database, company_id: str) -> Company | None:
    """Return a company, also outside the caller's scope."""
    return await _first(database, _LISTED.where(companies.c.id == company_id))


async def known_company(database: Database, company_id: str, field: str = "company_id") -> Company:
    """
    Return the company of an id that was typed in ``field``.

    Raises:
        RuleViolation: when there is none.
    """
    company = await find_company(database, identifier(company_id, "company", field))
    if company is None:
        raise no_company(company_id, field)
    return company


def require_company(scope: CompanyScope, company_id: str) -> None:
    """Refuse a company outside of the scope with the same message as an unknown company."""
    if not scope.includes(company_id.lower()):
        raise no_company(company_id)


def no_company(company_id: str, field: str = "company_id") -> RuleViolation:
    """Return the refusal of a company that is not shown to the caller."""
    message = f"there is no company {company_id}"
    return RuleViolation(message, "company_unknown", field=field)


_LISTED = select(companies).order_by(companies.c.created_at, companies.c.id)
_NUMBERS = func.min(accounts.c.tax_number), func.max(accounts.c.tax_number)
_SUMMARIES = (
    select(
        companies,
        func.count(accounts.c.id).label("accounts"),
        case((_NUMBERS[0] == _NUMBERS[1], _NUMBERS[0]), else_="").label("tax_number"),
    )
    .outerjoin(accounts, accounts.c.company_id == companies.c.id)
    .group_by(companies.c.id)
    .order_by(companies.c.created_at, companies.c.id)
)


def _in(scope: CompanyScope, wanted: Select[*tuple[Any, ...]]) -> Select[*tuple[Any, ...]]:
    return wanted.where(*of_company(companies.c.id, scope))


async def _first(database: Database, wanted: Select[*tuple[Any, ...]]) -> Company | None:
    row = await database.first(wanted)
    return None if row is None else from_row(row, Company)
