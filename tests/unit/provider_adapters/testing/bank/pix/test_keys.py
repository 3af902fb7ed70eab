"""Keys: one live owner each, some ids UUIDs and some not."""

from __future__ import annotations

import re
import uuid

import pytest

from provider_adapters.testing.bank.kernel.refusals import Refusal
from provider_adapters.testing.bank.pix import keys
from provider_adapters.testing.bank.pix.keys import NewKey


@pytest.mark.parametrize(
    ("kind", "has_uuid"),
    [("cpf", False), ("cnpj", False), ("phone", False), ("email", True), ("evp", True)],
)
def test_an_id_is_a_uuid_or_not_by_type(books, account, kind, has_uuid):
    """Banks differ in this; an adapter has to cope with both."""
    made = keys.add(books, account.id, NewKey(type=kind, key="k"))

    assert bool(re.fullmatch(r"CH[0-9]{10}", made.id)) != has_uuid
    assert not has_uuid or str(uuid.UUID(made.id)) == made.id


def test_a_random_key_is_made_up(books, account):
    made = keys.add(books, account.id, NewKey(type="evp", key=None))

    assert str(uuid.UUID(made.key)) == made.key


def test_keys_are_listed_oldest_first_cancelled_ones_too(books, account):
    first = keys.add(books, account.id, NewKey(type="email", key="a"))
    second = keys.add(books, account.id, NewKey(type="email", key="b", id="X"))
    canceled = keys.cancel(books, account.id, first.id)

    assert keys.list_all(books, account.id) == [canceled, second]
    assert (canceled.status, second.id) == ("canceled", "X")
    assert keys.cancel(books, account.id, first.id) == canceled


def test_a_key_has_one_live_owner(books, open_account):
    one, other = open_account("cc_1"), open_account("cc_2")
    made = keys.add(books, one.id, NewKey(type="email", key="a"))
    with pytest.raises(Refusal) as refused:
        keys.add(books, other.id, NewKey(type="email", key="a"))
    keys.cancel(books, one.id, made.id)

    again = keys.add(books, other.id, NewKey(type="email", key="a"))

    assert refused.value.code == "KEY_IN_USE"
    assert keys.active(books, "a") == again


def test_a_key_of_another_is_not_found(books, open_account):
    one, other = open_account("cc_1"), open_account("cc_2")
    made = keys.add(books, one.id, NewKey(type="email", key="a"))

    with pytest.raises(Refusal, match="key not found"):
        keys.get(books, other.id, made.id)


@pytest.mark.parametrize(
    "new",
    [
        NewKey(type="iban", key="a"),
        NewKey(type="cpf", key=None),
        NewKey(type="email", key=""),
    ],
    ids=["type", "absent", "empty"],
)
def test_a_wrong_key_is_refused(books, account, new):
    with pytest.raises(Refusal) as refused:
        keys.add(books, account.id, new)

    assert refused.value.code == "INVALID_REQUEST"
