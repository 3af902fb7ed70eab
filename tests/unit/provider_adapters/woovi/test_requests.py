"""The bank's paths and bodies; the official document judges them in the contract tests."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date

import pytest

from gateway.banks.port.charges import ChargeOrder, ChargeType, Payer
from gateway.banks.port.pix_keys import KeyOrder, PixKeyType
from gateway.banks.port.providers import Refused
from gateway.core.money import Money
from gateway.core.windows import Window
from provider_adapters.kit.outcomes import NeverSendable
from provider_adapters.woovi import requests
from tests.world.banks.harness import KEY, order
from tests.world.banks.woovi import ACCOUNT, PAID_IN, by_account, refund
from tests.world.tables import cases

WINDOW = Window(date(2026, 11, 1), date(2026, 11, 2))
CHARGE = ChargeOrder(
    reference="pedido/1", type=ChargeType.DYNAMIC, key="loja@example.com", value=Money(1050)
)


def test_the_credential_is_the_bare_app_id():
    assert requests.balance(ACCOUNT).headers == {"Authorization": "Q2xpZW50X0lkXzE="}


def test_a_window_excludes_its_end_and_a_page_is_capped():
    request = requests.statement(ACCOUNT, WINDOW, 40, 500)

    assert request.path == (
        "/api/v1/statement?start=2026-11-01T00%3A00%3A00.000Z&end=2026-11-03T00%3A00%3A00.000Z"
        "&skip=40&limit=100"
    )


def test_a_partner_s_reference_is_escaped_in_the_path():
    assert requests.charge(ACCOUNT, "a/../b?c", "get_charge").path.endswith(
        "/charge/a%2F..%2Fb%3Fc"
    )
    with pytest.raises(Refused):
        requests.charge(ACCOUNT, "..", "get_charge")


def test_a_payout_by_key_is_auto_approved_from_its_account():
    request = requests.create_payout(ACCOUNT, order())

    assert json.loads(request.body) == {
        "type": "PIX_KEY",
        "correlationID": KEY,
        "value": 1050,
        "autoApprove": True,
        "sourceAccountId": "6290ccfd42831958a405debc",
        "destinationAlias": "maria@example.com",
        "destinationAliasType": "EMAIL",
    }


@cases("number", ["341", "60701190"])
def test_a_bank_is_identified_by_its_ispb(number):
    written = json.loads(requests.create_payout(ACCOUNT, by_account(number)).body)

    assert (written["type"], written["psp"]) == ("MANUAL", "60701190")
    assert written["account"] == {"branch": "0001", "account": "123456", "accountType": "CACC"}
    assert written["comment"] == "aluguel"


@cases(("tax_number", "kind"), [("52998224725", "BR:CPF"), ("11222333000181", "BR:CNPJ")])
def test_a_holder_has_the_type_of_its_tax_number(tax_number, kind):
    written = json.loads(requests.create_payout(ACCOUNT, by_account("1", tax_number)).body)

    assert written["holder"]["taxID"] == {"type": kind, "taxID": tax_number}


def test_a_charge_request_has_only_the_ordered_fields():
    payer = Payer(name="Ana", tax_number="52998224725")
    bare = json.loads(requests.create_charge(ACCOUNT, CHARGE).body)
    full = replace(CHARGE, payer=payer, expires_in=300, description="pedido 1")

    assert bare == {"correlationID": "pedido/1", "value": 1050, "type": "DYNAMIC"}
    assert json.loads(requests.create_charge(ACCOUNT, full).body) == {
        **bare,
        "expiresIn": 300,
        "comment": "pedido 1",
        "customer": {"name": "Ana", "taxID": "52998224725"},
    }


@cases(
    "other", [{"type": ChargeType.STATIC}, {"value": None}, {"reusable": True}, {"expires_in": 299}]
)
def test_an_unsupported_charge_is_not_sent(other):
    with pytest.raises(NeverSendable):
        requests.create_charge(ACCOUNT, replace(CHARGE, **other))


@cases("kind", [PixKeyType.CPF, PixKeyType.EMAIL, PixKeyType.PHONE])
def test_a_key_of_another_type_is_not_registered(kind):
    with pytest.raises(NeverSendable):
        requests.create_key(ACCOUNT, KeyOrder(kind, "x"))


def test_a_looked_up_key_is_not_in_the_path():
    request = requests.look_up_key(ACCOUNT, "maria@example.com")

    assert request.path == "/api/v1/pix-keys/check"
    assert json.loads(request.body) == {"pixKey": "maria@example.com"}


def test_a_refund_names_its_payment_in_a_field_and_in_the_comment():
    """Once for the bank, once for us: read back, it is shown in the comment alone."""
    assert json.loads(requests.create_refund(ACCOUNT, refund()).body) == {
        "transactionEndToEndId": PAID_IN,
        "correlationID": KEY,
        "value": 400,
        "comment": f"troca {PAID_IN}",
    }
    assert requests.comment_of(refund("")) == PAID_IN


def test_an_overlong_refund_comment_is_not_sent():
    assert len(requests.comment_of(refund("x" * 107))) == 140
    with pytest.raises(NeverSendable):
        requests.create_refund(ACCOUNT, refund("x" * 108))
