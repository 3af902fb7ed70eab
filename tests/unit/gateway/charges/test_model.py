"""Charges on record."""

from __future__ import annotations

from datetime import timedelta

from gateway.banks.port.charges import ChargeStatus
from gateway.charges.model import ChargeState
from tests.world.stores.charges import charge
from tests.world.stores.samples import NOW

SECOND = timedelta(seconds=1)


def test_charge_states_include_the_bank_s_statuses():
    assert {each.value for each in ChargeStatus} < {each.value for each in ChargeState}


def test_only_an_active_charge_expires():
    for state in [each for each in ChargeState if each is not ChargeState.EXPIRED]:
        known = charge(state=state, expires_at=NOW)
        expired = ChargeState.EXPIRED if state is ChargeState.ACTIVE else state

        assert known.state_at(NOW - SECOND) is state
        assert known.state_at(NOW) is expired
        assert charge(state=state).state_at(NOW) is state
