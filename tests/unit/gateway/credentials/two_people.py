"""Two people who order and decide about credentials and endpoints, over a store of their own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gateway.app.services import Services, build_credentials, build_endpoints
from gateway.approvals.service import Approvals, ApprovedSecrets
from gateway.core.access import Staff
from gateway.core.approvals import CREDENTIALS, ENDPOINTS, Approval
from gateway.core.audit_context import AuditContext
from gateway.core.company_scope import scope_of
from gateway.core.rights import Role
from gateway.core.user import User
from gateway.credentials.model import Credential, CredentialBody, Issued
from gateway.credentials.service import Credentials
from gateway.endpoints.service import Endpoints
from tests.world import registers
from tests.world.approvals import approval_config, approvals_on
from tests.world.people import somebody
from tests.world.registers import Registers
from tests.world.stores.samples import event

PAYS = ["balance:read", "withdraw:write"]


@dataclass
class TwoPeople:
    """Maria orders, Joao decides."""

    office: Registers
    approvals: Approvals
    credentials: Credentials
    endpoints: Endpoints
    users: dict[str, User]
    company: str

    def staff(self, name: str) -> Staff:
        """Let a person act with a fresh second factor."""
        user, now = self.users[name], self.office.clock
        person = somebody(*user.roles, user_id=user.id, email=user.email)
        person = replace(person, factor_at=now(), has_factor=True)
        return Staff(AuditContext(person.actor, now), scope_of(person.companies), person)

    def wanted(self, permissions: list[str] = PAYS, **more: Any) -> CredentialBody:
        return CredentialBody(name="ERP", company_id=self.company, permissions=permissions, **more)

    async def order(self, **more: Any) -> Approval:
        waiting = await self.credentials.issue(self.staff("maria"), self.wanted(**more))
        assert isinstance(waiting, Approval)
        return waiting

    async def approve(self, waiting: object) -> Approval:
        assert isinstance(waiting, Approval)
        return (await self.approvals.approve(self.staff("joao"), waiting.id)).approval

    async def collect(self, waiting: Approval, name: str = "maria") -> Issued:
        secrets = ApprovedSecrets(self.approvals, self.credentials, self.endpoints)
        return await secrets.collect(self.staff(name), waiting.id)

    async def issue(self, **more: Any) -> Credential:
        """Issue a credential that pays, by two."""
        waiting = await self.approve(await self.order(**more))
        return (await self.collect(waiting)).credential

    async def add(self, name: str, *roles: Role, **more: Any) -> str:
        """Make another person; return their address."""
        self.users[name] = replace(
            self.users["maria"],
            id=self.office.new_id(),
            email=f"{name}@example.com",
            roles=frozenset(roles),
            **more,
        )
        await self.office.store.identity.users.add(self.users[name], event())
        return self.users[name].email

    async def every(self) -> list[Credential]:
        return list(await self.credentials.every(self.office.staff))


@asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[TwoPeople]:
    async with registers.opened(folder) as office:
        config = approval_config(office.clock, office.new_id, None)
        approvals = approvals_on(office.store, config)
        credentials = build_credentials(office.kernel, approvals.wait, office.source)
        approvals.executors.update(dict.fromkeys(CREDENTIALS, credentials))
        endpoints = build_endpoints(Services(office.kernel), approvals.wait)
        approvals.executors.update(dict.fromkeys(ENDPOINTS, endpoints))
        users = {}
        for name, role in (("maria", Role.SECURITY), ("joao", Role.APPROVER)):
            users[name] = User(
                id=office.new_id(),
                email=f"{name}@example.com",
                name=name,
                password="",
                roles=frozenset({role}),
                companies=frozenset(),
                created_at=office.clock(),
                updated_at=office.clock(),
            )
            await office.store.identity.users.add(users[name], event())
        company = await office.company("Padaria")
        yield TwoPeople(office, approvals, credentials, endpoints, users, company.id)
