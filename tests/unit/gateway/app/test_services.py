"""The services put together."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace

from gateway.app.services import Services
from gateway.core.account import Account
from gateway.core.approvals import ApprovalKind
from gateway.core.calls import RawRequest
from gateway.core.company_scope import EVERY_COMPANY, CompanyScope
from tests.world.kernel import kernel_on
from tests.world.people import ACCOUNT, account, call, somebody
from tests.world.registers import Registers
from tests.world.standing import Clock


@dataclass
class Changing:
    """An account that changes."""

    found: Account

    async def visible(self, _account_id: str, _scope: CompanyScope) -> Account:
        return self.found


async def test_an_account_is_read_from_the_store_each_time():
    """What an operator changed is seen by the next call, not when a cache forgets."""
    changing = Changing(account())
    store = SimpleNamespace(accounts=changing)
    policy = Services(kernel_on(store, Clock())).visible_account
    first, second = (
        call(RawRequest(path={"account_id": ACCOUNT}), person=somebody(), scope=EVERY_COMPANY)
        for _ in range(2)
    )

    await policy(first)
    changing.found = account(active=False)
    await policy(second)

    assert (first.account, second.account) == (account(), account(active=False))


async def test_staff_pay_by_what_partners_pay_by(office: Registers):
    """The same stops, the same follow-up, the same guards, the same banks."""
    services = Services(office.kernel)
    money = services.approvals.money

    assert money.payouts is services.payouts
    assert money.refunds.stops == services.payouts.guards.stops
    assert services.account_banks.banks is services.payouts.banks
    await services.identity.close()


async def test_whatever_may_wait_for_a_second_person_has_an_executor(office: Registers):
    services = Services(office.kernel)

    assert services.approvals.executors.keys() == set(ApprovalKind)
    await services.identity.close()
