"""Settlement does what is due, at its own instant, once."""

from __future__ import annotations

import pytest

from provider_adapters.testing.bank import accounts, keys, payouts, settlement
from provider_adapters.testing.bank.books import Slice
from provider_adapters.testing.bank.keys import NewKey


def test_nothing_is_due_before_its_time(books, account, order, wall):
    payouts.accept(books, account, order())
    wall.move(0.299999)

    assert settlement.settle_due(books) == 0


def test_a_step_happens_at_its_instant_however_late_anybody_looks(books, account, order, wall):
    made = payouts.accept(books, account, order())
    wall.move(3600)

    done = settlement.settle_due(books)

    settled = payouts.get(books, account.id, made.id)
    assert (done, settled.state) == (1, "settled")
    assert settled.settled_at == made.created_at + 300_000
    assert settlement.settle_due(books) == 0


def test_a_return_follows_its_settlement_in_one_go(books, account, order, wall):
    made = payouts.accept(books, account, order(777_09))
    wall.move(3600)

    done = settlement.settle_due(books)

    returned = payouts.get(books, account.id, made.id)
    assert (done, returned.state) == (2, "returned")
    assert returned.returned_at == returned.settled_at + 300_000


def test_the_payers_statement_shows_the_payout_when_it_settles(books, account, order, wall):
    made = payouts.accept(books, account, order(10_50, name="Maria", tax_number="5"))
    before = accounts.statement(books, account.id, Slice()).items
    wall.move(1)
    settlement.settle_due(books)

    line = accounts.statement(books, account.id, Slice()).items[0]

    assert len(before) == 1
    assert (line.kind, line.centavos, line.id, line.e2e_id) == (
        "pix_out",
        -10_50,
        made.id,
        made.e2e_id,
    )
    assert (line.name, line.tax_number) == ("Maria", "5")


@pytest.mark.parametrize(
    ("centavos", "credited"),
    [(10_50, 10_50), (777_12, 777_11), (777_02, 0), (777_09, 0)],
    ids=str,
)
def test_another_customer_of_this_bank_is_credited(
    books, open_account, order, wall, *, centavos, credited
):
    """Inside the house the money goes to the other customer; what comes back never went there."""
    payer = open_account("cc_1")
    payee = open_account("cc_2", centavos=0, tax_number="52998224725")
    keys.add(books, payee.id, NewKey(type="email", key="maria@example.com"))
    payouts.accept(books, payer, order(centavos))
    wall.move(1)

    settlement.settle_due(books)

    assert accounts.balance(books, payee.id).owned == credited
    lines = accounts.statement(books, payee.id, Slice()).items
    assert [(line.kind, line.name) for line in lines] == [("pix_in", payer.name)] * bool(credited)


def test_the_clock_may_go_back(books, account, order, wall):
    """A step already done stays done."""
    made = payouts.accept(books, account, order())
    wall.move(1)
    settlement.settle_due(books)
    wall.move(-3600)

    payouts.accept(books, account, order(key="pk-2"))

    assert settlement.settle_due(books) == 0
    assert payouts.get(books, account.id, made.id).state == "settled"
    assert accounts.balance(books, account.id).blocked == 10_50
