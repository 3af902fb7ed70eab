"""Two people who order and decide about credentials and people, over a store of their own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from gateway.approvals.execution import Decided
from gateway.approvals.service import Approvals
from gateway.core.access import Staff
from gateway.core.approvals import Approval, ApprovalKind
from gateway.core.audit_context import AuditContext
from gateway.core.company_scope import scope_of
from gateway.core.errors import ServiceError
from gateway.core.rights import Role
from gateway.core.schemas import ReasonBody
from gateway.core.sessions import SignedInUser
from gateway.core.user import User
from gateway.identity.model import InvitationBody
from gateway.identity.users import Users
from tests.world import registers
from tests.world.approvals import approval_config, approvals_on
from tests.world.identity import IdentityWorld, identity_world_on
from tests.world.people import CLI, somebody
from tests.world.registers import Registers
from tests.world.standing import Clock


@dataclass
class AccessWorld:
    """Two people who order and decide, over their own store."""

    office: Registers
    identity_world: IdentityWorld
    approvals: Approvals
    maria: SignedInUser
    joao: SignedInUser
    company: str
    waits: bool = True

    @property
    def admin(self) -> Staff:
        """The first one, with a fresh code."""
        return self.staff(self.maria)

    @property
    def register(self) -> Users:
        """The register; orders wait in it, if ``waits``."""
        wait = self.approvals.wait if self.waits else None
        return replace(self.identity_world.services.users, wait=wait)

    async def agreed(self, waiting: object) -> Approval:
        """Let the second one agree to what waits."""
        assert isinstance(waiting, Approval)
        return (await self.approve(waiting.id)).approval

    async def approve(self, approval_id: str) -> Decided:
        """Let the second one agree."""
        return await self.approvals.approve(self.staff(self.joao), approval_id)

    async def find(self, approval_id: str) -> Approval:
        """Return an order as the second one reads it."""
        return await self.approvals.find(self.staff(self.joao), approval_id)

    def staff(self, person: SignedInUser) -> Staff:
        """Let a person act with a fresh second factor."""
        now = self.identity_world.clock.now
        person = replace(person, factor_at=now(), has_factor=True)
        return Staff(AuditContext(person.actor, now), scope_of(person.companies), person)

    async def made(self, *roles: Role, companies: Iterable[str] = (), active: bool = True) -> User:
        """Create another user, from the command line."""
        users = self.identity_world.services.users
        made = await users.create(CLI, stranger(*roles, companies=companies))
        if not active:
            await users.disable(CLI, made.id, ReasonBody())
        return await self.found(made)

    async def found(self, user: User) -> User:
        """Read a user again."""
        return await self.identity_world.services.users.find(user.id)


async def refusal(deed: Any) -> str:
    """Return the refusal of a call."""
    with pytest.raises(ServiceError) as refused:
        await deed
    return f"{refused.value.error.status} {refused.value.reason}"


@asynccontextmanager
async def opened(tmp_path: Path) -> AsyncIterator[AccessWorld]:
    """An admin, an approver and a company."""
    async with registers.opened(tmp_path) as office:
        clock = Clock()
        identity_world = identity_world_on(office.store, clock)
        await identity_world.services.signing_keys.ensure()
        people = [
            await identity_world.services.users.create(
                CLI, InvitationBody(email=f"{name}@example.com", name=name, roles=list(roles))
            )
            for name, roles in (
                ("maria", frozenset({Role.ADMIN})),
                ("joao", frozenset({Role.APPROVER})),
            )
        ]
        config = approval_config(clock.now, office.new_id)
        approvals = approvals_on(office.store, config)
        company = await office.company("Padaria")
        users = identity_world.services.users
        approvals.executors.update(dict.fromkeys(ApprovalKind, users))
        office.clock = clock.now  # type: ignore[assignment]
        yield AccessWorld(office, identity_world, approvals, *map(as_person, people), company.id)
        identity_world.hasher.close()


def as_person(user: User) -> SignedInUser:
    return somebody(*user.roles, user_id=user.id, email=user.email, companies=user.companies)


def stranger(*roles: Role, companies: Iterable[str] = ()) -> InvitationBody:
    return InvitationBody(
        email="new@example.com", name="New", roles=list(roles), companies=list(companies)
    )
