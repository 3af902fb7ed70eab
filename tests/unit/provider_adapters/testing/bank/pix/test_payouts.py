"""Payouts are accepted once, refused for a listed reason, and kept."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from provider_adapters.testing.bank.kernel import accounts
from provider_adapters.testing.bank.kernel.accounts import PayoutKind
from provider_adapters.testing.bank.kernel.paging import Slice
from provider_adapters.testing.bank.kernel.refusals import Refusal
from provider_adapters.testing.bank.pix import keys, payouts, settlement
from provider_adapters.testing.bank.pix.keys import NewKey

E2E = re.compile(r"E99999999202611201340[a-zA-Z0-9]{11}")


def of_kind(account, kind):
    """The kind counts as it stands in the account that orders."""
    return replace(account, payout_kind=kind)


def send(books, account, order):
    """What the customers' interface does."""
    return payouts.repeated(books, account, order) or payouts.accept(books, account, order)


def test_accepting_holds_the_money(books, account, order):
    made = payouts.accept(books, account, order(10_50))

    balance = accounts.balance(books, account.id)

    assert (made.state, made.centavos, made.failure) == ("processing", 10_50, None)
    assert E2E.fullmatch(made.e2e_id)
    assert (balance.owned, balance.blocked) == (1_000_000_00, 10_50)
    assert balance.available == 1_000_000_00 - 10_50


def test_an_idem_bank_repeats_its_answer(books, account, order):
    first = send(books, account, order())

    again = send(books, account, order())

    assert again == first
    assert len(payouts.executions(books, "pk-1")) == 1


def test_an_idem_bank_refuses_other_content(books, account, order):
    send(books, account, order(10_50))

    with pytest.raises(Refusal) as refused:
        send(books, account, order(10_51))

    assert (refused.value.status, refused.value.code) == (422, "KEY_REUSED")


@pytest.mark.parametrize("centavos", [10_50, 10_51], ids=["same", "other"])
def test_a_dup_bank_refuses_a_known_key(books, account, order, centavos):
    account = of_kind(account, PayoutKind.DUP)
    send(books, account, order(10_50))

    with pytest.raises(Refusal) as refused:
        send(books, account, order(centavos))

    assert (refused.value.status, refused.value.code) == (409, "DUPLICATE")
    assert len(payouts.executions(books, "pk-1")) == 1


def test_a_bank_of_kind_none_executes_again(books, account, order):
    account = of_kind(account, PayoutKind.NONE)
    first = send(books, account, order())

    second = send(books, account, order())

    assert first.id != second.id
    assert len(payouts.executions(books, "pk-1")) == 2
    assert payouts.by_key(books, account.id, "pk-1") == first


@pytest.mark.parametrize("kind", PayoutKind, ids=str)
def test_without_a_key_nothing_is_a_repeat(books, account, order, kind):
    account = of_kind(account, kind)
    send(books, account, order(key=None))

    send(books, account, order(key=None))

    assert len(payouts.executions(books, None)) == 2


def test_a_key_belongs_to_its_account(books, open_account, order):
    one, other = open_account("cc_1"), open_account("cc_2")

    first, second = send(books, one, order()), send(books, other, order())

    assert first.id != second.id
    with pytest.raises(Refusal, match="not found"):
        payouts.get(books, other.id, first.id)


def test_a_dup_key_stays_known_after_a_failure(books, account, order, wall):
    """The payout failed later; the key was used all the same."""
    account = of_kind(account, PayoutKind.DUP)
    send(books, account, order(777_02))
    wall.move(1)
    settlement.settle_due(books)

    with pytest.raises(Refusal, match="used before"):
        send(books, account, order(777_02))


def test_a_refused_order_leaves_its_key_free(books, account, order):
    with pytest.raises(Refusal):
        send(books, account, order(777_03))

    assert send(books, account, order(10_50)).state == "processing"


def test_a_refusal_stores_nothing(books, account, order):
    with pytest.raises(Refusal) as refused:
        payouts.accept(books, account, order(1_000_000_01))

    assert (refused.value.code, refused.value.status) == ("INSUFFICIENT_FUNDS", 400)
    assert payouts.executions(books, None) == []
    assert accounts.balance(books, account.id).blocked == 0


def test_all_there_is_may_be_paid_out(books, account, order):
    assert payouts.accept(books, account, order(1_000_000_00)).centavos == 1_000_000_00


def test_held_money_cannot_be_paid_out_again(books, account, order):
    payouts.accept(books, account, order(600_000_00))

    with pytest.raises(Refusal, match="not that much"):
        payouts.accept(books, account, order(600_000_00, key="pk-2"))


def test_the_owner_of_a_key_of_this_bank_is_checked(books, open_account, order):
    payer, payee = open_account("cc_1"), open_account("cc_2", tax_number="52998224725")
    keys.add(books, payee.id, NewKey(type="email", key="payee@example.com"))

    wrong = replace(order().to, key="payee@example.com", tax_number="11144477735")

    with pytest.raises(Refusal) as refused:
        payouts.accept(books, payer, replace(order(), to=wrong))

    assert refused.value.code == "OWNER_MISMATCH"


def test_the_list_is_newest_first_by_page(books, account, order, wall):
    made = []
    for number in range(5):
        made.append(payouts.accept(books, account, order(key=f"pk-{number}")).id)
        wall.move(number % 2)

    first = payouts.read(books, account.id, Slice(limit=2))
    start = books.clock.micros() + 1
    everything = payouts.read(books, account.id, Slice(limit=5))

    assert [payout.id for payout in first.items] == made[:-3:-1]
    assert (first.cursor is None, everything.cursor) == (False, None)
    assert payouts.read(books, account.id, Slice(since=start)).items == []


def test_executions_are_by_key_or_all(books, account, order):
    payouts.accept(books, account, order(1, key="a"))
    payouts.accept(books, account, order(2, key="b"))

    assert [row.paid for row in payouts.executions(books, "b")] == [2]
    assert [row.idempotency_key for row in payouts.executions(books, None)] == ["a", "b"]


def test_a_list_is_read_by_position_and_counted(books, account, order):
    made = [payouts.accept(books, account, order(key=f"pk-{n}")) for n in range(5)]

    page = payouts.read(books, account.id, Slice(limit=2, skip=1))

    assert page.items == [made[3], made[2]]
    assert page.total == 5
    assert payouts.read(books, account.id, Slice(since=made[0].created_at + 1)).total == 0
