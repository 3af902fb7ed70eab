"""Orders in the bank's words."""

from __future__ import annotations

import json

from gateway.banks.client.messages import Kind
from provider_adapters.sandbox import requests
from tests.unit.offering import E2E_ID
from tests.unit.provider_adapters.sandbox.requests_orders import refund
from tests.world.banks.harness import ACCOUNT, KEY, order

WHERE = "/v1/contas/cc_1"


def test_a_refund_is_money_and_travels_with_our_key():
    request = requests.create_refund(ACCOUNT, refund())

    assert request.kind is Kind.PAYOUT
    assert request.headers == {
        "Authorization": "Bearer token-of-the-bank",
        "Idempotency-Key": KEY,
    }
    assert request.path == f"{WHERE}/recebimentos/{E2E_ID}/devolucoes"
    assert json.loads(request.body) == {
        "valor_centavos": 1050, "referencia": "r-1", "descricao": "oops",
    }  # fmt: skip


def test_a_payout_is_money_and_travels_with_our_key():
    request = requests.create_payout(ACCOUNT, order())

    assert request.headers["Idempotency-Key"] == KEY
    assert request.path == f"{WHERE}/transferencias"
    assert (request.method, request.kind) == ("POST", Kind.PAYOUT)
