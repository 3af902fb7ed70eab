"""What Efí says of payouts, and how orders are written for it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gateway.banks.port.payout_orders import AccountType, FailureCode, PayoutOrder
from gateway.banks.port.providers import Outcome, ProviderError, Settled, Unknown
from provider_adapters.apipix.efi import payouts
from provider_adapters.kit.answers import ProviderAnswer
from provider_adapters.kit.outcomes import Expected, NeverSendable
from tests.unit.provider_adapters.apipix.efi.payouts import AT_ITAU, KEY, order, said
from tests.world.tables import cases

E2E = "E09089356202011251226APIff82f2e5"


def ordered(**more: object) -> ProviderAnswer:
    """Efí's own example, under our key ("Envio e Pagamento Pix")."""
    document = {
        "idEnvio": KEY,
        "e2eId": E2E,
        "valor": "12.31",
        "horario": {"solicitacao": "2021-11-25T12:26:42.905Z"},
        "status": "EM_PROCESSAMENTO",
    }
    return said(201, {**document, **more})


def created(answer: ProviderAnswer) -> Outcome:
    return payouts.created(answer, payouts.expected(order()))


def test_a_payout_by_key_includes_the_recipient_s_tax_number():
    assert payouts.recipient(order()) == {"chave": "m@example.com", "cpf": "52998224725"}


def test_a_recipient_account_is_written_with_ispb_and_without_dashes():
    assert payouts.recipient(order(AT_ITAU)) == {
        "contaBanco": {
            "nome": "Maria",
            "cnpj": "11222333000181",
            "codigoBanco": "60701190",
            "agencia": "0001",
            "conta": "123456",
            "tipoConta": "svgs",
        }
    }


@cases(
    "wrong",
    [
        {"bank_number": "999"},
        {"bank_number": "99999999"},
        {"account_type": AccountType.SALARY},
        {"branch": "12345"},
        {"account": "conta"},
        {"name": ""},
        {"name": "M" * 200},
    ],
)
def test_an_invalid_recipient_account_is_not_sent(wrong: dict[str, object]):
    with pytest.raises(NeverSendable) as refused:
        payouts.recipient(order(replace(AT_ITAU, **wrong)))  # type: ignore[arg-type]

    assert refused.value.failure is FailureCode.ACCOUNT_INVALID


@cases(
    ("status", "document"),
    [
        (401, {}),
        (403, {}),
        (404, {}),
        (429, {}),
        (500, {"nome": "erro_aplicacao"}),
        (422, {"nome": "valor_invalido"}),
        (400, {"nome": "saldo_insuficiente"}),
        (400, {"nome": "conta_chave_sem_webhook"}),
    ],
)
def test_an_unlisted_answer_is_never_definite(status: int, document: object):
    with pytest.raises(ProviderError):
        created(said(status, document))


def shown(status: str, against: PayoutOrder | None = None, **more: object) -> Outcome:
    """Efí's own example of a payout to an account, under our key."""
    document = {
        "endToEndId": E2E,
        "idEnvio": KEY,
        "valor": "12.31",
        "chave": "19974764017",
        "status": status,
        "horario": {"solicitacao": "2022-10-26T17:21:19.000Z", "liquidacao": None},
        "favorecido": {"contaBanco": {"nome": "M", "agencia": "1", "conta": "123456"}},
        **more,
    }
    wanted = Expected(KEY) if against is None else payouts.expected(against)
    return payouts.found(said(200, document), wanted)


def test_a_payout_to_an_account_is_compared_with_the_fields_efi_shows():
    same = shown("REALIZADO", order(AT_ITAU))
    other = shown("REALIZADO", order(replace(AT_ITAU, account="99999-9")))
    nowhere = shown("REALIZADO", order(AT_ITAU), favorecido=None)

    assert isinstance(same, Settled)
    assert isinstance(other, Unknown)
    assert isinstance(nowhere, Unknown)
