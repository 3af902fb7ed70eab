"""The registers, in somebody's name."""

from __future__ import annotations

from gateway.operations.backoffice.admin_services import AdminServices
from gateway.operations.kernel.audit_context import AuditContext
from tests.registers import Registers as Records
from tests.unit.gateway.http.backoffice.registers import registers_of


async def test_every_register_acts_in_the_name_that_is_given(office: Records):
    acting = AuditContext("user:ana@example.com", office.clock)

    registers = registers_of(office).by(acting)

    parts = [getattr(registers, name) for name in AdminServices.__slots__ if name != "acting"]
    assert all(part.acting is acting for part in parts)
    await registers.companies.create("Padaria")
    assert [each.actor for each in await office.acts()] == ["user:ana@example.com"]
