"""What Inter says of payouts, and how orders are written for it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import msgspec
import pytest

from gateway.banks.port.payout_orders import AccountType, FailureCode, PayoutOrder
from gateway.banks.port.providers import Outcome, ProviderError, Settled, Unknown
from gateway.core.money import Money
from provider_adapters.apipix.inter import payouts, words
from provider_adapters.kit.answers import ProviderAnswer
from provider_adapters.kit.outcomes import NeverSendable
from tests.unit.provider_adapters.apipix.efi.payouts import AT_ITAU, order, said
from tests.world.tables import cases

CODE = "c42f0787-02cb-4b31-827e-459ec9d7ece1"
E2E = "E00416968202211220000abcdefghijk"


def written(asked: PayoutOrder) -> dict[str, object]:
    document: dict[str, object] = msgspec.json.decode(
        msgspec.json.encode(payouts.document_of(asked))
    )
    return document


def ordered(**more: object) -> ProviderAnswer:
    return said(200, {"tipoRetorno": "PROCESSADO", "codigoSolicitacao": CODE, **more})


def created(**more: object) -> Outcome:
    return payouts.created(ordered(**more))


def seen(**more: object) -> ProviderAnswer:
    shown = {"codigoSolicitacao": CODE, "valor": 12.31, "status": "PAGO", "endToEnd": E2E, **more}
    return said(200, {"transacaoPix": shown})


def looked_up(**more: object) -> Outcome:
    return payouts.found(seen(**more), CODE)


def test_a_payout_by_key_is_written_without_a_date():
    assert written(order()) == {
        "valor": 12.31,
        "destinatario": {"tipo": "CHAVE", "chave": "m@example.com"},
    }


def test_an_amount_is_a_number_with_two_decimals():
    asked = replace(order(), value=Money(10_50), description="nota 1")

    document = msgspec.json.encode(payouts.document_of(asked))

    assert document.startswith(b'{"valor":10.50,"descricao":"nota 1"')


def test_an_account_is_written_by_ispb_without_dashes():
    assert written(order(AT_ITAU))["destinatario"] == {
        "tipo": "DADOS_BANCARIOS",
        "nome": "Maria",
        "cpfCnpj": "11222333000181",
        "instituicaoFinanceira": {"ispb": "60701190"},
        "agencia": "0001",
        "contaCorrente": "123456",
        "tipoConta": "CONTA_POUPANCA",
    }


@cases("kind", list(AccountType))
def test_every_account_type_can_be_paid(kind: AccountType):
    assert written(order(replace(AT_ITAU, account_type=kind)))


@cases(
    "wrong",
    [
        {"bank_number": "999"},
        {"bank_number": "99999999"},
        {"branch": "agencia"},
        {"account": "conta"},
        {"name": ""},
    ],
)
def test_an_invalid_recipient_account_is_not_sent(wrong: dict[str, str]):
    with pytest.raises(NeverSendable) as refused:
        written(order(replace(AT_ITAU, **wrong)))

    assert refused.value.failure is FailureCode.ACCOUNT_INVALID


def test_an_overlong_description_is_not_sent():
    assert written(replace(order(), description="x" * 140))
    with pytest.raises(NeverSendable):
        written(replace(order(), description="x" * 141))


@cases("more", [{}, {"codigoSolicitacao": ""}])
def test_an_order_answer_without_the_bank_s_id_is_not_accepted(more: dict[str, str]):
    """The error becomes Unknown."""
    with pytest.raises(ProviderError):
        payouts.created(said(200, {"tipoRetorno": "PROCESSADO", **more}))


def test_a_malformed_end_to_end_id_is_not_accepted():
    assert isinstance(created(endToEndId="E1"), Unknown)
    assert isinstance(looked_up(endToEnd="E1"), Unknown)


@cases("word", [word for word, state in words.STATES.items() if state is Settled])
def test_a_paid_payout_is_settled_at_the_bank_s_time(word: str):
    outcome = looked_up(status=word, dataHoraMovimento="2026-11-22T21:30:00")

    assert isinstance(outcome, Settled)
    assert (outcome.value, outcome.e2e_id, outcome.provider_id) == (Money(1231), E2E, CODE)
    assert outcome.settled_at == datetime(2026, 11, 23, 0, 30, tzinfo=UTC)


@cases("word", ["NAO_DEBITADO", "PARCIALMENTE_PAGO", "TALVEZ", ""])
def test_an_ambiguous_state_is_unknown_and_counted(word: str):
    answer = seen(status=word)

    assert isinstance(payouts.found(answer, CODE), Unknown)
    assert answer.unknown_words == 1


@cases("value", ["12.31", 12.315, -12.31, 0, None])
def test_an_invalid_amount_is_not_accepted(value: object):
    with pytest.raises(ProviderError):
        looked_up(valor=value)


def test_an_invalid_time_is_not_accepted():
    with pytest.raises(ProviderError):
        looked_up(dataHoraMovimento="ontem")
