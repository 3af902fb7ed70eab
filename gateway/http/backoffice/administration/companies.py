"""Companies: the owners of accounts and credentials."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

import msgspec

from gateway.domain.accounts.accounts import Company
from gateway.domain.identity.rights import Area
from gateway.domain.kernel.windows import Paging
from gateway.domain.requests.schemas import Name, Text
from gateway.domain.requests.versions import version_of_company
from gateway.http.backoffice.callers import ABSENT, TAKEN, BackOfficeCaller, as_administrator
from gateway.http.backoffice.cells import (
    CREATED,
    NO_BODY,
    WITH_BODY,
    managing,
    reading,
    versioned,
)
from gateway.http.common import STORE_FAILS
from gateway.http.rendering import instant
from gateway.http.resources.documents import Instant, Meter
from gateway.http.resources.represent import meter
from gateway.http.route import Row, VersionedAnswer, route
from gateway.operations.backoffice.scoped_records import AdminServices
from gateway.operations.bank.pages import Listed
from policies.validation.backoffice import inputs
from policies.validation.bodies import body


class CompanyBody(msgspec.Struct):
    """A new company; without ``id`` one is generated."""

    name: Name
    id: Text = ""


class CompanyDocument(TypedDict):
    """A company."""

    id: str
    name: str
    created_at: Instant


class CompanyList(TypedDict):
    """The companies you may see, oldest first."""

    data: list[CompanyDocument]
    meta: Meter


async def list_companies(services: AdminServices, paging: Paging) -> Listed[Company]:
    """List those in scope."""
    return await services.visible.companies(paging)


async def read_company(services: AdminServices, company_id: str) -> Company:
    """Read one."""
    return await services.visible.company(company_id)


async def create_company(services: AdminServices, wanted: CompanyBody) -> Company:
    """Add one."""
    return await services.companies.create(wanted.name, wanted.id)


def company_rows(services: AdminServices) -> Sequence[Row[BackOfficeCaller]]:
    """Return the rows."""
    return (
        route(
            "GET",
            "/companies",
            name="backoffice.companies",
            summary="List the companies you may see.",
            needs=reading(Area.COMPANY),
            limits=NO_BODY,
            takes=inputs.PAGE,
            runs=as_administrator(services, list_companies),
            shows=_companies,
            fails=STORE_FAILS,
            raises=(),
        ),
        route(
            "GET",
            "/companies/{company_id}",
            name="backoffice.company",
            summary="Read one company.",
            needs=reading(Area.COMPANY),
            limits=NO_BODY,
            takes=inputs.of_path("company_id"),
            runs=as_administrator(services, read_company),
            shows=_versioned,
            fails=STORE_FAILS,
            raises=ABSENT,
        ),
        route(
            "POST",
            "/companies",
            name="backoffice.company_create",
            summary="Add a company.",
            needs=managing(Area.COMPANY),
            limits=WITH_BODY,
            takes=body(CompanyBody),
            runs=as_administrator(services, create_company),
            shows=_company,
            fails=STORE_FAILS,
            raises=TAKEN,
            status=CREATED,
        ),
    )


def _company(found: Company, _who: BackOfficeCaller) -> CompanyDocument:
    return {"id": found.id, "name": found.name, "created_at": instant(found.created_at)}


def _versioned(found: Company, who: BackOfficeCaller) -> VersionedAnswer[CompanyDocument]:
    return versioned(_company(found, who), version_of_company(found))


def _companies(found: Listed[Company], who: BackOfficeCaller) -> CompanyList:
    data = [_company(each, who) for each in found.items]
    return {"data": data, "meta": meter(found.paging, found.total)}
