"""The statement: newest first, by window, its sum what the customer owns."""

from __future__ import annotations

import pytest

from provider_adapters.testing.bank.kernel import statement
from provider_adapters.testing.bank.kernel.paging import Slice
from provider_adapters.testing.bank.pix import payouts, received_payments, settlement
from provider_adapters.testing.bank.pix.received_payments import Payment


@pytest.fixture
def lines(books, open_account):
    """Five payments, two of them at one instant, the last dated back."""
    account = open_account(centavos=0)
    for at in (10, 20, 20, 30, 5):
        payment = Payment(account_id=account.id, centavos=at, at=at, e2e_id=books.e2e_id(at))
        with books.database.transaction():
            received_payments.receive(books, payment)
    return account


def test_the_newest_is_first_whenever_it_was_written(books, lines):
    page = statement.read(books, lines.id, Slice())

    assert [(line.at, line.seq) for line in page.items] == [
        (30, 4),
        (20, 3),
        (20, 2),
        (10, 1),
        (5, 5),
    ]
    assert page.cursor is None


def test_the_window_is_half_open(books, lines):
    page = statement.read(books, lines.id, Slice(since=10, until=30))

    assert [line.at for line in page.items] == [20, 20, 10]


def test_another_customer_sees_nothing_of_it(books, lines, open_account):
    other = open_account("cc_2", centavos=0)

    assert statement.read(books, other.id, Slice()).items == []


def test_an_incoming_line_has_a_number_and_a_payout_its_own_id(books, lines):
    line = statement.read(books, lines.id, Slice(limit=1)).items[0]
    values = {"account_id": "a", "centavos": -1, "at": 0, "payout_id": "trf_1", "seq": 7}

    assert line.id == "1000000004"
    assert statement.Entry(kind="pix_out", **values).id == "trf_1"
    assert statement.Entry(kind="pix_returned", **values).id == "1000000007"


def test_a_payout_s_lines_repeat_its_idempotency_key(books, account, order, wall):
    """What went out and what came back; R$ 777.09 does both."""
    for centavos, key in [(777_09, "k-1"), (10_50, None)]:
        payouts.accept(books, account, order(centavos, key=key))
    wall.move(10)
    settlement.settle_due(books)

    lines = statement.read(books, account.id, Slice()).items

    assert sorted((line.kind, line.idempotency_key or "") for line in lines) == [
        ("pix_in", ""),
        ("pix_out", ""),
        ("pix_out", "k-1"),
        ("pix_returned", "k-1"),
    ]


def test_lines_are_counted_in_their_window(books, lines):
    assert statement.read(books, lines.id, Slice(limit=1)).total == 5
    assert statement.read(books, lines.id, Slice(until=20)).total == 2
