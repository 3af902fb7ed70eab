"""Requests, byte by byte where it matters."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date

import pytest

from gateway.banks.port.charges import ChargeOrder, ChargeType, Payer
from gateway.banks.port.payout_orders import AccountType, FailureCode, PayoutOrder
from gateway.banks.port.pix_keys import PixKeyType
from gateway.banks.port.provider_callbacks import CallbackOrder
from gateway.banks.port.providers import CredentialsRefused, Refused
from gateway.core.money import Money
from provider_adapters.asaas import mapping, requests
from provider_adapters.kit.outcomes import NeverSendable
from tests.world.banks.asaas import ACCOUNT, by_account, by_key
from tests.world.banks.harness import KEY, order
from tests.world.tables import cases

DAYS = (date(2026, 11, 1), date(2026, 11, 30))


def body(made: PayoutOrder) -> object:
    return json.loads(requests.create_transfer(ACCOUNT, made).body)


def test_the_key_of_the_account_is_in_its_header():
    request = requests.keyed(ACCOUNT, "get_balance", "/v3/finance/balance")

    assert request.headers == {"access_token": "$aact_hmlg_000Mzk-key-of-a-test"}
    assert request.path == "/v3/finance/balance"
    assert "aact" not in repr(request)


def test_an_account_without_a_key_makes_no_call():
    with pytest.raises(CredentialsRefused):
        requests.keyed(replace(ACCOUNT, secrets=None), "get_balance", "/v3/finance/balance")


def test_a_transfer_by_key_is_sent_as_pix_with_our_key():
    request = requests.create_transfer(ACCOUNT, order())

    assert (request.method, request.path) == ("POST", "/v3/transfers")
    assert request.body.startswith(b'{"value":10.50,')
    assert json.loads(request.body) == {
        "value": 10.5,
        "operationType": "PIX",
        "externalReference": KEY,
        "pixAddressKey": "maria@example.com",
        "pixAddressKeyType": "EMAIL",
    }


@cases(
    ("kind", "key", "word", "sent"),
    [
        (PixKeyType.CPF, "52998224725", "CPF", "52998224725"),
        (PixKeyType.CNPJ, "11222333000181", "CNPJ", "11222333000181"),
        (PixKeyType.PHONE, "+5547999999999", "PHONE", "47999999999"),
        (PixKeyType.EVP, "123e4567-e12b-12d1-a456-426655440000", "EVP", None),
    ],
)
def test_every_pix_key_type_has_its_word(kind: PixKeyType, key: str, word: str, sent: str | None):
    document = body(by_key(kind, key))

    assert isinstance(document, dict)
    assert (document["pixAddressKeyType"], document["pixAddressKey"]) == (word, sent or key)
    assert document["description"] == "aluguel"


@cases("key", ["+14155552671", "+5511", "+55119999999999"])
def test_a_foreign_phone_number_cannot_be_sent(key: str):
    with pytest.raises(NeverSendable):
        body(by_key(PixKeyType.PHONE, key))


@cases("bank_number", ["341", "60701190"])
@cases("account", ["123456-7", "1234567"])
def test_a_transfer_by_account_has_the_bank_code_and_a_separate_digit(
    bank_number: str, account: str
):
    document = body(by_account(bank_number=bank_number, account=account))

    assert isinstance(document, dict)
    assert document["bankAccount"] == {
        "bank": {"code": "341"},
        "ownerName": "Maria Silva",
        "cpfCnpj": "52998224725",
        "agency": "0001",
        "account": "123456",
        "accountDigit": "7",
        "bankAccountType": "CONTA_CORRENTE",
    }


@cases(
    ("changes", "failure"),
    [
        ({"bank_number": "999"}, FailureCode.ACCOUNT_INVALID),
        ({"bank_number": "00000001"}, FailureCode.ACCOUNT_INVALID),
        ({"account": "7"}, FailureCode.ACCOUNT_INVALID),
        ({"name": ""}, FailureCode.OTHER),
        ({"account_type": AccountType.SALARY}, FailureCode.OTHER),
        ({"account_type": AccountType.PAYMENT}, FailureCode.OTHER),
    ],
)
def test_an_unsupported_account_cannot_be_sent(changes: dict[str, object], failure: FailureCode):
    with pytest.raises(NeverSendable) as refused:
        body(by_account(**changes))

    assert refused.value.failure is failure


def test_days_and_pages_are_query_parameters():
    request = requests.movements(ACCOUNT, DAYS, 200, 500)
    paid = requests.pix_charges(ACCOUNT, DAYS, 0)

    assert request.path == (
        "/v3/financialTransactions?startDate=2026-11-01&finishDate=2026-11-30&order=desc"
        "&offset=200&limit=100"
    )
    assert "paymentDate%5Bge%5D=2026-11-01&paymentDate%5Ble%5D=2026-11-30" in paid.path


def test_a_reference_is_escaped_in_the_query():
    request = requests.charges(ACCOUNT, "get_charge", "a&limit=1/../é")

    assert request.path == (
        "/v3/payments?externalReference=a%26limit%3D1%2F..%2F%C3%A9&offset=0&limit=100"
    )


@cases("name", ["", "..", "."])
def test_an_id_unfit_for_a_path_is_refused(name: str):
    with pytest.raises(Refused):
        requests.keyed(ACCOUNT, "find_payout", "/v3/transfers/{id}", id=name)


def test_a_charge_is_ordered_in_reais_without_bank_notifications():
    charge = ChargeOrder(reference="r/1", type=ChargeType.DYNAMIC, key="k", value=Money(700))
    payer = Payer(name="Maria", tax_number="52998224725")

    made = requests.create_charge(ACCOUNT, charge, Money(700), "cus_1", date(2026, 11, 22))
    customer = requests.create_customer(ACCOUNT, payer)

    assert made.body == (
        b'{"customer":"cus_1","billingType":"PIX","value":7.00,"dueDate":"2026-11-22",'
        b'"externalReference":"r/1"}'
    )
    assert json.loads(customer.body)["notificationDisabled"] is True


@cases("email", ["", "ops@example.com"])
def test_callbacks_are_registered_for_every_event_that_is_read(email: str):
    order = CallbackOrder(url="https://gateway.example/callbacks/a/b", secret=b"s" * 40)

    document = json.loads(requests.register_webhook(ACCOUNT, order, email).body)

    assert (document["authToken"], document["url"]) == ("s" * 40, order.url)
    assert document["events"] == sorted(mapping.EVENTS)
    assert document.get("email", "") == email


@cases("secret", [b"\xff" * 15, b"short", b"", b"with space" * 4])
def test_a_token_unfit_for_the_bank_is_not_sent(secret: bytes):
    with pytest.raises(NeverSendable):
        requests.register_webhook(ACCOUNT, CallbackOrder(url="https://a", secret=secret), "")


def test_a_derived_secret_is_sent_in_hexadecimal():
    order = CallbackOrder(url="https://a", secret=b"\xff" * 32)

    assert json.loads(requests.register_webhook(ACCOUNT, order, "").body)["authToken"] == "ff" * 32
