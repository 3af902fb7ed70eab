"""The bank's words about keys, charges and what came in, into ours."""

from __future__ import annotations

import pytest

from gateway.domain.bank.charges import ChargeStatus, Payer
from gateway.domain.bank.incoming import IncomingPayment
from gateway.domain.bank.pix_keys import KeyOwner, PixKeyStatus, PixKeyType
from gateway.domain.bank.provider_options import CHARGE_PAID, IN_USE, NOT_ALLOWED
from gateway.domain.bank.providers import BadReply, NotFound, ProviderError, Refused, Unavailable
from gateway.domain.kernel.money import Money
from provider_adapters.sandbox import option_words
from tests.unit.offering import E2E_ID
from tests.unit.provider_adapters.sandbox.test_translate import (
    AT,
    CHARGE,
    KEY,
    Drift,
    refusing,
    saying,
)
from tests.unit.provider_adapters.witness import NOON

OWNER = {
    "chave": "a@b.c", "tipo": "email", "titular": {"nome": "Maria", "documento": "52998224725"},
    "banco": "888", "nome_banco": "Outro", "ispb": "88888888", "agencia": "0001", "conta": "1-2",
}  # fmt: skip
RECEIVED = {
    "id": "1000000012", "referencia": "order-1", "e2e": E2E_ID, "valor_centavos": 1050,
    "devolvido_centavos": 50, "pago_em": AT,
    "pagador": {"nome": "Maria", "documento": "1", "mensagem": "oi"},
}  # fmt: skip


@pytest.mark.parametrize("status", [200, 201])
def test_a_key_that_was_made_or_given_up(status: int):
    key = option_words.key(saying(KEY, status), Drift())

    assert (key.provider_id, key.key, key.type, key.status, key.created_at) == (
        "CH1",
        "a@b.c",
        PixKeyType.EMAIL,
        PixKeyStatus.ACTIVE,
        NOON,
    )


def test_a_key_of_an_unknown_status_may_not_be_paid_to_yet():
    drift = Drift()

    key = option_words.key(saying({**KEY, "situacao": "EM_PORTABILIDADE"}), drift)

    assert (key.status, drift.heard) == (PixKeyStatus.PENDING, 1)


@pytest.mark.parametrize("wrong", [{"tipo": "iban"}, {"id": "x" * 129}, {"id": "a\nb"}])
def test_a_key_that_cannot_be_understood_is_a_bad_reply(wrong: dict[str, object]):
    with pytest.raises(BadReply):
        option_words.key(saying({**KEY, **wrong}), Drift())


def test_an_owner_s_tax_number_is_hidden_though_the_bank_told_it():
    assert option_words.owner(saying(OWNER)) == KeyOwner(
        key="a@b.c", type=PixKeyType.EMAIL, name="Maria", tax_number="***.982.247-**",
        ispb="88888888", bank_number="888", bank_name="Outro", branch="0001", account="1-2",
    )  # fmt: skip


def test_what_a_bank_does_not_tell_of_an_owner_is_empty():
    bare = {**OWNER, "banco": None, "nome_banco": None, "agencia": None, "conta": None}

    owner = option_words.owner(saying({**bare, "titular": {"nome": None}}))

    assert (owner.name, owner.tax_number, owner.bank_name, owner.branch) == ("", "", "", "")


@pytest.mark.parametrize("status", [200, 201])
def test_a_charge_that_was_made_or_cancelled(status: int):
    charge = option_words.charge(saying({**CHARGE, "situacao": "CANCELADA"}, status), NOON, Drift())

    assert (charge.reference, charge.status) == ("r", ChargeStatus.CANCELED)


def test_a_payment():
    assert option_words.received(saying(RECEIVED)) == IncomingPayment(
        reference="order-1",
        e2e_id=E2E_ID,
        provider_id="1000000012",
        value=Money(1050),
        refunded=Money(50),
        paid_at=NOON,
        payer=Payer(name="Maria", tax_number="1", message="oi"),
    )


def test_a_page_of_payments():
    bare = {**RECEIVED, "referencia": None, "pagador": None}

    page = option_words.received_page(saying({"recebimentos": [bare], "proximo_cursor": "n"}))

    assert (page.items[0].reference, page.items[0].payer, page.next_cursor) == ("", None, "n")


@pytest.mark.parametrize(
    "wrong",
    [
        {"e2e": "E1"},
        {"valor_centavos": 0},
        {"valor_centavos": -1, "devolvido_centavos": 0},
        {"devolvido_centavos": -1},
        {"devolvido_centavos": 1051},
    ],
    ids=str,
)
def test_a_payment_that_cannot_be_is_a_bad_reply(wrong: dict[str, object]):
    with pytest.raises(BadReply):
        option_words.received(saying({**RECEIVED, **wrong}))


@pytest.mark.parametrize(
    ("status", "code", "kind", "reason"),
    [
        (404, "KEY_NOT_FOUND", NotFound, "not_found"),
        (404, "NOT_FOUND", NotFound, "not_found"),
        (404, "", BadReply, "unexpected_status"),
        (403, "NOT_ALLOWED", Refused, NOT_ALLOWED),
        (409, "CHARGE_PAID", Refused, CHARGE_PAID),
        (409, "KEY_IN_USE", Refused, IN_USE),
        (409, "REFERENCE_IN_USE", Refused, IN_USE),
        (409, "", Refused, "refused"),
        (400, "KEY_IN_USE", Refused, "refused"),
        (500, "KEY_IN_USE", Unavailable, "server_error"),
    ],
)
def test_an_error_is_known_by_status_and_code(
    status: int, code: str, kind: type[ProviderError], reason: str
):
    with pytest.raises(kind) as failed:
        option_words.good(refusing(status, code))

    assert failed.value.reason == reason
