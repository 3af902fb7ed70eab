"""Stopped, paused, left alone in the middle of a call: hardening 3.1."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path

import pytest

from tests.proofs.torture import postgres
from tests.proofs.torture.gateway_client import GatewayClient, torture_world_in
from tests.proofs.torture.postgres import Postgres
from tests.proofs.torture.sites import LOSING, providers
from tests.world.extent import WHOLE
from tests.world.waiting import until

TAKEN = (200, "processing")
SEND_S = 20
LEASE_AND_QUIET_S = 60 + 5


async def until_ordered(gateway_client: GatewayClient) -> None:
    """Wait until the bank has an order."""
    await until(gateway_client.orders)


async def test_a_stopping_process_records_its_current_call(tmp_path: Path):
    """SIGTERM during a call: drained, exit status 0, and the payout was made once."""
    async with torture_world_in(tmp_path) as torture_world:
        short = providers(torture_world.target, **LOSING)
        gateway_client = await torture_world.gateway_client("one", providers=short)
        await gateway_client.start()
        await torture_world.control.post(
            "faults", body={"operation": "payout", "fault": "hang_after"}
        )
        asking = asyncio.create_task(gateway_client.pay("drained"))
        await until_ordered(gateway_client)

        gateway_client.command.kill(signal.SIGTERM)
        answered = await asking
        code = await gateway_client.command.ended()
        await gateway_client.start()
        found, again = await gateway_client.read("drained"), await gateway_client.pay("drained")
        executed = await gateway_client.executions("drained")

    assert answered == (502, "SVC.PIX.010")
    assert code == 0
    assert found[0] == 200
    assert again == TAKEN
    assert executed == [1050]


@pytest.mark.skipif(not WHOLE, reason="`make proofs` alone")
async def test_a_payout_is_completed_when_its_caller_disconnects(tmp_path: Path):
    """The bank stalls, the caller disconnects, the bank continues: made and recorded once."""
    async with torture_world_in(tmp_path) as torture_world:
        gateway_client = await torture_world.gateway_client("one")
        await gateway_client.start()
        torture_world.bank.kill(signal.SIGSTOP)
        leaving = asyncio.create_task(gateway_client.pay("left"))

        async def is_known() -> bool:
            return (await gateway_client.read("left"))[0] == 200

        await until(is_known)
        leaving.cancel()
        await asyncio.wait([leaving])
        torture_world.bank.kill(signal.SIGCONT)

        async def is_paid() -> bool:
            return await gateway_client.read("left") == (200, "paid")

        await until(is_paid)
        again = await gateway_client.pay("left")
        executed = await gateway_client.executions("left")

    assert again == TAKEN
    assert executed == [1050]


@pytest.mark.skipif(not WHOLE, reason="`make proofs` alone")
async def test_a_process_suspended_past_its_lease_does_not_send(tmp_path: Path):
    """
    Rule R13, with a bank that ignores keys: a second order would be a second payment.

    A gateway is stopped (SIGSTOP) when it has a connection and is about to write, until its send
    deadline has passed. Another one, whose clock is ahead, sees the lease and the quiet period end,
    proves the payout absent, and ends it. The first one resumes just before the write, and must not
    write.
    """
    async with postgres.running() as server, torture_world_in(tmp_path) as torture_world:
        sleeper = await torture_world.gateway_client("sleeper", store=server.url(), kind="none")
        sleeper.command.module = "tests.proofs.torture.sleeper"
        other = await _beside(torture_world, sleeper, server)
        await sleeper.start(failpoint="after_connect")
        other.offset_s += LEASE_AND_QUIET_S - SEND_S
        await other.start()

        asking = asyncio.create_task(sleeper.pay("slept", patience_s=200))
        await _until_asleep(sleeper)
        await asyncio.sleep(SEND_S + 2)
        found = await _until_ended(other, "slept")
        sleeper.command.kill(signal.SIGCONT)
        answered = await asking
        await asyncio.sleep(1)
        called, executed = await other.orders(), await other.executions("slept")
        again = await other.pay("slept")

    assert found == (200, "failed")
    assert answered == (502, "SVC.ACC.005")
    assert (called, executed) == (0, [])
    assert again == (400, "SVC.PIX.010")


async def _beside(torture_world, sleeper: GatewayClient, server: Postgres) -> GatewayClient:
    """Make a second gateway for the same account on the same store."""
    other = await torture_world.gateway_client("other", store=server.url(), kind="none")
    keys = (sleeper.config.parent / "var" / "keys.json").read_bytes()
    (other.config.parent / "var" / "keys.json").write_bytes(keys)
    other.account = sleeper.account
    return other


async def _until_asleep(gateway_client: GatewayClient) -> None:
    """Wait until the system says that the process is stopped."""
    state = Path(f"/proc/{gateway_client.command.process.pid}/stat")
    await until(lambda: state.read_text().rpartition(")")[2].split()[0] == "T")


async def _until_ended(gateway_client: GatewayClient, reference: str) -> tuple[int, str]:
    """Read until it is no longer on its way."""

    async def has_ended() -> bool:
        return await gateway_client.read(reference) != TAKEN

    await until(has_ended)
    return await gateway_client.read(reference)
