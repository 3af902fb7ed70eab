"""Endpoints over a store of the test's own, where two people decide."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from gateway.app.build_identity import build_identity
from gateway.approvals.service import ApprovedSecrets
from gateway.companies.model import CompanyRequest
from gateway.core.access import Staff
from gateway.core.approvals import Approval
from gateway.core.company_scope import EVERY_COMPANY, CompanyScope
from gateway.endpoints.model import Endpoint, EndpointSecret, NewEndpoint
from gateway.endpoints.service import Endpoints
from gateway.endpoints.store import EndpointRecords
from gateway.identity.model import Mail
from tests.unit.gateway.credentials import two_people
from tests.unit.gateway.credentials.two_people import TwoPeople
from tests.world.registers import Registers

URL = "https://events.example.com/pix"
CONTACT = "ti@padaria.example.com"


@dataclass(frozen=True)
class Desk:
    """Maria orders, Joao decides, of a company with a contact; the command line asks nobody."""

    people: TwoPeople
    company: str

    @property
    def office(self) -> Registers:
        return self.people.office

    @property
    def endpoints(self) -> Endpoints:
        return self.people.endpoints

    @property
    def records(self) -> EndpointRecords:
        return self.endpoints.records

    @property
    def maria(self) -> Staff:
        return self.people.staff("maria")

    @property
    def shell(self) -> Staff:
        return self.office.staff

    def of_another_company(self) -> Staff:
        """Return the command line, limited to a company that has nothing."""
        scope = CompanyScope(frozenset({"0b7d7e4a-9e0e-4a3c-8f5e-3c1f0a9b2c09"}))
        return Staff(self.office.acting, scope)

    def wanted(self, url: str = URL, **more: Any) -> NewEndpoint:
        return NewEndpoint(company_id=self.company, url=url, **more)

    async def added(self, url: str = URL, **more: Any) -> EndpointSecret:
        """Add one by the command line."""
        made = await self.endpoints.add(self.shell, self.wanted(url, **more))
        assert isinstance(made, EndpointSecret)
        return made

    async def active(self, url: str = URL, **more: Any) -> Endpoint:
        """Add one that has answered its ping."""
        made = (await self.added(url, **more)).endpoint
        assert await self.records.activate(made, self.office.clock())
        return await self.found(made)

    async def found(self, endpoint: Endpoint) -> Endpoint:
        found = await self.records.find(endpoint.id)
        assert found is not None
        return found

    async def every(self) -> list[Endpoint]:
        return list(await self.records.of_company(self.company))

    async def collect(self, waiting: Approval, name: str = "maria") -> EndpointSecret:
        secrets = ApprovedSecrets(
            self.people.approvals, self.people.credentials, self.people.endpoints
        )
        return await secrets.collect_of_endpoint(self.people.staff(name), waiting.id)

    async def mails(self) -> list[Mail]:
        """Read the mailbox, newest first."""
        mailbox = build_identity(self.office.kernel).context.stores.mailbox
        return list(await mailbox.latest(50, EVERY_COMPANY))


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with two_people.opened(tmp_path) as people:
        wanted = CompanyRequest(name="Mercado", contact=CONTACT)
        company = await people.office.companies.create(people.office.staff, wanted)
        yield Desk(people, company.id)
