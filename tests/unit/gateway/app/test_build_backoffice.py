"""Management assembled."""

from __future__ import annotations

from typing import Any

from gateway.app.build_backoffice import ManagementStored, make_registers
from gateway.config.settings import Settings
from gateway.config.upstream import Provider
from gateway.operations.accounts.credentials import CredentialOrder
from gateway.operations.kernel.audit_context import AuditContext
from gateway.security.secrets import has_valid_checksum
from tests.registers import Registers as Records
from tests.unit.gateway.operations.conftest import office

__all__ = ["office"]


class Keys:
    """The keys of the registers."""

    def __init__(self, office: Records) -> None:
        self.sealer, self.digester = office.sealer, office.digester


async def test_the_registers_make_what_partners_can_use(office: Records):
    """Secrets of our form, under the configured pepper; providers are the configured ones."""
    keys: Any = Keys(office)
    stored = ManagementStored(store=office.store, keys=keys, providers=list)
    settings = Settings(providers={"p": Provider(adapter="sandbox")})

    registers = make_registers(settings, stored, office.clock)

    acting = registers.by(AuditContext("user:ana@example.com", office.clock))
    company = await acting.companies.create("Padaria")
    order = CredentialOrder(name="n", company_id=company.id, permissions=frozenset())
    issued = await acting.credentials.issue(order)
    assert has_valid_checksum(issued.client_secret)
    assert acting.accounts.providers == acting.stops.subjects.providers == settings.providers
