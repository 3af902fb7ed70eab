"""What every room is built on."""

from __future__ import annotations

import inspect
import uuid

from gateway.app.kernel import SilentObserver, new_id
from gateway.telemetry.observer import TelemetryObserver
from gateway.telemetry.records import Observer, RequestObserver
from tests.world.kernel import kernel_on
from tests.world.standing import Clock


def test_ids_are_uuids_and_no_two_are_the_same():
    made = {new_id() for _ in range(10)}

    assert len(made) == 10
    assert {str(uuid.UUID(each)) for each in made} == made


def test_a_silent_observer_hears_all_that_is_told_and_does_nothing():
    """A method that it lacked would fail the first command that tells of it."""
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


def test_commands_are_silent_unless_told_otherwise():
    kernel = kernel_on(None, Clock())

    kernel.events.on_security_event("authn_login_fail", "")

    assert isinstance(kernel.observer, SilentObserver)
