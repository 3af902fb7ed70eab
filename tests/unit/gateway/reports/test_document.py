"""The content of a report, in any format."""

import pytest

from gateway.banks.port.statements import Direction, MovementKind
from gateway.core.money import Money, Sum
from gateway.reports.document import change, operation
from tests.unit.reporting import DOCUMENT, document, entry


def test_totals_are_summed_per_direction():
    told = document(
        entry(value=Money(100)),
        entry(value=Money(50)),
        entry(value=Money(7), direction=Direction.DEBIT),
    )

    assert (told.credits, told.debits) == (Sum(150), Sum(7))


def test_an_empty_report_has_totals_of_zero():
    assert (document().credits, document().debits) == (Sum(0), Sum(0))


def test_a_movement_has_the_operation_name_of_the_statement():
    """Contract 2.7: Pix In is a credit, Pix Out a debit; others have their kind."""
    cases = [
        (True, MovementKind.PIX, Direction.CREDIT, "Pix In"),
        (True, MovementKind.PIX, Direction.DEBIT, "Pix Out"),
        (True, MovementKind.PIX_RETURN, Direction.CREDIT, "Pix In"),
        (True, MovementKind.OTHER, Direction.DEBIT, "Pix Out"),
        (False, MovementKind.TED, Direction.CREDIT, "ted"),
        (False, MovementKind.FEE, Direction.DEBIT, "fee"),
        (False, MovementKind.OTHER, Direction.DEBIT, "other"),
    ]

    wrong = [
        (is_pix, kind, direction, name)
        for is_pix, kind, direction, name in cases
        if operation(entry(is_pix=is_pix, kind=kind, direction=direction)) != name
    ]

    assert wrong == []


@pytest.mark.parametrize(("direction", "sign"), [(Direction.CREDIT, 1), (Direction.DEBIT, -1)])
def test_a_debit_lowers_the_balance(direction: Direction, sign: int):
    assert change(entry(value=Money(5), direction=direction)) == Money(5 * sign)


def test_the_example_report_adds_up():
    """Opening balance plus all changes is the closing balance."""
    moved = sum(change(each).centavos for each in DOCUMENT.entries)

    assert DOCUMENT.opening.centavos + moved == DOCUMENT.closing.centavos
