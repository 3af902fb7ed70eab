"""A held payout waits for its deadline, unless the bank decides before."""

from __future__ import annotations

import pytest

from provider_adapters.testing.bank.kernel import accounts
from provider_adapters.testing.bank.kernel.refusals import Refusal
from provider_adapters.testing.bank.pix import payouts, settlement
from provider_adapters.testing.sandbox import documents


def said(books, made) -> tuple[str, object]:
    """What the customer is shown of a payout."""
    settlement.settle_due(books)
    shown = documents.payout(payouts.get(books, made.account_id, made.id))
    return shown["situacao"], shown["em_analise_ate"]


def test_a_held_payout_settles_at_its_deadline_and_not_before(books, account, order, wall):
    made = payouts.accept(books, account, order())
    payouts.hold(books, made, 600)

    wall.move(599.9)
    before = said(books, made)
    wall.move(0.1)

    assert before == ("EM_ANALISE", "2026-11-20T13:50:11.123Z")
    assert said(books, made) == ("LIQUIDADA", None)


def test_the_money_stays_blocked_while_it_is_held(books, account, order, wall):
    made = payouts.accept(books, account, order(10_50))
    payouts.hold(books, made, 600)
    wall.move(60)
    settlement.settle_due(books)

    assert accounts.balance(books, account.id).blocked == 10_50


@pytest.mark.parametrize(("refuse", "state"), [(False, "LIQUIDADA"), (True, "FALHOU")])
def test_the_bank_may_decide_early(books, account, order, refuse, state):
    made = payouts.accept(books, account, order())
    payouts.hold(books, made, 600)

    payouts.release(books, payouts.anywhere(books, made.id), refuse=refuse)

    assert said(books, made) == (state, None)


def test_the_next_payout_is_held_and_no_other(books, account, order, wall):
    payouts.hold_next(books, account.id, 60)

    first = payouts.accept(books, account, order(key="pk-1"))
    second = payouts.accept(books, account, order(key="pk-2"))
    wall.move(1)

    assert said(books, first)[0] == "EM_ANALISE"
    assert said(books, second)[0] == "LIQUIDADA"


@pytest.mark.parametrize("seconds", [0, -1, 3601])
def test_no_hold_is_longer_than_an_hour(books, account, order, seconds):
    made = payouts.accept(books, account, order())

    for hold in (
        lambda: payouts.hold(books, made, seconds),
        lambda: payouts.hold_next(books, account.id, seconds),
    ):
        with pytest.raises(Refusal, match="seconds"):
            hold()


def test_what_has_settled_is_not_held_any_more(books, account, order, wall):
    made = payouts.accept(books, account, order())
    wall.move(1)
    settlement.settle_due(books)

    with pytest.raises(Refusal, match="under way"):
        payouts.hold(books, payouts.anywhere(books, made.id), 60)


def test_what_is_not_held_is_not_released(books, account, order):
    made = payouts.accept(books, account, order())

    with pytest.raises(Refusal, match="not held"):
        payouts.release(books, made, refuse=True)


def test_who_listens_is_told_that_a_payout_is_held(books, account, order):
    made = payouts.accept(books, account, order(key="pk-1"))

    payouts.hold(books, made, 60)

    [notice] = books.database.all("SELECT * FROM notices WHERE kind = 'transferencia'")
    assert (notice["account_id"], notice["subject"]) == (account.id, made.id)
