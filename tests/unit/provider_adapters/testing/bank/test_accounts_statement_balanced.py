"""The books agree with each other whatever happens."""

from __future__ import annotations

import contextlib
import sqlite3
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from provider_adapters.testing.bank import (
    accounts,
    charges,
    keys,
    payouts,
    received_payments,
    settlement,
)
from provider_adapters.testing.bank.accounts import Account, Block, Entry, PayoutKind
from provider_adapters.testing.bank.books import open_books
from provider_adapters.testing.bank.charges import NewCharge
from provider_adapters.testing.bank.keys import Destination, NewKey
from provider_adapters.testing.bank.messages import Refusal
from provider_adapters.testing.bank.payouts import Order
from provider_adapters.testing.bank.received_payments import Payment


def test_a_customer_never_goes_below_zero(books, open_account):
    account = open_account(centavos=100)
    line = Entry(account_id=account.id, kind="fee", centavos=-101, at=0)

    with pytest.raises(sqlite3.IntegrityError):
        accounts.write_line(books, line)

    assert accounts.balance(books, account.id).owned == 100


def test_an_account_that_does_not_exist_takes_no_money(books):
    with pytest.raises(sqlite3.IntegrityError):
        accounts.write_line(books, Entry(account_id="nobody", kind="fee", centavos=1, at=0))


DAMAGE = {
    "another balance": "UPDATE accounts SET owned = owned + 1",
    "another line": "UPDATE statement SET centavos = centavos + 1 WHERE kind = 'pix_in'",
    "more blocked than owned": "UPDATE blocks SET centavos = 1000",
    "a line for no payout": "UPDATE payouts SET settled_at = NULL",
    "a payout without a line": "UPDATE statement SET kind = 'ted_out' WHERE kind = 'pix_out'",
    "lost between customers": "UPDATE statement SET e2e_id = NULL WHERE account_id = 'cc_2'",
    "a return without a line": "UPDATE payouts SET returns = '[[\"D1\", 1, 0]]'",
}


def test_damage_is_noticed(tmp_path, wall):
    """The check can fail: each way to break the books."""
    for place, (name, damage) in enumerate(DAMAGE.items()):
        numbers = iter(range(10**9))
        books = open_books(
            str(tmp_path / str(place)),
            now=wall,
            random_hex=lambda size, numbers=numbers: f"{next(numbers):0{2 * size}x}",
            settle_after_s=0,
        )
        for account_id in ("cc_1", "cc_2"):
            accounts.add(books, customer(account_id), account_id)
        keys.add(books, "cc_2", NewKey(type="email", key="2@example.com"))
        received = Payment(account_id="cc_1", centavos=700, at=0, e2e_id="E")
        received_payments.receive(books, received)
        accounts.block(books, "cc_1", Block(kind="bank", centavos=7, reference="", since=0))
        to = Destination(key="2@example.com", tax_number="11222333000181", sent="{}")
        payouts.accept(books, customer("cc_1"), Order(centavos=5, to=to))
        settlement.settle_due(books)
        assert accounts.balanced(books.database)

        books.database.run(damage)

        assert not accounts.balanced(books.database), name
        books.database.close()


def customer(account_id: str) -> Account:
    return Account(
        id=account_id,
        name="Loja",
        tax_number="11222333000181",
        branch="0001",
        number=account_id,
        city="Sao Paulo",
        zip_code="",
        payout_kind=PayoutKind.NONE,
        created_at=0,
    )


MAGIC = st.sampled_from([777_01, 777_02, 777_09, 777_12])
AMOUNTS = st.integers(1, 5_000_00) | MAGIC
PLACES = st.integers(0, 2)


class Bank(RuleBasedStateMachine):
    """Three customers who do anything, in any order, while time passes."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.seconds = 0
        numbers = iter(range(10**9))
        path = str(Path(self.folder.name) / "bank.db")
        self.books = open_books(
            path,
            now=self.now,
            random_hex=lambda size: f"{next(numbers):0{2 * size}x}",
            settle_after_s=0.3,
        )
        self.books.database.run("PRAGMA synchronous=OFF")  # nothing to be kept here
        self.people = [customer(f"cc_{place}") for place in range(3)]
        self.charges = 0
        for place, account in enumerate(self.people):
            accounts.add(self.books, account, f"token {place}")
            keys.add(self.books, account.id, NewKey(type="email", key=f"{place}@example.com"))
            self.receive_now(place, 2_000_00)

    def now(self):
        return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=self.seconds)

    @rule(place=PLACES, centavos=AMOUNTS)
    def receive(self, place, centavos):
        self.receive_now(place, centavos)

    def receive_now(self, place, centavos):
        at = self.books.clock.micros()
        payment = Payment(
            account_id=self.people[place].id, centavos=centavos, at=at, e2e_id=self.books.e2e_id(at)
        )
        received_payments.receive(self.books, payment)

    @rule(place=PLACES, to=st.integers(0, 4), centavos=AMOUNTS, key=st.sampled_from("abc"))
    def pay_out(self, place, to, centavos, key):
        destination = Destination(
            key=f"{to}@example.com", tax_number="11222333000181", sent=f'{{"nome": "{to}"}}'
        )
        order = Order(centavos=centavos, to=destination, idempotency_key=key)
        with contextlib.suppress(Refusal):
            payouts.accept(self.books, self.people[place], order)

    @rule(place=PLACES, centavos=AMOUNTS)
    def charge_and_pay(self, place, centavos):
        self.charges += 1
        new = NewCharge(reference=f"r{self.charges}", type="dynamic", key=f"{place}@example.com")
        made = charges.add(self.books, self.people[place], new)
        charges.pay(self.books, made, centavos, None)

    @rule(seconds=st.sampled_from([0, 1, 40]))
    def wait(self, seconds):
        self.seconds += seconds
        settlement.settle_due(self.books)

    @invariant()
    def balances(self):
        assert accounts.balanced(self.books.database)
        for account in self.people:
            held = accounts.balance(self.books, account.id)
            assert 0 <= held.blocked <= held.owned

    def teardown(self):
        self.seconds += 100
        settlement.settle_due(self.books)
        for account in self.people:
            assert accounts.balance(self.books, account.id).blocked == 0
        self.books.database.close()
        self.folder.cleanup()


Bank.TestCase.settings = settings(max_examples=40, stateful_step_count=20, deadline=None)
TestBank = Bank.TestCase
