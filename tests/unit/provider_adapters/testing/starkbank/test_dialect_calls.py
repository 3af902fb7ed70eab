"""What the bank answers, row by row."""

from __future__ import annotations

import pytest

from provider_adapters.testing.bank.pix import charges, payouts
from tests.world.tables import cases

ORDER = {
    "amount": 1050, "name": "Maria", "taxId": "529.982.247-25", "bankCode": "60701190",
    "branchCode": "0001", "accountNumber": "123456-7", "externalId": "k-1", "tags": ["Ref:K-1"],
}  # fmt: skip
INVOICE = {"amount": 1050, "name": "Maria", "taxId": "52998224725", "tags": ["A"]}


def order(ask, **changes: object):
    return ask("POST", "/v2/transfer", {"transfers": [{**ORDER, **changes}]})


def test_a_transfer_is_found_by_its_tag_in_lower_case(ask):
    _, made = order(ask)
    _, found = ask("GET", "/v2/transfer?tags=ref:k-1")
    _, absent = ask("GET", "/v2/transfer?tags=ref:k-2")
    (transfer,) = found["transfers"]

    assert made["transfers"] == [transfer]
    assert absent["transfers"] == []
    assert transfer["tags"] == ["ref:k-1"]
    assert transfer["status"] == "processing"


def test_transfers_of_one_tag_are_listed_newest_first(ask):
    ids = [order(ask, externalId=key)[1]["transfers"][0]["id"] for key in ("k-1", "k-2")]

    _, found = ask("GET", "/v2/transfer?tags=ref:k-1")

    assert [each["id"] for each in found["transfers"]] == ids[::-1]


def test_a_known_external_id_is_refused(ask, books):
    order(ask)

    status, said = order(ask, amount=1051)

    assert (status, said["errors"][0]["code"]) == (400, "invalidExternalId")
    assert len(payouts.executions(books, None)) == 1


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"bankCode": "341"}, "invalidJson"),
        ({"taxId": "111"}, "invalidTaxId"),
        ({"amount": "1050"}, "invalidJson"),
        ({"amount": 0}, "invalidJson"),
        ({"amount": 10**12}, "insufficientFunds"),
        ({"tags": ["a,b"]}, "invalidJson"),
        ({"name": ""}, "invalidJson"),
    ],
)
def test_a_wrong_transfer_is_refused_and_nothing_is_paid(ask, books, changes, code):
    status, said = order(ask, **changes)

    assert (status, said["errors"][0]["code"]) == (400, code)
    assert payouts.executions(books, None) == []


@cases("given", [None, [], ["x"]])
def test_a_list_of_orders_is_not_empty(ask, given: object):
    assert ask("POST", "/v2/transfer", {"transfers": given})[0] == 400


def test_a_key_leads_to_an_account_that_only_the_bank_can_read(ask, books):
    _, found = ask("GET", "/v2/dict-key/maria@example.com")
    entry = found["key"]
    place = {"bankCode": entry["ispb"]} | {
        name: entry[name] for name in ("branchCode", "accountNumber", "accountType")
    }

    status, made = order(ask, **place)

    assert status == 200
    (paid,) = payouts.executions(books, None)
    stored = payouts.get(books, "ws_1", made["transfers"][0]["id"])
    assert (paid.centavos, stored.to.key) == (1050, "maria@example.com")
    assert "maria" not in entry["accountNumber"]


def test_a_key_of_nobody_is_absent(ask):
    status, said = ask("GET", "/v2/dict-key/notfound@example.com")

    assert (status, said["errors"][0]["code"]) == (400, "invalidPixKey")


def test_an_invoice_is_made_found_paid_and_logged(ask, books):
    _, made = ask("POST", "/v2/invoice", {"invoices": [INVOICE]})
    (invoice,) = made["invoices"]
    charge = charges.get(books, "ws_1", "A")
    charges.pay(books, charge, None, None)

    (found,) = ask("GET", "/v2/invoice?tags=a")[1]["invoices"]
    payment = ask("GET", f"/v2/invoice/{invoice['id']}/payment")[1]["payment"]
    (log,) = ask("GET", f"/v2/invoice/log?types=paid&invoiceIds={invoice['id']}")[1]["logs"]

    assert (invoice["status"], found["status"], found["tags"]) == ("created", "paid", ["a"])
    assert payment["endToEndId"].startswith("E")
    assert log["invoice"]["id"] == invoice["id"]
    assert ask("GET", "/v2/deposit?tags=a")[1]["deposits"] == []
    sources = [each["source"] for each in ask("GET", "/v2/transaction")[1]["transactions"]]
    assert f"invoice/{invoice['id']}" in sources


def test_an_invoice_that_is_paid_is_not_cancelled(ask, books):
    _, made = ask("POST", "/v2/invoice", {"invoices": [INVOICE, {**INVOICE, "tags": ["B"]}]})
    paid, other = (each["id"] for each in made["invoices"])
    charges.pay(books, charges.get(books, "ws_1", "A"), None, None)

    canceled = {"status": "canceled"}
    assert ask("PATCH", f"/v2/invoice/{paid}", canceled)[0] == 400
    assert ask("PATCH", f"/v2/invoice/{other}", canceled)[1]["invoice"]["status"] == "canceled"


def test_a_br_code_that_is_paid_is_a_deposit_with_its_tags(ask, books):
    _, made = ask("POST", "/v2/dynamic-brcode", {"brcodes": [{"amount": 0, "tags": ["T"]}]})
    (code,) = made["brcodes"]
    paid = charges.pay(books, charges.get(books, "ws_1", "T"), 500, None)

    (deposit,) = ask("GET", f"/v2/deposit?tags=dynamic-brcode/{code['uuid']}")[1]["deposits"]

    assert deposit["tags"] == [
        paid.e2e_id.lower(), f"dynamic-brcode/{code['uuid']}", "t", f"d{code['uuid']}",
    ]  # fmt: skip
    assert ask("GET", f"/v2/deposit?tags={paid.e2e_id.lower()}")[1]["deposits"] == [deposit]
    assert (code["expiration"], code["amount"]) == (3600, 0)


def test_keys_and_addresses_are_listed(ask):
    (key,) = ask("GET", "/v2/dict-key")[1]["keys"]
    assert (key["id"], key["status"]) == ("loja@example.com", "registered")

    asked = {"url": "http://127.0.0.1:1/c", "subscriptions": ["transfer"]}
    made = ask("POST", "/v2/webhook", asked)[1]["webhook"]
    assert ask("GET", "/v2/webhook")[1]["webhooks"] == [made]
    assert ask("DELETE", f"/v2/webhook/{made['id']}")[1]["webhook"] == made
    assert ask("DELETE", f"/v2/webhook/{made['id']}")[1]["errors"][0]["code"] == "invalidWebhook"


def test_an_event_that_nobody_missed_is_absent(ask):
    assert ask("GET", "/v2/event?isDelivered=false")[1]["events"] == []
    status, said = ask("PATCH", "/v2/event/1", {"isDelivered": True})
    assert (status, said["errors"][0]["code"]) == (400, "invalidEvent")
