"""Money that comes in is in the ledger, the statement and the list at once."""

from __future__ import annotations

import sqlite3

import pytest

from provider_adapters.testing.bank.kernel import accounts, statement
from provider_adapters.testing.bank.kernel.paging import Slice
from provider_adapters.testing.bank.kernel.refusals import Refusal
from provider_adapters.testing.bank.pix import received_payments
from provider_adapters.testing.bank.pix.received_payments import Payer, Payment

MARIA = Payer(name="Maria", tax_number="52998224725", message="oi")


def receive(books, account, centavos, at=0, **more):
    payment = Payment(
        account_id=account.id, centavos=centavos, at=at, e2e_id=books.e2e_id(at), **more
    )
    with books.database.transaction():
        return received_payments.receive(books, payment)


def test_a_payment_is_seen_everywhere(books, open_account):
    account = open_account(centavos=0)

    paid = receive(books, account, 10_50, payer=MARIA, reference="r-1")

    line = statement.read(books, account.id, Slice()).items[0]
    assert accounts.balance(books, account.id).owned == 10_50
    assert (line.seq, line.kind, line.centavos, line.name, line.description) == (
        paid.seq,
        "pix_in",
        10_50,
        "Maria",
        "oi",
    )
    assert received_payments.read(books, account.id, Slice()).items == [paid]
    assert received_payments.latest(books, account.id, "r-1") == paid


def test_nobody_need_be_named(books, open_account):
    account = open_account(centavos=0)

    receive(books, account, 1, reference="r-1")

    assert received_payments.latest(books, account.id, "r-1").payer is None


def test_the_latest_payment_counts(books, open_account):
    account = open_account(centavos=0)
    receive(books, account, 1, reference="r-1", at=5)

    second = receive(books, account, 2, reference="r-1", at=5)

    assert received_payments.latest(books, account.id, "r-1") == second
    assert received_payments.latest(books, account.id, "r-2") is None


def test_a_failed_payment_leaves_nothing(books, open_account):
    account = open_account(centavos=0)

    with pytest.raises(sqlite3.IntegrityError):
        receive(books, account, 0)

    assert received_payments.read(books, account.id, Slice()).items == []


def test_a_payment_is_found_by_its_end_to_end_id(books, open_account):
    account, other = open_account(centavos=0), open_account("cc_2", centavos=0)
    paid = receive(books, account, 7)

    assert received_payments.by_e2e_id(books, account.id, paid.e2e_id) == paid
    with pytest.raises(Refusal, match="not found"):
        received_payments.by_e2e_id(books, other.id, paid.e2e_id)


def test_all_payments_of_a_charge_are_found_oldest_first(books, open_account):
    account = open_account(centavos=0)
    paid = [receive(books, account, 1, reference="r-1") for _ in range(2)]
    receive(books, account, 1, reference="r-2")

    assert received_payments.of_charge(books, account.id, "r-1") == paid
    assert received_payments.read(books, account.id, Slice()).total == 3
