"""Payouts that are not requested again are followed up in the background to a known end."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from gateway.app.commands.context import AdminContext
from gateway.config.upstream import SandboxBank
from gateway.core.windows import Window
from gateway.payouts.cli import probed, verified
from gateway.payouts.model import Payout, PayoutState
from gateway.payouts.verification import Report
from tests.world.gateway.world import World, opened, order, sandbox
from tests.world.waiting import until

pytestmark = pytest.mark.asyncio(loop_scope="module")

PAID, ACCEPTED, UNKNOWN = PayoutState.PAID, PayoutState.ACCEPTED, PayoutState.UNKNOWN


async def stored(world: World, reference: str) -> Payout:
    """Look into the store: over the socket, reading would itself ask the bank."""
    account = world.demo["accounts"]["main"]["id"]
    found = await world.gateway.kernel.store.payouts.find(account, reference)
    assert found is not None
    return found


async def becomes(world: World, reference: str, holds: Callable[[Payout], bool]) -> Payout:
    """Wait until a stored payout is so."""

    async def found() -> Payout | None:
        payout = await stored(world, reference)
        return payout if holds(payout) else None

    payout: Payout = await until(found)
    return payout


def office_of(world: World) -> AdminContext:
    """The office as commands have it: they know the bank's ports from the configuration."""
    bank = world.gateway.bank
    assert bank is not None
    settings = world.gateway.kernel.settings
    listening = SandboxBank(port=bank.port, control_port=bank.control_port)
    kernel = replace(
        world.gateway.kernel, settings=msgspec.structs.replace(settings, sandbox_bank=listening)
    )
    return AdminContext(kernel, world.office.acting)


async def compared(world: World) -> Report:
    today = world.gateway.kernel.now().date()
    return await verified(office_of(world), None, Window(today, today))


async def kinds(world: World, *references: str) -> list[str]:
    """Compare bank and store; return what differs about some payouts."""
    found = (await compared(world)).differences
    return [each.kind.value for each in found if each.reference in references]


async def shown_on_the_gauge(world: World) -> None:
    """Wait until the page of metrics shows a review."""
    url = f"http://127.0.0.1:{world.gateway.operations.port}/metrics"

    async def is_shown() -> bool:
        await world.run_task("gauges")
        async with world.session.get(url) as said:
            return 'pixgate_payout_review{provider="sandbox"} 1.0' in await said.text()

    await until(is_shown)


@pytest.mark.parametrize("value", [777.06, 777.08])
async def test_a_lost_answer_is_resolved_in_the_background(hurried_world: World, value: float):
    """Sent once, executed once, and never requested again by the partner."""
    world = hurried_world
    reference = f"lost-{value}"
    answered = await world.pay(order(reference, world.today(), value=value))
    before = await stored(world, reference)

    ended = await becomes(world, reference, lambda payout: payout.state is PAID)

    [attempt] = await world.gateway.kernel.store.payouts.attempts(ended.account_id, reference)
    assert answered.verdict == (502, "SVC.PIX.010")
    assert before.state is UNKNOWN
    assert ended.e2e_id.startswith("E")
    assert (attempt.number, attempt.outcome) == (1, PAID)
    assert len(await world.executions(reference)) == 1


async def test_the_statement_settles_a_payout_a_look_up_cannot(hurried_world: World):
    """Wishes 2: the look-up always fails, and the statement contains our key."""
    world, reference = hurried_world, "only-in-the-statement"
    async with world.failing("payout_read", "status", status=500):
        answered = await world.pay(order(reference, world.today(), value=777.06))
        ended = await becomes(world, reference, lambda payout: payout.state is PAID)

    [attempt] = await world.gateway.kernel.store.payouts.attempts(ended.account_id, reference)
    assert answered.status == 502
    assert attempt.evidence is not None
    assert attempt.evidence.reason == "statement"


async def test_follow_up_calls_are_logged_with_the_order_s_trace_id(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
):
    """With the payout's key, to know which payout the bank was asked about."""
    keys: dict[str, str] = {}
    async with opened(sandbox(tmp_path)) as world:

        async def paid(reference: str, value: float) -> None:
            traced = {"X-Trace-ID": f"trace-{reference}"}
            await world.pay(order(reference, world.today(), value=value), headers=traced)
            ended = await becomes(world, reference, lambda payout: payout.state is PAID)
            keys[ended.provider_key] = traced["X-Trace-ID"]

        await paid("callback", 1.05)
        await paid("look", 777.08)
        async with world.failing("payout_read", "status", status=500):
            await paid("statement", 777.08)

    lines = [
        json.loads(line) for line in capfd.readouterr().out.splitlines() if "provider_call" in line
    ]
    followed = [line for line in lines if "provider_key" in line]
    assert [line for line in lines if not line["trace_id"]] == []
    assert {(line["provider_key"], line["trace_id"]) for line in followed} == set(keys.items())
    assert {line["operation"] for line in followed} == {"find_payout", "list_statement"}


async def test_a_payout_with_another_amount_is_put_in_review(world: World):
    """R$ 777.12: the outcome is unproven, so a person decides; the gauge counts it."""
    reference = "one-centavo-less"
    await world.pay(order(reference, world.today(), value=777.12))

    waiting = await becomes(world, reference, lambda payout: payout.review)

    shown = (await world.ask("GET", world.at(f"/withdraw/{reference}"))).document
    await shown_on_the_gauge(world)
    assert (waiting.state, shown["status"]) == (ACCEPTED, "processing")
    assert await kinds(world, reference) == ["amount_differs"]


async def test_a_probe_does_the_background_work_at_once(world: World):
    reference = "probed"
    await world.pay(order(reference, world.today(), value=777.08))

    async with world.bank_ahead():
        seen = await probed(office_of(world), await stored(world, reference))

    assert seen.state is PAID
    assert await stored(world, reference) == seen
