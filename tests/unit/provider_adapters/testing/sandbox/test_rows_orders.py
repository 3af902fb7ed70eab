"""Orders are read strictly: a body not read_document moves nothing."""

from __future__ import annotations

import json

import pytest

from provider_adapters.testing.bank import messages
from provider_adapters.testing.bank.kernel.refusals import Refusal
from provider_adapters.testing.sandbox import rows
from tests.world.tables import cases

TO_KEY = {"forma": "chave", "tipo_chave": "email", "chave": "a@b.c", "documento": "5"}
TO_ACCOUNT = {"forma": "conta", "banco": "341", "agencia": "1", "conta": "2-3", "documento": "5"}
CHARGE = {"referencia": "r", "tipo": "DINAMICA", "chave": "a@b.c"}


def body(document):
    return messages.read(json.dumps(document).encode())


def payout(to, key="pk", **more):
    return rows.read_payout(body({"valor_centavos": 5, "destino": to, **more}), key)


def test_a_payout_to_a_key():
    read = payout(TO_KEY, descricao="oi")

    assert (read.centavos, read.to.key, read.to.tax_number) == (5, "a@b.c", "5")
    assert (read.description, read.idempotency_key) == ("oi", "pk")
    assert json.loads(read.to.sent) == TO_KEY


def test_a_payout_to_an_account():
    read = payout({**TO_ACCOUNT, "nome": "M", "estranho": "x"})

    assert (read.to.bank, read.to.branch, read.to.account, read.to.key) == ("341", "1", "2-3", None)
    assert json.loads(read.to.sent) == {**TO_ACCOUNT, "nome": "M"}


def test_the_same_order_written_otherwise_is_the_same():
    """A repetition is known by its content: order of names and unknown fields do not matter."""
    other = dict(reversed(TO_KEY.items()))

    assert payout(TO_KEY).content() == payout({**other, "x": 1}).content()
    assert payout(TO_KEY).content() != payout({**TO_KEY, "documento": "6"}).content()


@cases(
    "to",
    [
        {**TO_KEY, "forma": "boleto"},
        {**TO_KEY, "tipo_chave": "iban"},
        {**TO_KEY, "chave": ""},
        {**TO_KEY, "documento": None},
        {**TO_ACCOUNT, "banco": "34"},
        {**TO_ACCOUNT, "banco": "3411"},
        {**TO_ACCOUNT, "agencia": 1},
        {**TO_ACCOUNT, "conta": None},
        {**TO_ACCOUNT, "tipo_conta": "checking"},
        {},
        "a@b.c",
    ],
)
def test_a_wrong_destination_is_refused(to):
    with pytest.raises(Refusal) as refused:
        payout(to)

    assert refused.value.code == "INVALID_REQUEST"


@cases("value", [0, -1, 10.5, "5", None, 10**15])
def test_a_wrong_amount_is_refused(value):
    with pytest.raises(Refusal, match="valor_centavos"):
        payout(TO_KEY, valor_centavos=value)


@cases("key", ["", "a b", "é", "x" * 65, "a\n"])
def test_a_wrong_idempotency_key_is_refused(key):
    with pytest.raises(Refusal, match="Idempotency-Key"):
        payout(TO_KEY, key)


def test_a_charge():
    full = {
        **CHARGE,
        "valor_centavos": 5,
        "expira_em_s": 60,
        "reutilizavel": True,
        "pagador": {"nome": "M", "documento": "5"},
    }

    read = rows.read_charge(body(full))

    assert (read.type, read.centavos, read.expires_in) == ("dynamic", 5, 60_000_000)
    assert (read.reusable, read.payer.name, read.payer.message) == (True, "M", "")
    assert rows.read_charge(body(CHARGE)).payer is None


@cases(
    "wrong",
    [
        {"referencia": ""},
        {"tipo": "dynamic"},
        {"chave": None},
        {"valor_centavos": 0},
        {"expira_em_s": 0},
        {"expira_em_s": 10**12},
        {"reutilizavel": "sim"},
        {"pagador": "M"},
        {"pagador": {"nome": "M"}},
    ],
)
def test_a_wrong_charge_is_refused(wrong):
    with pytest.raises(Refusal) as refused:
        rows.read_charge(body({**CHARGE, **wrong}))

    assert refused.value.code == "INVALID_REQUEST"


@cases(("word", "kind"), [("telefone", "phone"), ("aleatoria", "evp")])
def test_a_key(word, kind):
    read = rows.read_key(body({"tipo": word}))

    assert (read.type, read.key) == (kind, None)
