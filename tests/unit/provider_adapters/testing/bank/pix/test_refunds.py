"""Refunds are accepted once per key, never above what came in."""

from __future__ import annotations

import pytest

from provider_adapters.testing.bank.kernel import accounts
from provider_adapters.testing.bank.kernel.paging import Slice
from provider_adapters.testing.bank.kernel.refusals import Refusal
from provider_adapters.testing.bank.pix import payouts, received_payments, refunds
from provider_adapters.testing.bank.pix.received_payments import Payment
from provider_adapters.testing.bank.pix.refunds import RefundOrder


@pytest.fixture
def paid(books, account):
    """R$ 100.00 that came in for a charge."""
    at = books.clock.micros()
    payment = Payment(
        account_id=account.id,
        centavos=100_00,
        at=at,
        e2e_id=books.e2e_id(at),
        reference="order-1",
    )
    return received_payments.receive(books, payment)


@pytest.fixture
def asked(paid):
    """An order to give some of it back."""

    def made(centavos=10_50, key="rk-1", **other):
        return RefundOrder(
            payment_e2e_id=paid.e2e_id, centavos=centavos, idempotency_key=key, **other
        )

    return made


def refusal_of(work, *given) -> str:
    with pytest.raises(Refusal) as refused:
        work(*given)
    return str(refused.value.code)


def test_an_accepted_one_holds_its_money(books, account, asked, paid):
    made = refunds.accept(books, account.id, asked(reference="r-1", description="oops"))

    held = accounts.balance(books, account.id)
    assert held.blocked == 10_50
    assert (made.state, made.centavos, made.reference, made.description) == (
        "processing",
        10_50,
        "r-1",
        "oops",
    )
    assert (made.payment_e2e_id, made.payment_reference) == (paid.e2e_id, "order-1")
    assert (made.return_id[0], len(made.return_id)) == ("D", 32)
    assert received_payments.by_e2e_id(books, account.id, paid.e2e_id).refunded == 10_50


def test_it_is_found_by_id_by_key_and_in_the_list(books, account, asked):
    made = refunds.accept(books, account.id, asked())

    assert refunds.get(books, account.id, made.id) == made
    assert refunds.by_key(books, account.id, "rk-1") == made
    assert refunds.read(books, account.id, Slice()).items == [made]


def test_nobody_else_finds_it(books, account, asked, open_account):
    made = refunds.accept(books, account.id, asked())
    other = open_account("cc_2")

    assert refusal_of(refunds.get, books, other.id, made.id) == "NOT_FOUND"
    assert refusal_of(refunds.by_key, books, other.id, "rk-1") == "NOT_FOUND"
    assert refusal_of(refunds.accept, books, other.id, asked(key="rk-2")) == "NOT_FOUND"


def test_a_key_is_good_for_one_refund_whatever_payouts_do(books, account, asked):
    """Decisions 9: a refund given must never be given twice; no account kind is asked."""
    made = refunds.accept(books, account.id, asked())

    assert refunds.repeated(books, account.id, asked()) == made
    assert refunds.repeated(books, account.id, asked(key="rk-2")) is None


@pytest.mark.parametrize(
    "other", [{"centavos": 10_51}, {"reference": "r-2"}, {"description": "x"}], ids=str
)
def test_a_key_of_another_refund_is_refused(books, account, asked, other):
    refunds.accept(books, account.id, asked())

    assert refusal_of(refunds.repeated, books, account.id, asked(**other)) == "KEY_REUSED"


def test_parts_come_to_no_more_than_the_whole(books, account, asked):
    refunds.accept(books, account.id, asked(60_00))

    assert refusal_of(refunds.accept, books, account.id, asked(40_01, "rk-2")) == "ABOVE_PAYMENT"
    assert refunds.accept(books, account.id, asked(40_00, "rk-3")).centavos == 40_00


def test_more_than_is_there_is_refused(books, account, asked, order):
    all_of_it = accounts.balance(books, account.id).available
    payouts.accept(books, account, order(all_of_it))

    assert refusal_of(refunds.accept, books, account.id, asked()) == "INSUFFICIENT_FUNDS"


@pytest.mark.parametrize(("days", "refused"), [(90, False), (90.1, True)])
def test_after_ninety_days_it_is_too_late(books, account, asked, wall, *, days, refused):
    """API Pix 2.9."""
    order = asked()
    wall.move(days * 86400)

    if refused:
        assert refusal_of(refunds.accept, books, account.id, order) == "PAYMENT_TOO_OLD"
    else:
        assert refunds.accept(books, account.id, order).state == "processing"


@pytest.mark.parametrize(("centavos", "code"), [(777_03, "REJECTED"), (777_04, "NOT_ALLOWED")])
def test_magic_amounts_are_refused(books, account, asked, centavos, code):
    assert refusal_of(refunds.accept, books, account.id, asked(centavos)) == code
    assert refunds.read(books, account.id, Slice()).items == []


def test_what_fails_later_was_never_executed(books, account):
    at = books.clock.micros()
    payment = Payment(account_id=account.id, centavos=1000_00, at=at, e2e_id=books.e2e_id(at))
    with books.database.transaction():
        received_payments.receive(books, payment)
    for number, centavos in enumerate((777_02, 1_00)):
        order = RefundOrder(
            payment_e2e_id=payment.e2e_id, centavos=centavos, idempotency_key=f"rk-{number}"
        )
        refunds.accept(books, account.id, order)

    assert [one.centavos for one in refunds.executed(books, None)] == [1_00]
    assert refunds.executed(books, "rk-0") == []
    assert len(refunds.executed(books, "rk-1")) == 1


def test_the_list_goes_page_by_page_newest_first(books, account, asked, wall):
    for number in range(3):
        wall.move(1)
        refunds.accept(books, account.id, asked(10 + number, f"rk-{number}"))

    first = refunds.read(books, account.id, Slice(limit=2))

    assert [one.centavos for one in first.items] == [12, 11]
    assert first.cursor is not None


def test_all_refunds_of_a_payment_are_found_oldest_first(books, account, asked, paid):
    made = [refunds.accept(books, account.id, asked(1_00, f"rk-{n}")) for n in range(2)]

    assert refunds.of_payment(books, paid) == made
    assert refunds.read(books, account.id, Slice(limit=1)).total == 2
