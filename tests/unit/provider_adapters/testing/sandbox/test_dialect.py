"""The sandbox bank's callbacks are proven by what its adapter proves them with."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from multidict import CIMultiDict

from gateway.domain.bank.provider_callbacks import CallbackKind, Delivery
from provider_adapters.sandbox.callbacks import SandboxProof
from provider_adapters.testing.bank.kernel.listeners import Event, EventKind, Listener
from provider_adapters.testing.bank.pix import payouts, received_payments
from provider_adapters.testing.bank.pix.received_payments import Payment
from provider_adapters.testing.sandbox.dialect import SANDBOX, SandboxBank

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


def told(books, kind, subject, account_id="cc_1"):
    """The body of a callback about something, or None."""
    event = Event(id="evt_1", kind=kind, account_id=account_id, subject=subject)
    made = SANDBOX.callback(books, event, Listener(id="av_1", url=HERE, secret=""))
    return made and json.loads(made.body)


def test_a_callback_names_things_as_their_customer_does(books, account, order):
    made = payouts.accept(books, account, order(key="pk-7"))
    nameless = payouts.accept(books, account, order(key=None))

    said = {"tipo": "transferencia", "conta": "cc_1"}
    assert told(books, EventKind.PAYOUT, made.id) == {**said, "chave": "pk-7"}
    assert told(books, EventKind.PAYOUT, nameless.id) == {**said, "chave": ""}
    assert told(books, EventKind.PAYOUT, "pk-of-an-older-file")["chave"] == "pk-of-an-older-file"


def test_a_payment_is_told_of_by_the_reference_of_its_charge(books, account):
    at = books.clock.micros()
    payment = Payment(account_id="cc_1", centavos=1, at=at, e2e_id="E1", reference="r-1")
    with books.database.transaction():
        received_payments.receive(books, payment)

    assert told(books, EventKind.CHARGE, "E1")["referencia"] == "r-1"
    assert told(books, EventKind.PAYMENT, "E1") is None
