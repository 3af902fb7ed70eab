"""A process among the live ones."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gateway.app.store import absent_store
from gateway.core.audit_context import RuleViolation
from gateway.core.key_rotation import LiveProcess
from gateway.process.registration import Registration
from tests.world.registers import Registers
from tests.world.shared_limits import Counting

OURS = LiveProcess(id="1", name="worker 1 on a", keys={"sealing": ["k1"], "pepper": ["p1"]})


async def test_a_process_with_mismatched_keys_is_refused_in_one_line(office: Registers):
    processes = office.store.processes
    begun = Registration(processes, OURS, office.clock)
    await begun.begin()
    other = replace(OURS, id="2", name="other", keys={"sealing": ["k2", "k1"], "pepper": ["p2"]})
    starting = Registration(processes, other, office.clock)

    with pytest.raises(RuleViolation) as refused:
        await starting.begin()

    assert str(refused.value) == (
        "the sealing key k2 is not configured in worker 1 on a: add it there to "
        "sealing.retired_keys first; the pepper p2 is not configured in worker 1 on a: add it "
        "there to auth.basic.retired_peppers first; the pepper p1, with which worker 1 on a "
        "writes, is not configured here: add it to auth.basic.retired_peppers first (see pixgate "
        "keys status; a process that was killed counts for 30 s)"
    )
    office.clock.passes(seconds=20)
    await begun.renew()
    office.clock.passes(seconds=20)
    assert await processes.alive(office.clock()) == [OURS]
    await begun.end()
    await starting.begin()
    assert await processes.alive(office.clock()) == [other]


async def test_each_renewal_updates_the_number_of_running_processes(office: Registers):
    """Limits are divided by it; quotas only by processes that serve requests."""
    processes, shared = office.store.processes, Counting(lambda: 0.0)
    ours = Registration(processes, OURS, office.clock, shared)
    others = [replace(OURS, id=each, name=f"server process {each} on a") for each in "23"]
    for each in (ours, *(Registration(processes, other, office.clock) for other in others)):
        await each.begin()

    await ours.renew()

    assert (shared.processes, shared.serving) == (3, 2)


async def test_a_silent_store_does_not_delay_a_stop(office: Registers):
    store = absent_store("sqlite://")

    await Registration(store.processes, OURS, office.clock).end()

    await store.close()
