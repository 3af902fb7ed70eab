"""Orders in the bank's words."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from gateway.banks.client.messages import Kind
from gateway.banks.port.charges import ChargeOrder, ChargeType, Payer
from gateway.banks.port.payout_orders import AccountType, BankDestination, PayoutMethod
from gateway.banks.port.pix_keys import KeyOrder, PixKeyType
from gateway.banks.port.providers import Refused
from gateway.core.money import Money
from provider_adapters.sandbox import requests
from tests.unit.offering import E2E_ID
from tests.unit.provider_adapters.sandbox.requests_orders import refund
from tests.world.banks.harness import ACCOUNT, KEY, order
from tests.world.tables import cases

WHERE = "/v1/contas/cc_1"


@cases(
    ("wanted", "document"),
    [
        (KeyOrder(PixKeyType.CPF, "52998224725"), {"tipo": "cpf", "chave": "52998224725"}),
        (KeyOrder(PixKeyType.CNPJ, "1"), {"tipo": "cnpj", "chave": "1"}),
        (KeyOrder(PixKeyType.EMAIL, "a@b.c"), {"tipo": "email", "chave": "a@b.c"}),
        (KeyOrder(PixKeyType.PHONE, "+55"), {"tipo": "telefone", "chave": "+55"}),
        (KeyOrder(PixKeyType.EVP, ""), {"tipo": "aleatoria"}),
    ],
)
def test_a_key(wanted: KeyOrder, document: dict[str, str]):
    request = requests.create_key(ACCOUNT, wanted)

    assert (request.method, request.path, request.kind) == ("POST", f"{WHERE}/chaves", Kind.READ)
    assert json.loads(request.body) == document


def test_a_charge_with_everything():
    wanted = ChargeOrder(
        reference="order/1",
        type=ChargeType.DYNAMIC,
        key="a@b.c",
        value=Money(1050),
        expires_in=60,
        payer=Payer(name="Maria", tax_number="52998224725", message="oi"),
        description="d",
        reusable=True,
    )

    request = requests.create_charge(ACCOUNT, wanted)

    assert (request.method, request.path) == ("POST", f"{WHERE}/cobrancas")
    assert json.loads(request.body) == {
        "referencia": "order/1", "tipo": "DINAMICA", "chave": "a@b.c", "valor_centavos": 1050,
        "expira_em_s": 60, "reutilizavel": True, "descricao": "d",
        "pagador": {"nome": "Maria", "documento": "52998224725", "mensagem": "oi"},
    }  # fmt: skip


def test_a_charge_with_nothing_more_than_it_needs():
    wanted = ChargeOrder(reference="r", type=ChargeType.STATIC, key="a@b.c")

    assert json.loads(requests.create_charge(ACCOUNT, wanted).body) == {
        "referencia": "r", "tipo": "ESTATICA", "chave": "a@b.c", "reutilizavel": False,
        "descricao": "",
    }  # fmt: skip


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


@cases("wrong", [{"description": "\ud800"}, {"payment_e2e_id": ".."}])
def test_what_cannot_be_written_is_refused(wrong: dict[str, object]):
    with pytest.raises(Refused):
        requests.create_refund(ACCOUNT, refund(**wrong))


def test_a_payout_is_money_and_travels_with_our_key():
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
def test_an_order_by_key(kind: PixKeyType, word: str):
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
def test_an_order_by_account(kind: AccountType, word: str):
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
