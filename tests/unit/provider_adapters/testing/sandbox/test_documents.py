"""The bank's documents have exactly the names of the sandbox README."""

from __future__ import annotations

import json
import re
from pathlib import Path

from provider_adapters.testing.bank.kernel import accounts, statement
from provider_adapters.testing.bank.kernel.paging import Page, Slice
from provider_adapters.testing.bank.pix import (
    charges,
    destinations,
    keys,
    payouts,
    received_payments,
)
from provider_adapters.testing.bank.pix.charges import NewCharge
from provider_adapters.testing.bank.pix.keys import NewKey
from provider_adapters.testing.bank.pix.received_payments import Payer
from provider_adapters.testing.sandbox import documents

README = Path("provider_adapters/sandbox/README.md").read_text(encoding="utf-8")


def example(first: str, last: str) -> set[str]:
    """Give the names of the README's example that begins and ends with these names."""
    blocks = re.findall(r"```json\n(.*?)```", README, re.DOTALL)
    found = [
        names for block in blocks if first in (names := list(json.loads(block))) and last in names
    ]
    return set(found[0])


def charged(books, account, **more):
    keys.add(books, account.id, NewKey(type="email", key="a@b.c"))
    new = NewCharge(reference="r", type="dynamic", key="a@b.c", **more)
    return charges.add(books, account, new)


def test_a_balance(books, account):
    shown = documents.balance(accounts.balance(books, account.id), 0)

    assert set(shown) == example("saldo_centavos", "atualizado_em")


def test_a_key(books, account):
    made = keys.add(books, account.id, NewKey(type="phone", key="+55"))

    shown = documents.key(made)

    assert set(shown) == example("situacao", "criada_em") & set(shown)
    assert (shown["tipo"], shown["situacao"]) == ("telefone", "ATIVA")


def test_an_owner(books):
    shown = documents.owner(destinations.look_up(books, "a@b.c"))

    assert set(shown) == {
        "chave",
        "tipo",
        "titular",
        "banco",
        "nome_banco",
        "ispb",
        "agencia",
        "conta",
    }


def test_a_charge_by_its_states(books, account, wall):
    made = charged(books, account, expires_in=1_000_000, payer=Payer(name="M", tax_number="5"))
    at = books.clock.micros()

    shown = documents.charge(made, account, at)

    assert set(shown) == example("txid", "copia_e_cola")
    assert (shown["situacao"], shown["tipo"]) == ("ATIVA", "DINAMICA")
    assert shown["pagador"] == {"nome": "M", "documento": "5", "mensagem": ""}
    assert documents.charge(made, account, at + 1_000_000)["situacao"] == "EXPIRADA"


def test_what_is_not_there_is_null(books, account):
    shown = documents.charge(charged(books, account), account, 0)

    assert (shown["valor_centavos"], shown["pagador"], shown["expira_em"]) == (None, None, None)


def test_a_payment(books, account):
    made = charged(books, account, centavos=5)
    before = documents.charge_payment(made, None)
    paid = charges.pay(books, made, None, Payer(name="M", tax_number="5"))

    shown = documents.charge_payment(made, paid)

    assert set(shown) == set(before) == example("pagamento", "referencia")
    assert before["pagamento"] is None
    assert shown["pagamento"]["pagador"]["nome"] == "M"
    assert documents.received(paid)["referencia"] == "r"
    assert received_payments.latest(books, account.id, "r").e2e_id == shown["pagamento"]["e2e"]


def test_a_line_of_the_statement(books, account):
    line = statement.read(books, account.id, Slice()).items[0]

    shown = documents.page("lancamentos", Page([line], "next"), documents.entry)

    inner = re.search(r'"lancamentos": \[\s*(\{.*?\})\],', README, re.DOTALL)[1]
    assert set(shown["lancamentos"][0]) == set(json.loads(inner))
    assert (shown["lancamentos"][0]["natureza"], shown["proximo_cursor"]) == ("C", "next")


def test_a_payout(books, account, order):
    made = payouts.accept(books, account, order(10_50, sent='{"forma": "chave"}'))

    shown = documents.payout(made)

    assert set(shown) == example("chave_idempotencia", "devolvida_em")
    assert (shown["situacao"], shown["destino"]) == ("EM_PROCESSAMENTO", {"forma": "chave"})
