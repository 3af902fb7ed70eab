"""The registers, in somebody's name."""

from __future__ import annotations

from gateway.domain.kernel.company_scope import CompanyScope
from gateway.operations.backoffice.scoped_records import AdminServices
from gateway.operations.kernel.audit_context import AuditContext
from tests.world.registers import Registers as Records


async def test_every_register_acts_in_the_name_and_scope_that_are_given(office: Records):
    acting = AuditContext("user:ana@example.com", office.clock)
    scope = CompanyScope(frozenset({"a"}))

    registers = office.admin.by(acting, scope)

    others = {"acting", "visible"}
    parts = [getattr(registers, name) for name in AdminServices.__slots__ if name not in others]
    assert registers.visible.scope is scope
    assert all(part.acting is acting for part in parts)
