"""The sandbox bank's callbacks are proven by what its adapter proves them with."""

from __future__ import annotations

from datetime import timedelta

import pytest
from multidict import CIMultiDict

from gateway.domain.bank.provider_callbacks import CallbackKind, Delivery
from provider_adapters.sandbox.callbacks import SandboxProof
from provider_adapters.sandbox.simulator.dialect import SANDBOX, SandboxBank
from provider_adapters.simulated_bank.kernel.listeners import Event, EventKind, Listener

HERE = "http://127.0.0.1:8080/callbacks/p/t"


@pytest.mark.parametrize(("secret", "proven"), [("00ff", True), ("00fe", False)])
async def test_a_callback_is_signed_with_the_secret_of_its_address(books, secret, proven):
    event = Event(id="evt_1", kind=EventKind.CHARGE, account_id="cc_1", subject="c-1")
    made = SANDBOX.callback(books, event, Listener(id="av_1", url=HERE, secret=secret))
    proof = SandboxProof([bytes.fromhex("00ff")], lambda: books.clock.now() + timedelta(seconds=1))

    came = Delivery(headers=CIMultiDict(made.headers), body=made.body)
    said = await proof.check(came)

    assert made.url == HERE
    assert (said is not None) == proven
    if said:
        (notice,) = said
        assert (notice.kind, notice.subject, notice.account) == (CallbackKind.CHARGE, "c-1", "cc_1")


def test_the_sandbox_bank_is_the_simulated_bank_in_its_own_dress(tmp_path):
    bank = SandboxBank(db_path=str(tmp_path / "bank.db"))

    assert bank.dialect is SANDBOX
    assert (bank.port, bank.control_port) == (8090, 8091)
