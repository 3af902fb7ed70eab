"""Addresses of customers, and what nobody took."""

from __future__ import annotations

import pytest

from provider_adapters.testing.bank.kernel import listeners
from provider_adapters.testing.bank.kernel.listeners import Event, EventKind
from provider_adapters.testing.bank.kernel.refusals import Refusal

URL = "http://127.0.0.1:8080/callbacks/p/t"


def test_an_address_is_kept_once_with_its_last_secret(books, open_account):
    account = open_account()
    first = listeners.add(books, account.id, URL, "00")

    again = listeners.add(books, account.id, URL, "ff")

    assert (again.id, again.secret) == (first.id, "ff")
    assert listeners.of(books, account.id) == [again]
    assert "ff" not in repr(again)


def test_addresses_are_of_one_account(books, open_account):
    one, other = open_account("cc_1"), open_account("cc_2")
    made = listeners.add(books, one.id, URL, "")

    assert listeners.of(books, other.id) == []
    with pytest.raises(Refusal, match="not found"):
        listeners.remove(books, other.id, made.id)
    assert listeners.remove(books, one.id, made.id) == made
    assert listeners.of(books, one.id) == []


def test_there_are_ten_of_them_at_most(books, open_account):
    account = open_account()
    for number in range(10):
        listeners.add(books, account.id, f"{URL}{number}", "")

    with pytest.raises(Refusal, match="at most"):
        listeners.add(books, account.id, URL, "")
    listeners.add(books, account.id, f"{URL}0", "01")


@pytest.mark.parametrize("url", ["http://10.0.0.1/", "https://127.0.0.1/", "http://[::1"])
def test_a_wrong_order_is_refused(books, open_account, url):
    account = open_account()

    with pytest.raises(Refusal):
        listeners.add(books, account.id, url, "")


def test_missed_events_are_read_and_forgotten_by_their_owner(books):
    due = {"evt_0": 0, "evt_1": None, "evt_2": None}
    for name, at in due.items():
        event = Event(id=name, kind=EventKind.CHARGE, account_id="c", subject="r")
        books.database.insert("notices", event, due_at=at)

    assert [each.id for each in listeners.missed(books, "c", 10)] == ["evt_1", "evt_2"]
    assert [each.id for each in listeners.missed(books, "c", 1)] == ["evt_1"]
    listeners.acknowledge(books, "other", ["evt_1"])
    listeners.acknowledge(books, "c", ["evt_0", "evt_2", "evt_9"])
    (left,) = listeners.missed(books, "c", 10)
    assert left == Event(id="evt_1", kind=EventKind.CHARGE, account_id="c", subject="r")
