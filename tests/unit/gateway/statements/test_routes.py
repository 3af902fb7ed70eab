"""The row of the statement as operators read it."""

from __future__ import annotations

import msgspec

from gateway.banks.port.providers import Unavailable
from gateway.core import errors
from gateway.core.money import Money
from gateway.core.windows import Paging
from gateway.http.rendering import dumps
from gateway.statements.model import (
    LinkedEntry,
    LinkedStatement,
    Sums,
)
from gateway.statements.routes import linked_statement
from tests.unit.gateway.http.surface import OFFICE, becomes, line
from tests.unit.gateway.statements.linked_statements import PAYOUT, entry
from tests.world.standing import TODAY


def shown(*entries: LinkedEntry):
    days = {TODAY: Sums(went_out=100, debit_count=1)}
    found = LinkedStatement(
        entries=entries,
        paging=Paging(1, 25),
        total=len(entries),
        sums=Sums(),
        chosen=Sums(),
        days=days,
        read_at=None,
    )
    return linked_statement(found, OFFICE)


def test_the_row_is_the_one_decided():
    assert line("linked_statement") == ("GET", "/statement", "transaction:read", 200)


def test_a_payout_is_named_only_where_there_is_one():
    as_ordered = msgspec.structs.replace(entry("E1"), value=PAYOUT.value)
    ours, other = shown(
        LinkedEntry(as_ordered, PAYOUT, None), LinkedEntry(entry("E2"), None, None)
    )["data"]

    assert ours["payout"] == {"reference": "order-1", "certainty": "sent_unknown"}
    assert (ours["unexplained"], other["unexplained"]) == (False, True)
    assert "payout" not in other
    assert "charge" not in other


def test_money_that_went_out_in_another_amount_than_ordered_is_told():
    less = msgspec.structs.replace(entry("E1"), value=Money(PAYOUT.value.centavos - 1))

    (told,) = shown(LinkedEntry(less, PAYOUT, None))["data"]

    assert dumps(told["payout"]["ordered"]).decode() == str(PAYOUT.value)
    assert dumps(told["payout"]["difference"]) == b"-0.01"


def test_each_day_has_its_sums():
    (day,) = shown()["days"]

    assert (day.day, day.debit_count) == ("2026-11-20", 1)


def test_a_bank_that_does_not_answer_is_told_as_such():
    assert becomes("linked_statement", Unavailable("x")) == errors.STATEMENT_UNAVAILABLE.name
