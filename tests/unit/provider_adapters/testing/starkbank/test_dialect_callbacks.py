"""The bank's callbacks, proven by what its adapter proves them with."""

from __future__ import annotations

import json

import pytest
from multidict import CIMultiDict

from gateway.domain.bank.provider_callbacks import CallbackKind, Delivery
from provider_adapters.kit.public_keys import GivenKeys
from provider_adapters.starkbank.callbacks import StarkBankProof
from provider_adapters.testing.bank.kernel.listeners import Event, EventKind, Listener
from provider_adapters.testing.bank.pix import charges
from provider_adapters.testing.starkbank import dialect

HERE = Listener(id="av_1", url="http://127.0.0.1:1/c", secret="")


def sent(books, kind: EventKind, subject: str):
    event = Event(id="evt_1", kind=kind, account_id="ws_1", subject=subject)
    return dialect.callback(books, event, HERE)


async def test_a_callback_is_signed_with_the_key_that_the_bank_shows(books, ask):
    order = {
        "amount": 1050, "name": "Maria", "taxId": "52998224725", "bankCode": "60701190",
        "branchCode": "1", "accountNumber": "1-1", "tags": ["ref:k"],
    }  # fmt: skip
    _, made = ask("POST", "/v2/transfer", {"transfers": [order]})
    payout_id = made["transfers"][0]["id"]
    written = sent(books, EventKind.PAYOUT, payout_id)
    came = Delivery(headers=CIMultiDict(written.headers), body=written.body)

    said = await StarkBankProof(GivenKeys([dialect.public_key(books)])).check(came)
    dialect.rotate(books)
    then = await StarkBankProof(GivenKeys([dialect.public_key(books)])).check(came)

    assert said is not None
    (notice,) = said
    assert (notice.kind, notice.subject, notice.account) == (CallbackKind.PAYOUT, "k", "ws_1")
    assert then is None


@pytest.mark.parametrize("named", [True, False])
def test_what_pays_an_invoice_is_no_deposit(books, ask, *, named: bool):
    payer = {"name": "Maria", "taxId": "52998224725"} if named else {}
    path, name = ("invoice", "invoices") if named else ("dynamic-brcode", "brcodes")
    ask("POST", f"/v2/{path}", {name: [{"amount": 5, "tags": ["A"], **payer}]})
    paid = charges.pay(books, charges.get(books, "ws_1", "A"), None, None)

    event = json.loads(sent(books, EventKind.CHARGE, paid.e2e_id).body)["event"]

    assert event["subscription"] == ("invoice" if named else "deposit")
    assert "a" in event["log"][event["subscription"]]["tags"]


@pytest.mark.parametrize("kind", list(EventKind))
def test_of_what_is_in_no_book_nothing_is_said(books, credentials, kind: EventKind):
    assert sent(books, kind, "nothing") is None
