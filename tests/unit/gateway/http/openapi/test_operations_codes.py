"""Every code that a route can answer with."""

from __future__ import annotations

from gateway.core import errors
from gateway.core.calls import Input
from gateway.http.openapi.operations import codes_of
from tests.world.gateway.listener_client import Asks, route, surface, text

TAKES: Input[str] = Input(read=text, refuses=(errors.NUMBER_INVALID,))


def test_codes_of_an_operation_come_from_every_layer_once():
    """The listener, policies, input, ports and the operation."""
    made = surface(
        route(takes=TAKES), policies=[Asks(lambda _call: None), Asks(lambda _call: None)]
    )
    (gate,) = made.gates

    found = codes_of(gate, gate.routes[0])

    assert {
        errors.INTERNAL, errors.PERMISSION_DENIED, errors.NUMBER_INVALID, errors.BALANCE_UNAVAILABLE
    } <= set(found)  # fmt: skip
    assert len(found) == len(set(found))
