"""What becomes of accepted refunds: at their own instant, once, in both statements."""

from __future__ import annotations

import pytest

from provider_adapters.testing.bank import (
    accounts,
    keys,
    payouts,
    received_payments,
    refunds,
    settlement,
)
from provider_adapters.testing.bank.books import Slice
from provider_adapters.testing.bank.keys import Destination, NewKey
from provider_adapters.testing.bank.payouts import Order
from provider_adapters.testing.bank.received_payments import Payer, Payment
from provider_adapters.testing.bank.refunds import RefundOrder

MARIA = Payer(name="Maria", tax_number="52998224725", message="oi")


@pytest.fixture
def give_back(books, account):
    """Let R$ 1,000.00 come in and order some of it back."""

    def ordered(centavos):
        at = books.clock.micros()
        payment = Payment(
            account_id=account.id, centavos=1000_00, at=at, e2e_id=books.e2e_id(at), payer=MARIA
        )
        with books.database.transaction():
            received_payments.receive(books, payment)
        order = RefundOrder(
            payment_e2e_id=payment.e2e_id, centavos=centavos, idempotency_key="rk-1"
        )
        return refunds.accept(books, account.id, order)

    return ordered


def test_nothing_is_due_before_its_time(books, give_back, wall):
    give_back(10_50)
    wall.move(0.299)

    assert settlement.settle_due(books) == 0


def test_it_settles_at_its_instant_and_shows_in_the_statement(books, account, give_back, wall):
    made = give_back(10_50)
    owned = accounts.balance(books, account.id).owned
    wall.move(3600)

    done = settlement.settle_due(books)

    settled = refunds.get(books, account.id, made.id)
    line = accounts.statement(books, account.id, Slice()).items[0]
    assert (done, settled.state) == (1, "settled")
    assert settled.settled_at == made.created_at + 300_000
    assert (line.kind, line.centavos, line.id, line.e2e_id) == (
        "pix_refund",
        -10_50,
        made.id,
        made.return_id,
    )
    assert (line.name, line.tax_number, line.idempotency_key) == ("Maria", "52998224725", None)
    held = accounts.balance(books, account.id)
    assert (held.owned, held.blocked) == (owned - 10_50, 0)
    assert settlement.settle_due(books) == 0


def test_one_that_fails_releases_its_money(books, account, give_back, wall):
    made = give_back(777_02)
    owned = accounts.balance(books, account.id).owned
    wall.move(1)

    settlement.settle_due(books)

    failed = refunds.get(books, account.id, made.id)
    assert (failed.state, failed.failure, failed.settled_at) == ("failed", "REJECTED", None)
    assert accounts.balance(books, account.id).available == owned
    assert received_payments.by_e2e_id(books, account.id, made.payment_e2e_id).refunded == 0


def test_a_late_one_takes_its_time(books, give_back, wall):
    give_back(777_01)
    wall.move(29)
    early = settlement.settle_due(books)
    wall.move(1)

    assert (early, settlement.settle_due(books)) == (0, 1)


def test_inside_the_house_the_other_customer_is_credited(books, account, open_account, wall):
    """His payout came back, and his statement says under which key."""
    other = open_account("cc_2", name="Padaria")
    keys.add(books, account.id, NewKey(type="email", key="loja@example.com"))
    to = Destination(key="loja@example.com", tax_number=account.tax_number, sent="{}")
    made = payouts.accept(books, other, Order(centavos=50_00, to=to, idempotency_key="pk-1"))
    wall.move(1)
    settlement.settle_due(books)
    before = accounts.balance(books, other.id).owned

    back = RefundOrder(payment_e2e_id=made.e2e_id, centavos=20_00, idempotency_key="rk-1")
    refund = refunds.accept(books, account.id, back)
    wall.move(1)
    settlement.settle_due(books)

    line = accounts.statement(books, other.id, Slice()).items[0]
    assert accounts.balance(books, other.id).owned == before + 20_00
    assert (line.kind, line.centavos, line.e2e_id, line.idempotency_key, line.name) == (
        "pix_returned",
        20_00,
        refund.return_id,
        "pk-1",
        account.name,
    )
