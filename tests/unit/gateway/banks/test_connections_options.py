"""What a bank offers is what it declares; what it declares was checked when it was loaded."""

from __future__ import annotations

import pytest

from gateway.banks.connections import offered
from gateway.banks.port.capabilities import PortCall
from gateway.banks.port.providers import Bank, NotSupported
from tests.unit.offering import OfferingBank, lessened
from tests.world.payouts import OneBank, ScriptedBank
from tests.world.people import account

calls = pytest.mark.parametrize("call", list(PortCall))


def behind(adapter: ScriptedBank) -> Bank:
    bank = OneBank(adapter).of(account())
    assert bank is not None
    return bank


@calls
def test_declared_capabilities_are_offered(call: PortCall):
    adapter = OfferingBank()

    assert offered(behind(adapter), call) is adapter


@calls
def test_undeclared_capabilities_are_not_supported(call: PortCall):
    """The sandbox's settings can remove capabilities by name."""
    with pytest.raises(NotSupported):
        offered(behind(OfferingBank(capabilities=lessened(call))), call)
