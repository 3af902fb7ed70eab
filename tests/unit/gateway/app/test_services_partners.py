"""What partners are checked by, put together."""

from __future__ import annotations

import msgspec
import pytest

from gateway.app.services import Services
from gateway.config.settings import FailedCredentials, Limits, RateLimits, Settings
from gateway.core.limits import CallRate
from tests.world.kernel import kernel_on
from tests.world.registers import Registers
from tests.world.standing import Clock

__all__ = []

HERE = "203.0.113.7"


@pytest.fixture
def services(office: Registers) -> Services:
    """Scarce quotas and a strict throttle, over a real store."""
    failed = FailedCredentials(per_address=1, per_address_and_client=1, hard_per_address=2)
    rate = CallRate(rate=0.001, burst=1)
    settings = msgspec.structs.replace(
        Settings(),
        limits=Limits(failed_credentials=failed),
        ratelimits=RateLimits(read=rate),
    )
    return Services(kernel_on(office.store, Clock(), settings=settings))


async def test_what_this_process_changes_is_forgotten_at_once(
    services: Services, office: Registers
):
    """Told by the store before the caller is answered."""
    company = await office.company("Padaria")
    made = await office.account(company.id)
    services.kept.validity.until = float("inf")
    before = await services.kept.accounts.find(made.id)

    await office.change(made.id, active=True)

    after = await services.kept.accounts.find(made.id)
    assert (before.active, after.active) == (False, True)


async def test_the_throttle_is_the_configured_one(services: Services):
    throttle = services.basic.throttle

    await throttle.count(HERE, "cli_a")

    assert throttle._limits.per_address == 1
    assert throttle._limits.hard_per_address == 2
