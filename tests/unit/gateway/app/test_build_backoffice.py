"""The back office put together."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from gateway.app.backoffice_operations import BackOfficeOperations
from gateway.app.build_backoffice import (
    build_account_service,
    build_backoffice,
    build_credentials,
    build_stops,
    build_visible_account,
)
from gateway.app.build_bank import build_bank
from gateway.app.build_identity import build_identity
from gateway.app.build_payouts import build_payout_records, build_payouts
from gateway.app.kernel import Kernel
from gateway.core.account import Account
from gateway.core.calls import RawRequest
from gateway.core.company_scope import EVERY_COMPANY, CompanyScope
from gateway.credentials.model import CredentialBody, Issued
from gateway.process.cache import MemoryCache
from gateway.reports.files import Turns
from gateway.security.secrets import has_valid_checksum
from tests.world.kernel import kernel_on
from tests.world.payouts import OneBank, ScriptedBank, no_stops
from tests.world.people import ACCOUNT, account, call, somebody
from tests.world.registers import Registers
from tests.world.standing import Clock

__all__ = []


@dataclass
class Changing:
    """An account that changes."""

    found: Account

    async def visible(self, _account_id: str, _scope: CompanyScope) -> Account:
        return self.found


def built(kernel: Kernel) -> BackOfficeOperations:
    """Build the room over one bank."""
    banks: Any = OneBank(ScriptedBank())
    identity = build_identity(kernel)
    bank = build_bank(kernel, banks, no_stops, MemoryCache(0))
    made = build_backoffice(
        kernel,
        bank,
        build_payouts(kernel, banks, no_stops),
        identity,
        build_payout_records(kernel, {}, Turns()),
    )
    assert made.approvals.money.refunds is bank.refunds
    identity.hasher.close()
    return made


async def test_an_account_is_read_from_the_store_each_time():
    """What an operator changed is seen by the next call, not when a cache forgets."""
    changing = Changing(account())
    store = SimpleNamespace(accounts=changing)
    policy = build_visible_account(kernel_on(store, Clock()))
    first, second = (
        call(RawRequest(path={"account_id": ACCOUNT}), person=somebody(), scope=EVERY_COMPANY)
        for _ in range(2)
    )

    await policy(first)
    changing.found = account(active=False)
    await policy(second)

    assert (first.account, second.account) == (account(), account(active=False))


async def test_what_partners_have_is_used_and_not_made_again(office: Registers):
    """The same stops, the same follow-up, the same guards."""
    made = built(office.kernel)
    payouts = made.approvals.money.payouts

    assert made.approvals.money.refunds.stops is payouts.guards.stops
    assert made.banks.banks is payouts.banks


async def test_the_registers_make_what_partners_can_use(office: Registers):
    """Secrets of our form, under the configured pepper; providers are the configured ones."""
    company = await office.company("Padaria")
    wanted = CredentialBody(name="n", company_id=company.id)
    issued = await build_credentials(office.kernel).issue(office.staff, wanted)
    assert isinstance(issued, Issued)
    providers = office.kernel.settings.providers
    assert has_valid_checksum(issued.client_secret)
    assert build_stops(office.kernel).providers == providers
    assert build_account_service(office.kernel).providers.keys() == providers.keys()
