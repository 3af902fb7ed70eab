"""What a bank offers is what it declares and has."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gateway.domain.bank.provider_options import Option
from gateway.domain.bank.providers import Bank, NotSupported
from gateway.operations.bank import connections
from tests.unit.offering import OfferingBank, lessened
from tests.unit.people import account
from tests.world.payouts import OneBank, ScriptedBank

PORTS = [
    (connections.key_calls, Option.CREATE_KEY),
    (connections.charge_calls, Option.CANCEL_CHARGE),
    (connections.incoming_calls, Option.LIST_RECEIVED),
    (connections.refund_calls, Option.CREATE_REFUND),
]
ports = pytest.mark.parametrize(("calls", "option"), PORTS)


def behind(adapter: ScriptedBank) -> Bank:
    bank = OneBank(adapter).of(account())
    assert bank is not None
    return bank


@ports
def test_what_is_declared_and_there_is_offered(calls: Callable[..., object], option: Option):
    adapter = OfferingBank()

    assert calls(behind(adapter), option) is adapter


@ports
def test_what_is_not_declared_is_not_supported(calls: Callable[..., object], option: Option):
    """The sandbox's settings lessen a bank by name."""
    with pytest.raises(NotSupported):
        calls(behind(OfferingBank(capabilities=lessened(option))), option)


@ports
def test_what_is_declared_and_not_there_is_not_supported(
    calls: Callable[..., object], option: Option
):
    with pytest.raises(NotSupported):
        calls(behind(ScriptedBank(capabilities=lessened())), option)
