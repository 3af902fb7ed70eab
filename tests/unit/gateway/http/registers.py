"""The registers over a store of the test's own, and people who write in them."""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Any

import pytest

from gateway.companies.model import Company
from gateway.core.access import Staff
from gateway.core.account import Account
from gateway.core.audit_context import AuditContext
from gateway.core.calls import RawRequest
from gateway.core.company_scope import EVERY_COMPANY, scope_of
from gateway.core.errors import ServiceError
from gateway.core.rights import Role
from gateway.core.sessions import SignedInUser
from gateway.core.windows import Paging
from gateway.http.gates import AccountCaller, StaffCaller
from tests.unit.gateway.http.surface import ROUTES
from tests.world.people import somebody
from tests.world.registers import Registers as Office_

FIRST = Paging(1, 25)


@dataclass(slots=True)
class AdminWorld:
    """Two companies with an account each, and the registers that hold them."""

    office: Office_
    ours: Company
    theirs: Company
    account: Account
    foreign: Account

    def staff(self, *companies: str) -> StaffCaller:
        """Return a user; limited to companies, if named."""
        acting = AuditContext("user:ana@example.com", self.office.clock)
        return StaffCaller(Staff(acting, scope_of(frozenset(companies)), person(*companies)))

    def at(self, account: Account) -> AccountCaller:
        acting = AuditContext("user:ana@example.com", self.office.clock)
        return AccountCaller(staff=Staff(acting, EVERY_COMPANY, person()), account=account)

    async def acts(self) -> list[tuple[str, str]]:
        """Return the recorded acts, in order."""
        return [(each.actor, each.action) for each in await self.office.acts()]


def person(*companies: str) -> SignedInUser:
    return somebody(*Role, email="ana@example.com", companies=frozenset(companies))


async def admin_world_of(office: Office_) -> AdminWorld:
    ours, theirs = await office.company("Ours"), await office.company("Theirs")
    accounts = [await office.account(each.id, name="A") for each in (ours, theirs)]
    return AdminWorld(office, ours, theirs, *accounts)


async def turned_down(deed: Awaitable[object]) -> str:
    with pytest.raises(ServiceError) as refused:
        await deed
    return f"{refused.value.error.status} {refused.value.error.code}"


def taken(name: str, **asked: Any) -> Any:
    return ROUTES[f"backoffice.{name}"].takes.read(RawRequest(path={}, **asked))
