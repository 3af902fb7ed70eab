"""Settled payouts that come back, wholly or in part."""

from __future__ import annotations

import json

import pytest

from provider_adapters.testing import sandbox
from provider_adapters.testing.bank import accounts, payouts, settlement
from provider_adapters.testing.bank.books import Slice
from provider_adapters.testing.bank.messages import Refusal


@pytest.fixture
def settled(books, account, order, wall):
    """A payout of R$ 10.50 that has arrived at another bank."""
    made = payouts.accept(books, account, order(10_50))
    wall.move(1)
    settlement.settle_due(books)
    return lambda: payouts.get(books, account.id, made.id)


def test_a_part_comes_back_and_the_payout_stays_settled(books, account, settled):
    before = accounts.balance(books, account.id).owned

    settlement.order_back(books, settled(), 4_00)

    [[made, _, _]] = json.loads(settled().returns)
    shown = sandbox.payout_document(settled())
    assert (shown["situacao"], shown["devolvida_em"]) == ("LIQUIDADA", None)
    assert [(each["id"], each["valor_centavos"]) for each in shown["devolucoes"]] == [(made, 4_00)]
    assert accounts.balance(books, account.id).owned == before + 4_00
    assert made.startswith("D99999999")


def test_once_all_of_it_is_back_it_is_returned(books, settled):
    settlement.order_back(books, settled(), 4_00)
    settlement.order_back(books, settled(), None)

    assert settled().state == "returned"
    assert [centavos for _, centavos, _ in json.loads(settled().returns)] == [4_00, 6_50]


def test_a_return_is_a_line_of_the_statement_with_its_own_id(books, account, settled):
    settlement.order_back(books, settled(), 4_00)

    [[made, _, _]] = json.loads(settled().returns)
    line = accounts.statement(books, account.id, Slice()).items[0]
    assert (line.kind, line.centavos, line.e2e_id) == ("pix_returned", 4_00, made)
    assert line.idempotency_key == "pk-1"


@pytest.mark.parametrize("parts", [[10_51], [4_00, 6_51], [None, None]])
def test_no_more_comes_back_than_was_paid(books, settled, parts):
    *before, last = parts
    for part in before:
        settlement.order_back(books, settled(), part)

    with pytest.raises(Refusal):
        settlement.order_back(books, settled(), last)


def test_what_has_not_settled_cannot_come_back(books, account, order):
    made = payouts.accept(books, account, order())

    with pytest.raises(Refusal, match="not settled"):
        settlement.order_back(books, made, None)


def test_who_listens_is_told_of_every_return(books, settled):
    for _ in range(2):
        settlement.order_back(books, settled(), 1_00)

    told = books.database.all("SELECT kind, subject FROM notices WHERE kind LIKE 'transf%'")
    assert told == [
        {"kind": "transferencia", "subject": settled().id},
        *[{"kind": "transferencia_devolvida", "subject": settled().id}] * 2,
    ]
