"""The services put together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, time
from types import SimpleNamespace

import pytest
from msgspec import convert

from gateway.app.services import Services
from gateway.config.settings import Settings
from gateway.core.account import Account, Environment
from gateway.core.approvals import ApprovalKind
from gateway.core.calls import RawRequest
from gateway.core.company_scope import EVERY_COMPANY, CompanyScope
from gateway.core.money import Money
from gateway.core.night import Night
from gateway.store.kernel.clock import DatabaseClock
from tests.world.kernel import kernel_on
from tests.world.people import ACCOUNT, account, call, somebody
from tests.world.registers import Registers
from tests.world.standing import Clock


@dataclass
class Changing:
    found: Account

    async def visible(self, _account_id: str, _scope: CompanyScope) -> Account:
        return self.found


async def test_an_account_is_read_from_the_store_each_time():
    """An operator's change is seen by the next call."""
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


async def test_stops_and_credentials_use_the_clock_of_payouts(office: Registers):
    """Their times are compared with a held payout's, in whichever process."""
    ours, theirs = Clock(), Clock()
    theirs.passes(3600)
    clock = DatabaseClock(ours.now, lambda: 0.0, 5.0)

    async def server_time() -> datetime:
        return theirs.now()

    await clock.read(server_time)
    services = Services(replace(office.kernel, now=ours.now, clock=clock))

    parts = (
        services.stops,
        services.credentials,
        services.payouts.guards,
        services.hold_ends.payers,
    )
    assert [each.now() for each in parts] == [theirs.now()] * len(parts)


async def test_staff_and_partners_share_payout_service_stops_and_banks(office: Registers):
    """The same stops, follow-up, guards and banks."""
    services = Services(office.kernel)
    money = services.approvals.money

    assert money.payouts is services.payouts
    assert money.refunds.stops == services.payouts.guards.stops
    assert services.account_banks.banks is services.payouts.banks
    await services.identity.close()


async def test_every_order_that_may_wait_has_an_executor(office: Registers):
    services = Services(office.kernel)

    single = {ApprovalKind.PAYOUT, ApprovalKind.REFUND}
    assert services.approvals.executors.keys() == set(ApprovalKind) - single
    await services.identity.close()


@pytest.mark.parametrize("environment", Environment)
async def test_credential_limits_are_required_in_production_and_the_night_is_shared(
    office: Registers, environment: Environment
):
    night = {"begins": "21:30", "limit_per_night": "50.00"}
    settings = convert({"payouts": {"night": night}, "environment": environment.value}, Settings)
    services = Services(kernel_on(office.store, Clock(), settings=settings))

    demanding = [services.credentials.demands_limits, services.overviews.demands_limits]

    assert demanding == [environment is Environment.PRODUCTION] * 2
    expected = Night(begins=time(21, 30), per_night=Money(5000))
    assert services.credentials.night == services.payouts.config.night == expected
    await services.identity.close()
