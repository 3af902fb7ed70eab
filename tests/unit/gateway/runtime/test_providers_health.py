"""What our own calls tell of providers."""

from __future__ import annotations

from typing import Any

from gateway.app.build_bank import connect
from gateway.config.settings import Settings
from gateway.config.upstream import Provider
from gateway.runtime.providers import Connection, ProviderHealth
from gateway.telemetry.ports import Event
from gateway.telemetry.records import ProviderCall
from tests.unit.provider_adapters.witness import Witness as Bystander
from tests.unit.standing import NOON, Clock
from tests.world.kernel import Witness


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


def connections(witness: Any) -> dict[str, Connection]:
    settings = Settings(providers={"p": Provider(adapter="sandbox", read_only=True)})
    return {"p": connect("p", settings, witness)}


def test_the_latest_call_and_the_breakers_are_remembered():
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
    assert "find_refund" in known.capabilities.operations
    assert (known.adapter, known.problem) == ("sandbox", "")


def test_an_adapter_that_broke_the_port_is_remembered():
    witness: Any = Witness()
    health = ProviderHealth(witness, Clock().now)

    health.count(Event.ADAPTER_FAULT, "p.get_key")
    health.count(Event.NOT_PIX, "p.list_statement")
    (known,) = health.known(connections(witness))

    assert known.problem == "get_key broke the port, last at 2026-11-20T12:00:00Z"


def test_what_the_back_office_does_not_show_is_passed_on():
    witness = Bystander()

    ProviderHealth(witness, Clock().now).certificate("p", NOON)

    assert witness.certificates == [("p", NOON)]


def test_a_provider_that_was_never_called_is_known_by_name():
    witness: Any = Witness()

    (known,) = ProviderHealth(witness, Clock().now).known(connections(witness))

    assert (known.name, known.last_call_at, known.last_outcome) == ("p", None, "")
