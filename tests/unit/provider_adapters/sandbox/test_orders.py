"""What is ordered beyond payouts, in the bank's words."""

from __future__ import annotations

import json

import pytest

from gateway.domain.bank.charges import ChargeOrder, ChargeType, Payer
from gateway.domain.bank.pix_keys import KeyOrder, PixKeyType
from gateway.domain.bank.providers import Refused
from gateway.domain.bank.refunds import RefundOrder
from gateway.domain.kernel.money import Money
from gateway.net.client.messages import Kind
from provider_adapters.sandbox import orders
from tests.contract.adapters.harness import ACCOUNT, KEY
from tests.unit.offering import E2E_ID

WHERE = "/v1/contas/cc_1"


@pytest.mark.parametrize(
    ("order", "document"),
    [
        (KeyOrder(PixKeyType.CPF, "52998224725"), {"tipo": "cpf", "chave": "52998224725"}),
        (KeyOrder(PixKeyType.CNPJ, "1"), {"tipo": "cnpj", "chave": "1"}),
        (KeyOrder(PixKeyType.EMAIL, "a@b.c"), {"tipo": "email", "chave": "a@b.c"}),
        (KeyOrder(PixKeyType.PHONE, "+55"), {"tipo": "telefone", "chave": "+55"}),
        (KeyOrder(PixKeyType.EVP, ""), {"tipo": "aleatoria"}),
    ],
)
def test_a_key(order: KeyOrder, document: dict[str, str]):
    request = orders.key(ACCOUNT, order)

    assert (request.method, request.path, request.kind) == ("POST", f"{WHERE}/chaves", Kind.READ)
    assert json.loads(request.body) == document


def test_a_key_is_given_up_by_the_bank_s_id():
    request = orders.key_cancelling(ACCOUNT, "CH/1")

    assert (request.method, request.path, request.body) == ("DELETE", f"{WHERE}/chaves/CH%2F1", b"")


def test_a_key_that_is_looked_up_is_in_no_address():
    """Addresses are logged."""
    request = orders.key_lookup(ACCOUNT, "52998224725")

    assert (request.method, request.path) == ("POST", f"{WHERE}/consultas-chave")
    assert json.loads(request.body) == {"chave": "52998224725"}


def test_a_charge_with_everything():
    order = ChargeOrder(
        reference="order/1",
        type=ChargeType.DYNAMIC,
        key="a@b.c",
        value=Money(1050),
        expires_in=60,
        payer=Payer(name="Maria", tax_number="52998224725", message="oi"),
        description="d",
        reusable=True,
    )

    request = orders.charge(ACCOUNT, order)

    assert (request.method, request.path) == ("POST", f"{WHERE}/cobrancas")
    assert json.loads(request.body) == {
        "referencia": "order/1", "tipo": "DINAMICA", "chave": "a@b.c", "valor_centavos": 1050,
        "expira_em_s": 60, "reutilizavel": True, "descricao": "d",
        "pagador": {"nome": "Maria", "documento": "52998224725", "mensagem": "oi"},
    }  # fmt: skip


def test_a_charge_with_nothing_more_than_it_needs():
    order = ChargeOrder(reference="r", type=ChargeType.STATIC, key="a@b.c")

    assert json.loads(orders.charge(ACCOUNT, order).body) == {
        "referencia": "r", "tipo": "ESTATICA", "chave": "a@b.c", "reutilizavel": False,
        "descricao": "",
    }  # fmt: skip


def test_a_charge_is_cancelled_by_its_reference():
    request = orders.charge_cancelling(ACCOUNT, "order/1")

    assert (request.method, request.path) == ("DELETE", f"{WHERE}/cobrancas/order%2F1")


def refund(**fields: object) -> RefundOrder:
    plain = {
        "provider_key": KEY,
        "reference": "r-1",
        "payment_e2e_id": E2E_ID,
        "value": Money(1050),
        "description": "oops",
    }
    return RefundOrder(**{**plain, **fields})  # type: ignore[arg-type]


def test_a_refund_is_money_and_travels_with_our_key():
    request = orders.refund(ACCOUNT, refund())

    assert request.kind is Kind.PAYOUT
    assert request.headers == {
        "Authorization": "Bearer token-of-the-bank",
        "Idempotency-Key": KEY,
    }
    assert request.path == f"{WHERE}/recebimentos/{E2E_ID}/devolucoes"
    assert json.loads(request.body) == {
        "valor_centavos": 1050, "referencia": "r-1", "descricao": "oops",
    }  # fmt: skip


@pytest.mark.parametrize("wrong", [{"description": "\ud800"}, {"payment_e2e_id": ".."}])
def test_what_cannot_be_written_is_refused(wrong: dict[str, object]):
    with pytest.raises(Refused):
        orders.refund(ACCOUNT, refund(**wrong))
