"""Requests to the bank: signed, in its words, and never a TED."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest
from ellipticcurve import Ecdsa, PrivateKey, Signature

from gateway.banks.port.charges import ChargeOrder, ChargeType, Payer
from gateway.banks.port.payout_orders import FailureCode
from gateway.banks.port.providers import CredentialsRefused, ProviderAccount
from gateway.core.money import Money
from gateway.core.windows import Window
from provider_adapters.kit.outcomes import NeverSendable
from provider_adapters.starkbank import documents, requests
from provider_adapters.starkbank.requests import Secrets
from tests.unit.provider_adapters.starkbank.making import (
    ACCOUNT,
    ENTRY,
    KEY,
    PEM,
    TO_ACCOUNT,
    TO_KEY,
    order,
)
from tests.world.banks.witness import NOON
from tests.world.tables import cases

BALANCE = requests.unsigned("get_balance", "/v2/balance")
DIRECTORY = documents.FOUND.decode(json.dumps({"key": ENTRY})).inside
AT = datetime(2026, 11, 20, 12, tzinfo=UTC)


def test_the_bank_s_own_library_verifies_our_signature():
    """Over access id, time and body; fifty of them, some with a high S."""
    public = PrivateKey.fromPem(PEM).publicKey()
    for seconds in range(50):
        request = requests.signed(
            requests.create_payout(order(), requests.place_of_account(TO_ACCOUNT)),
            ACCOUNT,
            AT + timedelta(seconds=seconds, microseconds=7),
        )
        said = request.headers
        message = f"{said['Access-Id']}:{said['Access-Time']}:{request.body.decode()}"

        assert Ecdsa.verify(message, Signature.fromBase64(said["Access-Signature"]), public)
        assert said["Access-Time"] == str(int(NOON.timestamp()) + seconds)
        assert request.account == ACCOUNT.account_id


def test_a_read_is_signed_with_an_empty_body():
    said = requests.signed(BALANCE, ACCOUNT, AT).headers
    message = f"{said['Access-Id']}:{said['Access-Time']}:"
    signature = Signature.fromBase64(said["Access-Signature"])

    assert Ecdsa.verify(message, signature, PrivateKey.fromPem(PEM).publicKey())
    assert base64.b64decode(said["Access-Signature"], validate=True)


@cases(
    ("access_id", "said"),
    [
        ("project/1", "project/1"),
        ("organization/2", "organization/2/workspace/4848484848484848"),
    ],
)
def test_the_access_id_of_an_organization_includes_its_workspace(access_id: str, said: str):
    secrets = Secrets(access_id=access_id, private_key=PEM)
    account = replace(ACCOUNT, secrets=secrets)

    assert requests.signed(BALANCE, account, AT).headers["Access-Id"] == said


@cases("secrets", [None, Secrets(access_id="project/1", private_key="no key")])
def test_without_a_private_key_no_request_is_signed(secrets: Secrets | None):
    account = ProviderAccount(account_id="a", provider_account="1", secrets=secrets)

    with pytest.raises(CredentialsRefused):
        requests.signed(BALANCE, account, AT)


def test_a_window_is_requested_with_an_extra_day_at_both_ends():
    query = requests.page(Window(date(2026, 11, 20), date(2026, 11, 20)), "c/1", 500)

    assert query == {
        "after": "2026-11-18", "before": "2026-11-21", "limit": "100", "cursor": "c/1",
    }  # fmt: skip


def test_a_payout_has_our_key_as_external_id_and_tag():
    request = requests.create_payout(
        replace(order(), description="Nota 1"), requests.place_of_account(TO_ACCOUNT)
    )

    assert json.loads(request.body) == {
        "transfers": [
            {
                "amount": 1050,
                "name": "Maria Silva",
                "taxId": "52998224725",
                "bankCode": "60701190",
                "branchCode": "0001",
                "accountNumber": "123456-7",
                "accountType": "checking",
                "externalId": KEY,
                "tags": [f"ref:{KEY}"],
                "description": "Nota 1",
            }
        ]
    }


@cases(("number", "ispb"), [("001", "00000000"), ("341", "60701190"), ("60701190", "60701190")])
def test_a_bank_is_identified_by_its_ispb(number: str, ispb: str):
    """A three-digit number would make it a TED."""
    assert requests.place_of_account(replace(TO_ACCOUNT, bank_number=number))["bankCode"] == ispb


@cases(("account", "sent"), [("1234567", "123456-7"), ("123456-7", "123456-7"), ("1", "1")])
def test_a_check_digit_is_separated_by_a_hyphen(account: str, sent: str):
    assert requests.place_of_account(replace(TO_ACCOUNT, account=account))["accountNumber"] == sent


def test_a_payout_by_key_uses_the_account_in_the_directory():
    assert requests.place_of_key(TO_KEY, DIRECTORY) == {
        "name": "Maria da Silva",
        "taxId": "52998224725",
        "bankCode": "88888888",
        "branchCode": "ZW5j",
        "accountNumber": "cnlwdGVk",
        "accountType": "savings",
    }


@cases(
    ("shown", "fits"),
    [
        ("***.982.247-**", True),
        ("529.982.247-25", True),
        ("52998224725", True),
        ("", True),
        ("***", True),
        ("***.000.001-**", False),
        ("529.982.247-26", False),
        ("11.222.333/0001-81", False),
    ],
)
def test_a_masked_tax_number_may_only_contradict_the_recipient(shown: str, *, fits: bool):
    assert requests.may_be("52998224725", shown) is fits
    if not fits:
        entry = documents.FOUND.decode(json.dumps({"key": {**ENTRY, "taxId": shown}})).inside
        with pytest.raises(NeverSendable) as refused:
            requests.place_of_key(TO_KEY, entry)
        assert refused.value.failure is FailureCode.OWNER_MISMATCH


@cases(
    ("key", "path"),
    [
        ("52998224725", "/v2/dict-key/529.982.247-25"),
        ("11222333000181", "/v2/dict-key/11.222.333%2F0001-81"),
        ("maria@example.com", "/v2/dict-key/maria%40example.com"),
        ("+5511988887777", "/v2/dict-key/%2B5511988887777"),
    ],
)
def test_a_key_is_looked_up_in_the_bank_s_format(key: str, path: str):
    assert requests.look_up_key(key).path == path


def test_an_invoice_charges_no_fine_or_interest():
    payer = Payer(name="Maria", tax_number="52998224725")
    asked = ChargeOrder(
        reference="A/1", type=ChargeType.DYNAMIC, key="k", value=Money(1050), expires_in=3600,
        payer=payer, description="Nota",
    )  # fmt: skip

    document = json.loads(requests.create_invoice(asked, payer, KEY, AT).body)

    assert document == {
        "invoices": [
            {
                "amount": 1050,
                "name": "Maria",
                "taxId": "52998224725",
                "fine": 0,
                "interest": 0,
                "due": "2026-11-20T12:59:59.000000+00:00",
                "expiration": 1,
                "tags": [f"ref:{KEY}", "reference:412f31"],
                "descriptions": [{"key": "description", "value": "Nota"}],
            }
        ]
    }


def test_an_open_amount_is_zero_and_a_long_reference_is_no_tag():
    asked = ChargeOrder(reference="x" * 65, type=ChargeType.DYNAMIC, key="k")

    document = json.loads(requests.create_brcode(asked, KEY).body)

    assert document == {"brcodes": [{"amount": 0, "tags": [f"ref:{KEY}"]}]}
