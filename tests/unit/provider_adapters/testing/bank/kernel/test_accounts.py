"""Accounts: found by id, token and coordinates; a balance is all that is owned."""

from __future__ import annotations

from dataclasses import replace

import pytest

from provider_adapters.testing.bank.kernel import accounts
from provider_adapters.testing.bank.kernel.refusals import Refusal


def test_an_account_is_found_in_three_ways(books, open_account):
    account = open_account("cc_9")

    found = [
        accounts.get(books, "cc_9"),
        accounts.by_token(books, "token of cc_9"),
        accounts.by_coordinates(books, account.branch, account.number),
    ]

    assert found == [account] * 3
    assert accounts.list_all(books) == [account]


def test_a_token_is_not_kept(books, account):
    """Only its digest is, as with a real bank."""
    rows = books.database.all("SELECT * FROM accounts")

    assert "token of" not in str(rows)


@pytest.mark.parametrize("token", ["", "token of cc_2", "TOKEN OF CC_1"])
def test_another_token_opens_nothing(books, account, token):
    assert accounts.by_token(books, token) is None


@pytest.mark.parametrize(
    "other",
    [{"number": "2", "token": "2"}, {"id": "2", "number": "2"}, {"id": "2", "token": "2"}],
    ids=["id", "token", "coordinates"],
)
def test_what_exists_is_not_opened_again(books, account, other):
    token = other.pop("token", "token of cc_1")

    with pytest.raises(Refusal) as refused:
        accounts.add(books, replace(account, **other), token)

    assert (refused.value.status, refused.value.code) == (409, "ALREADY_EXISTS")


def test_an_unknown_account_is_not_found(books):
    with pytest.raises(Refusal, match="account not found"):
        accounts.get(books, "cc_0")


def test_a_balance_is_what_is_owned_and_held(books, account):
    balance = accounts.balance(books, account.id)

    assert (balance.owned, balance.blocked, balance.available) == (1_000_000_00, 0, 1_000_000_00)
