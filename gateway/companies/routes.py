"""Companies in the back office."""

from __future__ import annotations

from gateway.companies.model import Company
from gateway.companies.service import Companies
from gateway.http.routing import ABSENT, CHANGED, TAKEN, Routes


def routes(companies: Companies) -> Routes:
    """Return the routes."""
    office = Routes()
    office.get("/companies", "companies", companies.page)
    office.get(
        "/companies/{company_id}", "company", companies.get, version=Company.version, raises=ABSENT
    )
    office.post("/companies", "company_create", companies.create, raises=TAKEN)
    office.put(
        "/companies/{company_id}/contact", "company_contact", companies.set_contact, raises=CHANGED
    )
    return office
