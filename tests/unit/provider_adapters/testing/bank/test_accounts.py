"""The check of the books, by which tests elsewhere hold a bank to its word, can fail."""

from __future__ import annotations

from datetime import UTC, datetime

from provider_adapters.testing.bank import accounts, keys, payouts, received_payments, settlement
from provider_adapters.testing.bank.accounts import Account, Block, PayoutKind
from provider_adapters.testing.bank.books import open_books
from provider_adapters.testing.bank.keys import Destination, NewKey
from provider_adapters.testing.bank.payouts import Order
from provider_adapters.testing.bank.received_payments import Payment

NOW = datetime(2026, 11, 20, 13, 40, 11, 123456, tzinfo=UTC)

DAMAGE = {
    "another balance": "UPDATE accounts SET owned = owned + 1",
    "another line": "UPDATE statement SET centavos = centavos + 1 WHERE kind = 'pix_in'",
    "more blocked than owned": "UPDATE blocks SET centavos = 1000",
    "a line for no payout": "UPDATE payouts SET settled_at = NULL",
    "a payout without a line": "UPDATE statement SET kind = 'ted_out' WHERE kind = 'pix_out'",
    "lost between customers": "UPDATE statement SET e2e_id = NULL WHERE account_id = 'cc_2'",
    "a return without a line": "UPDATE payouts SET returns = '[[\"D1\", 1, 0]]'",
}


def test_damaged_accounts_are_detected(tmp_path):
    for place, (name, damage) in enumerate(DAMAGE.items()):
        numbers = iter(range(10**9))
        books = open_books(
            str(tmp_path / str(place)),
            now=lambda: NOW,
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
