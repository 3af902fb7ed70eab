"""Blocks add up to what the balance calls blocked, whatever was blocked and released."""

from __future__ import annotations

import pytest

from provider_adapters.testing.bank import accounts, payouts, settlement
from provider_adapters.testing.bank.accounts import Block
from provider_adapters.testing.bank.messages import Refusal


def blocking(centavos: int, kind: str = "court", reference: str = "0001-22", since: int = 1):
    return Block(kind=kind, centavos=centavos, reference=reference, since=since)


def together(books, account) -> int:
    return sum(each.centavos for each in accounts.blocks(books, account.id))


@pytest.mark.parametrize("kind", accounts.BLOCK_KINDS)
def test_a_block_is_listed_as_it_was_ordered(books, open_account, kind):
    account = open_account(centavos=500)

    accounts.block(books, account.id, blocking(99, kind))

    assert accounts.blocks(books, account.id) == [blocking(99, kind)]
    assert accounts.balance(books, account.id) == accounts.Balance(owned=500, blocked=99)


def test_no_more_is_blocked_than_there_is(books, open_account):
    account = open_account(centavos=98)

    with pytest.raises(Refusal, match="not that much"):
        accounts.block(books, account.id, blocking(99))

    assert accounts.blocks(books, account.id) == []


@pytest.mark.parametrize(("released", "left"), [(1, [99, 50]), (100, [50]), (120, [30]), (150, [])])
def test_the_oldest_block_ends_first(books, open_account, released, left):
    account = open_account(centavos=500)
    for centavos in (100, 50):
        accounts.block(books, account.id, blocking(centavos))

    accounts.unblock(books, account.id, released)

    assert [each.centavos for each in accounts.blocks(books, account.id)] == left
    assert together(books, account) == accounts.balance(books, account.id).blocked


def test_no_more_is_released_than_is_blocked(books, open_account):
    account = open_account(centavos=500)
    accounts.block(books, account.id, blocking(99))

    with pytest.raises(Refusal, match="not that much"):
        accounts.unblock(books, account.id, 100)

    assert together(books, account) == 99


def test_a_payout_under_way_is_a_block_of_the_bank_until_it_settles(books, account, order, wall):
    accounts.block(books, account.id, blocking(99))
    made = payouts.accept(books, account, order(10_50))

    [_, under_way] = accounts.blocks(books, account.id)
    assert (under_way.kind, under_way.centavos, under_way.since) == ("bank", 10_50, made.created_at)
    assert together(books, account) == accounts.balance(books, account.id).blocked

    wall.move(1)
    settlement.settle_due(books)
    assert accounts.blocks(books, account.id) == [blocking(99)]
