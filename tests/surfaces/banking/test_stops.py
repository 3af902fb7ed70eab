"""The kill switch over the socket: payouts of a scope are refused, reads go on."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from gateway.app.commands.context import AdminContext
from gateway.core import errors
from gateway.core.company_scope import StopScope
from gateway.stops.model import Stop
from tests.world.gateway.world import (
    World,
    opened,
    order,
    pair_of,
    sandbox,
)
from tests.world.stops import lift, plant, sample, stop_payouts
from tests.world.waiting import until

STOPPED = (403, "SVC.PIX.010")
REFUSED_FOR_GOOD = 777.04


@pytest.fixture
async def fresh(tmp_path: Path) -> AsyncIterator[World]:
    """A gateway that has not looked for stops yet: the first payout sees those of now."""
    async with opened(sandbox(tmp_path)) as made:
        yield made


def subject(world: World, scope: StopScope) -> str:
    return {
        StopScope.PROVIDER: "sandbox",
        StopScope.ACCOUNT: world.demo["accounts"]["main"]["id"],
        StopScope.COMPANY: world.demo["companies"]["main"]["id"],
        StopScope.CREDENTIAL: world.pair("full")["client_id"],
        StopScope.EVERYTHING: "",
    }[scope]


async def pulled(world: World, scope: StopScope, office: AdminContext | None = None) -> Stop:
    return await stop_payouts(office or world.office, scope, subject(world, scope))


async def test_a_stop_takes_effect_at_once_in_its_process(fresh: World):
    """The next payout is refused, and the first one after its end is paid."""
    wanted = order("ordered", fresh.today())
    await fresh.pay(wanted)

    stop = await pulled(fresh, StopScope.PROVIDER)
    refused = await fresh.pay(order("stopped", fresh.today()))
    again = await fresh.pay(wanted)
    ended = await fresh.settled("ordered")
    await lift(fresh.office, stop.id)
    sent = await fresh.pay(order("stopped", fresh.today()))

    assert (again.status, ended["status"]) == (200, "paid")
    assert (refused.verdict, sent.status) == (STOPPED, 200)
    assert await fresh.executions("stopped") == [1050]


@pytest.mark.parametrize("scope", StopScope)
async def test_a_stopped_payout_reaches_neither_store_nor_bank(fresh: World, scope: StopScope):
    """403 ``SVC.PIX.010``; the reference stays free, and reads continue."""
    await pulled(fresh, scope)

    refused = await fresh.pay(order("stopped", fresh.today()))
    absent = await fresh.ask("GET", fresh.at("/withdraw/stopped"))
    balance = await fresh.ask("GET", fresh.at("/balance"))

    assert refused.verdict == STOPPED
    assert absent.verdict == (404, "SVC.PIX.011")
    assert balance.status == 200
    assert await fresh.executions("stopped") == []


async def test_a_stop_and_a_bank_refusal_have_different_answers(fresh: World):
    """Both are 403 ``SVC.PIX.010``: the stored payout has failed, the stopped one has no row."""
    refused = await fresh.pay(order("refused", fresh.today(), value=REFUSED_FOR_GOOD))
    stored = await fresh.ask("GET", fresh.at("/withdraw/refused"))
    await pulled(fresh, StopScope.PROVIDER)
    stopped = await fresh.pay(order("stopped", fresh.today()))
    absent = await fresh.ask("GET", fresh.at("/withdraw/stopped"))

    assert (refused.verdict, stopped.verdict) == (STOPPED, STOPPED)
    assert refused.document["message"] == errors.PAYOUT_NOT_ALLOWED.message
    assert stopped.document["message"] == errors.PAYOUTS_STOPPED.message
    assert (stored.document["status"], absent.status) == ("failed", 404)


async def test_a_stop_of_one_credential_does_not_stop_its_company(fresh: World):
    await pulled(fresh, StopScope.CREDENTIAL)
    made = await fresh.issue()
    pair = pair_of(made)

    other = await fresh.pay(order("by-another", fresh.today()), pair=pair)
    own = await fresh.pay(order("own", fresh.today()))

    assert (other.status, own.verdict) == (200, STOPPED)


async def test_a_stop_ends_at_its_end_time(fresh: World):
    """However old the cached copy in a process is."""
    now = fresh.gateway.kernel.now()
    ends_at = now + timedelta(seconds=1)
    stop = sample(scope=StopScope.PROVIDER, subject="sandbox", created_at=now, ends_at=ends_at)
    await plant(fresh.gateway.kernel.store, stop)
    refused: set[tuple[int, str]] = set()

    async def is_sent() -> bool:
        answer = await fresh.pay(order("o-1", fresh.today()))
        refused.update({answer.verdict} - {(200, "")})
        return answer.status == 200

    await until(is_sent)

    assert refused <= {STOPPED}
