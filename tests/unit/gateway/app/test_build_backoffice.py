"""The back office put together."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from gateway.app.build_backoffice import (
    BackOfficeParts,
    admin_services,
    backoffice_operations,
    backoffice_questions,
)
from gateway.config.settings import Settings, Validation
from gateway.config.upstream import Provider
from gateway.domain.accounts.accounts import Account
from gateway.domain.kernel.company_scope import EVERY_COMPANY, CompanyScope
from gateway.domain.requests.calls import RawRequest
from gateway.operations.accounts.credentials import CredentialOrder
from gateway.operations.kernel.audit_context import AuditContext
from gateway.security.secrets import has_valid_checksum
from tests.unit.gateway.operations.conftest import office
from tests.unit.people import ACCOUNT, account, call, somebody
from tests.unit.standing import Clock
from tests.world.registers import Registers as Records

__all__ = ["office"]


class Named:
    """Stands for every part, and for the parts of it."""

    def __getattr__(self, _name: str) -> Named:
        return self


class Register:
    """Accounts of which one changes."""

    def __init__(self) -> None:
        self.found = account()

    async def account(self, _account_id: str, _scope: CompanyScope) -> Account:
        return self.found


def parts(settings: Settings | None = None, scoped: object = None) -> BackOfficeParts:
    named: Any = Named()
    named.scoped = scoped or Named()
    return BackOfficeParts(
        settings=settings or Settings(), store=named, keys=named, now=Clock().now, providers=list
    )


async def test_an_account_is_read_from_the_store_each_time():
    """What an operator changed is seen by the next call, not when a cache forgets."""
    register = Register()
    who: Any = Named()
    questions = backoffice_questions(parts(scoped=register), who)
    first, second = (
        call(RawRequest(path={"account_id": ACCOUNT}), person=somebody(), scope=EVERY_COMPANY)
        for _ in range(2)
    )

    await questions.account(first)
    register.found = account(active=False)
    await questions.account(second)

    assert (first.account, second.account) == (account(), account(active=False))


def test_what_partners_have_is_used_and_not_made_again():
    """The same stops, the same follow-up, the same guards."""
    does: Any = Named()

    made = backoffice_operations(parts(), does, does)

    assert made.payouts is does.payouts
    assert made.approvals.money.payouts is does.payouts
    assert made.approvals.money.refunds is made.refunds
    assert made.refunds.terms.stops is does.payouts.guards.stops


@pytest.mark.parametrize("switched", [False, True])
def test_the_cnpj_with_letters_is_a_setting(switched: bool):
    validation = Validation(alphanumeric_cnpj=switched)
    settings = msgspec.structs.replace(Settings(), validation=validation)
    does: Any = Named()

    made = backoffice_operations(parts(settings), does, does)

    assert made.alphanumeric_cnpj is switched


class Keys:
    """The keys of the registers."""

    def __init__(self, office: Records) -> None:
        self.sealer, self.digester = office.sealer, office.digester


async def test_the_registers_make_what_partners_can_use(office: Records):
    """Secrets of our form, under the configured pepper; providers are the configured ones."""
    keys: Any = Keys(office)
    settings = Settings(providers={"p": Provider(adapter="sandbox")})

    registers = admin_services(
        BackOfficeParts(
            settings=settings, store=office.store, keys=keys, now=office.clock, providers=list
        )
    )

    acting = registers.by(AuditContext("user:ana@example.com", office.clock), EVERY_COMPANY)
    company = await acting.companies.create("Padaria")
    order = CredentialOrder(name="n", company_id=company.id, permissions=frozenset())
    issued = await acting.credentials.issue(order)
    assert has_valid_checksum(issued.client_secret)
    assert acting.accounts.providers == acting.stops.subjects.providers == settings.providers
