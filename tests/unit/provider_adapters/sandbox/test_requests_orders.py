"""Orders in the bank's words."""

from __future__ import annotations

import json
from dataclasses import replace

from gateway.banks.client.messages import Kind
from gateway.banks.port.payout_orders import AccountType, BankDestination, PayoutMethod
from gateway.banks.port.pix_keys import PixKeyType
from provider_adapters.sandbox import requests
from tests.unit.offering import E2E_ID
from tests.unit.provider_adapters.sandbox.requests_orders import refund
from tests.world.banks.harness import ACCOUNT, KEY, order
from tests.world.tables import cases

WHERE = "/v1/contas/cc_1"


def test_a_refund_order_is_a_payout_request_with_our_key():
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


def test_a_payout_order_is_a_payout_request_with_our_key():
    request = requests.create_payout(ACCOUNT, order())

    assert request.headers["Idempotency-Key"] == KEY
    assert request.path == f"{WHERE}/transferencias"
    assert (request.method, request.kind) == ("POST", Kind.PAYOUT)


@cases(
    ("kind", "word"),
    [
        (PixKeyType.CPF, "cpf"),
        (PixKeyType.CNPJ, "cnpj"),
        (PixKeyType.EMAIL, "email"),
        (PixKeyType.PHONE, "telefone"),
        (PixKeyType.EVP, "aleatoria"),
    ],
)
def test_a_payout_by_key_has_the_documented_body(kind: PixKeyType, word: str):
    wanted = order()
    wanted = replace(wanted, destination=replace(wanted.destination, key_type=kind, name=""))

    assert json.loads(requests.create_payout(ACCOUNT, wanted).body) == {
        "valor_centavos": 1050,
        "descricao": "",
        "destino": {
            "forma": "chave", "tipo_chave": word, "chave": "maria@example.com",
            "documento": "52998224725",
        },
    }  # fmt: skip


@cases(
    ("kind", "word"),
    [
        (AccountType.CHECKING, "corrente"),
        (AccountType.SAVINGS, "poupanca"),
        (AccountType.SALARY, "salario"),
        (AccountType.PAYMENT, "pagamento"),
    ],
)
def test_a_payout_by_account_has_the_documented_body(kind: AccountType, word: str):
    to = BankDestination(
        name="Maria", tax_number="1", bank_number="341", branch="1", account="2", account_type=kind
    )
    wanted = replace(
        order(), method=PayoutMethod.BANK_ACCOUNT, destination=to, description="aluguel"
    )

    assert json.loads(requests.create_payout(ACCOUNT, wanted).body) == {
        "valor_centavos": 1050,
        "descricao": "aluguel",
        "destino": {
            "forma": "conta", "banco": "341", "agencia": "1", "conta": "2", "tipo_conta": word,
            "nome": "Maria", "documento": "1",
        },
    }  # fmt: skip
