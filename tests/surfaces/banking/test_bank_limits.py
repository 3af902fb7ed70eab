"""A bank's limits as a partner meets them: unsent, with Retry-After, and only for that account."""

from __future__ import annotations

from collections.abc import AsyncIterator

import msgspec
import pytest
import pytest_asyncio

from gateway.config.upstream import AccountLimits, Breaker
from gateway.core.limits import CallRate
from tests.world.gateway.answers import Answer
from tests.world.gateway.world import World, opened, order, sandbox
from tests.world.waiting import until

pytestmark = pytest.mark.asyncio(loop_scope="module")

# Slow enough that no token comes back while the tests run.
BURST = 2
SLOWLY = CallRate(rate=0.001, burst=BURST)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    settings = sandbox(tmp_path_factory.mktemp("limits"))
    limits = AccountLimits(rates={"create_payout": SLOWLY, "list_keys": SLOWLY})
    provider = msgspec.structs.replace(
        settings.providers["sandbox"], account_limits=limits, breaker=Breaker(), waiting_s=0.5
    )
    settings = msgspec.structs.replace(settings, providers={"sandbox": provider})
    async with opened(settings) as made:
        yield made


async def test_a_payout_above_the_bank_limit_is_not_sent_and_can_be_repeated(world: World):
    """502 ``SVC.ACC.005``: nothing reached the bank, and the same reference may be repeated."""
    for number in range(BURST):
        await world.pay(order(f"within-{number}", world.today()))

    beyond = await world.pay(order("beyond", world.today()))

    assert beyond.verdict == (502, "SVC.ACC.005")
    assert int(beyond.headers["Retry-After"]) > 1
    assert await world.executions("beyond") == []
    assert (await world.settled("within-0"))["status"] == "paid"
    again = await world.pay(order("beyond", world.today()))
    assert again.verdict == (502, "SVC.ACC.005")
    seen = await world.control.get("calls", query={"limit": 1000})
    orders = [call for call in seen["data"] if call["path"].endswith("/transferencias")]
    assert len([call for call in orders if call["method"] == "POST"]) == BURST


async def test_a_read_above_the_bank_limit_is_502_for_its_route_alone(world: World):
    within = [(await world.ask("GET", world.at("/pix/keys"))).status for _ in range(BURST)]
    beyond = await world.ask("GET", world.at("/pix/keys"))
    charge = await world.ask("GET", world.at(f"/pix/qrcode/{world.demo['charges']['pending']}"))
    sister = await world.ask("GET", world.at("/pix/keys", "sister"), by="company")

    assert set(within) <= {200, 502}  # another test may have used them up
    assert beyond.verdict == (502, "SVC.PIX.002")
    assert int(beyond.headers["Retry-After"]) > 1
    assert (charge.status, sister.status) == (200, 200)


async def test_a_bank_s_429_pauses_that_route_of_that_account(world: World):
    """The pause lasts a second, which a slow machine may miss: then it is tried again."""

    async def paused() -> tuple[Answer, Answer] | None:
        refused = await world.ask("GET", world.at("/balance"))
        again = await world.ask("GET", world.at("/balance"))
        return None if await world.asked(again.trace_id) else (refused, again)

    async with world.failing("balance", "status", status=429):
        refused, again = await until(paused)
    sister = await world.ask("GET", world.at("/balance", "sister"), by="company")
    charge = await world.ask("GET", world.at(f"/pix/qrcode/{world.demo['charges']['pending']}"))

    assert refused.verdict == again.verdict == (502, "SVC.ACC.006")
    assert (sister.status, charge.status) == (200, 200)


async def test_refused_calls_are_counted_by_provider_operation_and_limit(world: World):
    for _ in range(BURST + 1):
        await world.ask("GET", world.at("/pix/keys"))

    ops = f"http://127.0.0.1:{world.gateway.operations.port}/metrics"
    async with world.session.get(ops) as answer:
        lines = (await answer.text()).splitlines()

    name = 'pixgate_provider_limited_total{limit="rate",operation="list_keys",provider="sandbox"}'
    counted = [float(line.removeprefix(name)) for line in lines if line.startswith(name)]
    assert len(counted) == 1
    assert counted[0] >= 1
