"""Movements that are not Pix are in the ledger and the statement, with their kind."""

from __future__ import annotations

import pytest

from provider_adapters.testing.bank.control import movements
from provider_adapters.testing.bank.control.movements import OtherMovement
from provider_adapters.testing.bank.kernel import accounts, ledger, statement
from provider_adapters.testing.bank.kernel.paging import Slice
from provider_adapters.testing.bank.kernel.refusals import Refusal


@pytest.mark.parametrize(
    ("kind", "centavos"),
    [("fee", -99), ("ted_in", 99), ("ted_out", -99), ("boleto_in", 99), ("boleto_out", -99)],
)
def test_each_kind_has_its_direction(books, open_account, kind, centavos):
    account = open_account(centavos=500)

    seq = movements.book(
        books, OtherMovement(account_id=account.id, kind=kind, centavos=99, at=0, name="Maria")
    )

    line = next(one for one in statement.read(books, account.id, Slice()).items if one.seq == seq)
    assert (line.kind, line.centavos, line.e2e_id, line.name) == (kind, centavos, None, "Maria")
    assert line.description == movements.DESCRIPTIONS[kind]
    assert accounts.balance(books, account.id).owned == 500 + centavos


def test_a_fee_is_what_the_bank_earns(books, open_account):
    account = open_account(centavos=500)

    movements.book(
        books,
        OtherMovement(
            account_id=account.id, kind="fee", centavos=99, at=0, description="Cesta mensal"
        ),
    )

    line = statement.read(books, account.id, Slice()).items[-1]
    assert ledger.balance(books.database, ledger.FEES) == 99
    assert line.description == "Cesta mensal"


@pytest.mark.parametrize("kind", ["fee", "ted_out", "boleto_out"])
def test_no_more_leaves_than_there_is(books, open_account, kind):
    account = open_account(centavos=98)

    with pytest.raises(Refusal) as refused:
        movements.book(books, OtherMovement(account_id=account.id, kind=kind, centavos=99, at=0))

    assert refused.value.code == "INSUFFICIENT_FUNDS"
    assert accounts.balance(books, account.id).owned == 98
