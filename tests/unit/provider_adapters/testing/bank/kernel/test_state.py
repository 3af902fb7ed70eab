"""What a dialect keeps beside the books."""

from __future__ import annotations

from dataclasses import replace

from provider_adapters.testing.bank.kernel import state
from provider_adapters.testing.bank.kernel.state import Kept

TOKEN = Kept(kind="token", name="t-1", value="cc_1", account_id="cc_1")


def test_a_value_is_found_by_kind_and_name_and_replaced(books):
    state.put(books, TOKEN)
    state.put(books, replace(TOKEN, value="other"))

    assert state.find(books, "token", "t-1") == replace(TOKEN, value="other")
    assert state.find(books, "key", "t-1") is None


def test_a_value_is_gone_when_its_time_has_come(books, wall):
    until = books.clock.micros() + 1_000_000
    state.put(books, replace(TOKEN, until=until))

    assert state.find(books, "token", "t-1") == replace(TOKEN, until=until)
    wall.move(1)
    assert state.find(books, "token", "t-1") is None
    assert state.of_account(books, "token", "cc_1") == []


def test_an_accounts_values_are_listed_oldest_first(books):
    for number in range(3):
        state.put(books, replace(TOKEN, name=f"t-{number}"))
    state.put(books, replace(TOKEN, name="t-9", account_id="cc_2"))
    state.remove(books, "token", "t-1")
    state.remove(books, "token", "t-1")

    assert [each.name for each in state.of_account(books, "token", "cc_1")] == ["t-0", "t-2"]
