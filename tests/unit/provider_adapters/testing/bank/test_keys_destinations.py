"""Destinations: outside unless they are ours, and then the owner has to fit."""

from __future__ import annotations

import pytest

from provider_adapters.testing.bank import keys
from provider_adapters.testing.bank.keys import Destination, NewKey
from provider_adapters.testing.bank.messages import Refusal


def to(tax_number="11222333000181", **where):
    return Destination(tax_number=tax_number, sent="{}", **where)


@pytest.fixture
def customer(books, account):
    keys.add(books, account.id, NewKey(type="email", key="ours@example.com"))
    return account


@pytest.mark.parametrize(
    "where",
    [
        {"key": "anybody@example.com"},
        {"bank": "341", "branch": "0001", "account": "cc_1-7"},
        {"bank": "60701190", "branch": "1", "account": "5"},
    ],
    ids=["key", "same numbers elsewhere", "ISPB"],
)
def test_anybody_outside_is_accepted(books, customer, where):
    assert keys.resolve(books, to(**where)) is None


@pytest.mark.parametrize(
    "where",
    [
        {"key": "ours@example.com"},
        {"bank": "999", "branch": "0001", "account": "cc_1-7"},
        {"bank": "99999999", "branch": "0001", "account": "cc_1-7"},
    ],
    ids=["key", "COMPE", "ISPB"],
)
def test_a_customer_of_this_bank_is_known(books, customer, where):
    assert keys.resolve(books, to(**where)) == customer.id
    with pytest.raises(Refusal, match="owner"):
        keys.resolve(books, to("52998224725", **where))


def test_an_account_this_bank_does_not_have_is_refused(books, customer):
    with pytest.raises(Refusal) as refused:
        keys.resolve(books, to(bank="999", branch="0001", account="1-1"))

    assert refused.value.code == "ACCOUNT_INVALID"


def test_a_key_of_this_bank_tells_its_owner(books, customer):
    owner = keys.look_up(books, "ours@example.com")

    assert (owner.name, owner.tax_number, owner.type) == (
        customer.name,
        customer.tax_number,
        "email",
    )
    assert (owner.ispb, owner.branch, owner.account) == ("99999999", "0001", customer.number)


@pytest.mark.parametrize(
    ("key", "kind"),
    [
        ("a@b.c", "email"),
        ("+5511999999999", "phone"),
        ("52998224725", "cpf"),
        ("11222333000181", "cnpj"),
        ("123e4567-e89b-12d3-a456-426614174000", "evp"),
    ],
)
def test_a_foreign_key_tells_a_masked_owner(books, key, kind):
    owner = keys.look_up(books, key)

    assert (owner.type, owner.tax_number) == (kind, "***.982.247-**")


def test_the_magic_keys_hold_for_lookups(books):
    other = keys.look_up(books, "owner@example.com")

    with pytest.raises(Refusal) as refused:
        keys.look_up(books, "notfound@example.com")

    assert other.tax_number == "***.000.001-**"
    assert (refused.value.status, refused.value.code) == (404, "KEY_NOT_FOUND")
