"""What every room is built on."""

from __future__ import annotations

import inspect
import uuid
from dataclasses import replace
from datetime import datetime

from gateway.app.kernel import SilentObserver, new_id
from gateway.store.kernel.clock import DatabaseClock
from gateway.telemetry.observer import TelemetryObserver
from gateway.telemetry.records import Observer, RequestObserver
from tests.world.kernel import kernel_on
from tests.world.standing import Clock


def test_ids_are_unique_uuids():
    made = {new_id() for _ in range(10)}

    assert len(made) == 10
    assert {str(uuid.UUID(each)) for each in made} == made


def test_a_silent_observer_accepts_every_call():
    """A missing method would fail the first command that calls it."""
    told = [
        name
        for port in (Observer, RequestObserver)
        for name, method in vars(port).items()
        if inspect.isfunction(method) and not name.startswith("_")
    ]

    silent = SilentObserver()

    for name in told:
        _self, *parameters = inspect.signature(getattr(TelemetryObserver, name)).parameters
        assert getattr(silent, name)(*parameters) is None
        assert getattr(silent, name)(**dict.fromkeys(parameters)) is None


async def test_due_work_is_selected_by_the_database_s_clock():
    """Work is claimed only while both clocks agree; a command uses its own clock."""
    ours, theirs = Clock(), Clock()
    clock = DatabaseClock(ours.now, lambda: 0.0, 5.0)

    async def server_time() -> datetime:
        return theirs.now()

    await clock.read(server_time)
    alone = kernel_on(None, ours)
    kernel = replace(alone, clock=clock)
    ours.passes(7200)

    assert (alone.shared_now(), alone.is_in_step()) == (ours.now(), True)
    assert (kernel.shared_now(), kernel.is_in_step()) == (theirs.now(), False)


def test_commands_are_silent_by_default():
    kernel = kernel_on(None, Clock())

    kernel.events.on_security_event("authn_login_fail", "")

    assert isinstance(kernel.observer, SilentObserver)
