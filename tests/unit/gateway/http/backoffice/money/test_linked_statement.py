"""The row of the statement as operators read it."""

from __future__ import annotations

from gateway.domain.bank.providers import Unavailable
from gateway.domain.kernel import errors
from gateway.domain.kernel.windows import Paging
from gateway.http.backoffice.money.linked_statement import linked_statement
from gateway.operations.backoffice.money.linked_statements import (
    LinkedEntry,
    LinkedStatement,
    Sums,
)
from tests.unit.gateway.http.backoffice.surface import OFFICE, becomes, line
from tests.unit.gateway.operations.backoffice.money.linked_statements import PAYOUT, entry
from tests.world.standing import TODAY


def shown(*entries: LinkedEntry):
    days = {TODAY: Sums(debits=100, debit_count=1)}
    found = LinkedStatement(
        entries=entries,
        paging=Paging(1, 25),
        total=len(entries),
        sums=Sums(),
        days=days,
        read_at=None,
    )
    return linked_statement(found, OFFICE)


def test_the_row_is_the_one_decided():
    assert line("linked_statement") == ("GET", "/statement", "transaction:read", 200)


def test_a_payout_is_named_only_where_there_is_one():
    ours, other = shown(
        LinkedEntry(entry("E1"), PAYOUT, None), LinkedEntry(entry("E2"), None, None)
    )["data"]

    assert ours["payout"] == {"reference": "order-1", "certainty": "sent_unknown"}
    assert (ours["unexplained"], other["unexplained"]) == (False, True)
    assert "payout" not in other
    assert "charge" not in other


def test_each_day_has_its_sums():
    (day,) = shown()["days"]

    assert (day["day"], day["debit_count"]) == ("2026-11-20", 1)


def test_a_bank_that_does_not_answer_is_told_as_such():
    assert becomes("linked_statement", Unavailable("x")) == errors.STATEMENT_UNAVAILABLE.name
