"""What our own calls tell of providers."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from gateway.app.banks import connect
from gateway.banks.connections import ConfiguredProvider
from gateway.banks.health import ProviderHealth
from gateway.config.settings import Settings
from gateway.config.upstream import Breaker, Provider
from gateway.telemetry.ports import Event
from gateway.telemetry.records import ProviderCall
from tests.world.banks.witness import Witness as Bystander
from tests.world.kernel import Witness
from tests.world.standing import NOON, Clock


def call(outcome: str) -> ProviderCall:
    return ProviderCall(
        provider="p",
        operation="get_balance",
        outcome=outcome,
        duration_s=0.1,
        http_status=0,
        bytes_left=True,
        trace_id="t",
    )


def connections(witness: Any) -> dict[str, ConfiguredProvider]:
    settings = Settings(providers={"p": Provider(adapter="sandbox", read_only=True)})
    return {"p": connect("p", settings, witness)}


def test_the_latest_call_and_open_breakers_are_kept():
    witness: Any = Witness()
    clock = Clock()
    health = ProviderHealth(witness, clock.now)

    health.provider_call(call("ok"))
    clock.passes(60)
    health.provider_call(call("timeout"))
    health.breaker("p", "read", "open")
    (known,) = health.known(connections(witness))

    assert (known.last_outcome, known.last_call_at) == ("timeout", clock.now())
    assert known.last_ok_at is not None
    assert (clock.now() - known.last_ok_at).total_seconds() == 60
    assert known.breakers == {"read": "open"}
    assert known.read_only
    assert "find_refund" in known.operations
    assert (known.adapter, known.problem) == ("sandbox", "")


def test_the_latest_failure_and_calls_in_flight_are_known():
    """A refusal by the bank is no failure, because it answered."""
    witness: Any = Witness()
    clock = Clock()
    health = ProviderHealth(witness, clock.now)

    health.provider_call(call("timeout"))
    failed_at = clock.now()
    clock.passes(60)
    health.provider_call(call("rejected"))
    (idle,) = health.known(connections(witness))
    health.in_flight("p", 3, 64)
    health.certificate("p", NOON)
    (known,) = health.known(connections(witness))

    assert (known.last_failed_at, known.last_failure) == (failed_at, "timeout")
    assert known.last_failed_operation == "get_balance"
    assert (idle.in_flight, idle.in_flight_limit) == (0, 64)
    assert (known.in_flight, known.in_flight_limit) == (3, 64)
    assert known.certificate_ends_at == NOON


def test_a_breaker_stays_open_for_longer_each_time_in_a_row():
    """By about the breaker's own limits; after it closed they start again."""
    witness: Any = Witness()
    clock = Clock()
    health = ProviderHealth(witness, clock.now, {"p": Breaker(open_s=10, longest_open_s=25)})

    def opened() -> float:
        health.breaker("p", "read", "open")
        (known,) = health.known(connections(witness))
        until = datetime.fromisoformat(known.open_until["read"])
        return (until - clock.now()).total_seconds()

    def entered(state: str) -> object:
        health.breaker("p", "read", state)
        (known,) = health.known(connections(witness))
        return known.open_until

    def state() -> str:
        (known,) = health.known(connections(witness))
        return known.breakers["read"]

    assert opened() == 10
    assert entered("half_open") == {}
    assert (opened(), opened()) == (20, 25)
    assert state() == "open"
    clock.passes(25)
    assert state() == "half_open"  # the next call is tried, though none has come
    assert entered("closed") == {}
    assert opened() == 10


def test_the_latest_adapter_fault_is_kept():
    witness: Any = Witness()
    health = ProviderHealth(witness, Clock().now)

    health.count(Event.ADAPTER_FAULT, "p.get_key")
    health.count(Event.NOT_PIX, "p.list_statement")
    (known,) = health.known(connections(witness))

    assert known.problem == "get_key broke the port, last at 2026-11-20T12:00:00Z"


def test_a_certificate_s_end_is_passed_on():
    witness = Bystander()

    ProviderHealth(witness, Clock().now).certificate("p", NOON)

    assert witness.certificates == [("p", NOON)]


def test_a_provider_that_was_never_called_is_listed():
    witness: Any = Witness()

    (known,) = ProviderHealth(witness, Clock().now).known(connections(witness))

    assert (known.name, known.last_call_at, known.last_outcome) == ("p", None, "")
