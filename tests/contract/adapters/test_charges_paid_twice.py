"""A charge that a second Pix names, at every simulated bank: the first payment is the charge's."""

from __future__ import annotations

import pytest

from gateway.banks.port.capabilities import PortCall
from provider_adapters.testing.bank.stage import SimulatedStage
from provider_adapters.testing.verify.stage import Charge, ChargePaid
from provider_adapters.testing.verify.trial import ORDERED, trial_of
from tests.contract.adapters.verified_banks import BANKS

PAID_BANKS = [
    name for name, bank in BANKS.items() if PortCall.GET_CHARGE_PAYMENT in bank.capabilities.calls
]


@pytest.mark.parametrize("name", PAID_BANKS)
async def test_a_charge_paid_twice_shows_its_first_payment_and_both_came_in(name: str):
    async with trial_of(BANKS[name].subject) as trial:
        stage, account = trial.stage, trial.account
        assert isinstance(stage, SimulatedStage)
        reference = await stage.put(account, Charge(value=ORDERED))
        first = await stage.put(account, ChargePaid(reference=reference))
        where, query = ("charges", reference, "pay"), {"account": account.provider_account}
        again = await stage.control.post(*where, body={"any_pix": True}, query=query)

        shown = await trial.adapter.get_charge_payment(account, reference)
        came = await trial.adapter.list_received(account, trial.days(-1, 1), None, 100)

    assert (again["pays"], shown.e2e_id) == (False, first)
    ids = {each.e2e_id.lower() for each in came.items}
    assert {first.lower(), again["e2e_id"].lower()} <= ids
