"""Amounts, times and words as people in Brazil read them."""

from datetime import UTC, date, datetime

import pytest
from babel.numbers import format_decimal

from gateway.banks.port.statements import Direction, MovementKind
from gateway.core.money import MAX_CENTAVOS, Money
from gateway.reports import texts
from tests.unit.reporting import entry


def test_an_amount_is_formatted_in_brazilian_style():
    cases = [
        (0, "0,00"),
        (5, "0,05"),
        (-5, "-0,05"),
        (-100, "-1,00"),
        (99999, "999,99"),
        (100000, "1.000,00"),
        (-123456789, "-1.234.567,89"),
        (MAX_CENTAVOS, "9.999.999.999.999,99"),
    ]

    wrong = [(centavos, text) for centavos, text in cases if texts.amount(Money(centavos)) != text]

    assert wrong == []


def test_an_amount_is_formatted_like_babel():
    """Compared with the tables of the Unicode consortium."""
    for centavos in [0, 1, -1, 10, 99, 100, -101, 12345678, 10**14, -(10**13)]:
        value = Money(centavos)

        oracle = format_decimal(str(value), format="#,##0.00", locale="pt_BR")

        assert texts.amount(value) == oracle


@pytest.mark.parametrize(
    ("at", "text"),
    [
        (datetime(2026, 11, 20, 12, 5, 59, tzinfo=UTC), "20/11/2026 09:05"),
        (datetime(2026, 11, 1, 2, 0, tzinfo=UTC), "31/10/2026 23:00"),
        (datetime(2018, 12, 1, 12, 0, tzinfo=UTC), "01/12/2018 10:00"),
    ],
    ids=["today", "the evening before", "summer time, given up in 2019"],
)
def test_a_time_is_shown_in_brasilia_time(at: datetime, text: str):
    assert texts.minute(at) == text


@pytest.mark.parametrize(
    ("at", "text"),
    [
        (datetime.min.replace(tzinfo=UTC), "01/01/0001 00:00"),
        (datetime.max.replace(tzinfo=UTC), "31/12/9999 20:59"),
    ],
)
def test_the_first_and_last_representable_instants_are_written(at: datetime, text: str):
    """Banks use year 1 for a missing time, which Brasília's zone cannot represent."""
    assert texts.minute(at) == text
    assert texts.second(at).startswith(text)


def test_a_day_is_written_as_dd_mm_yyyy():
    assert texts.day(date(2026, 1, 2)) == "02/01/2026"
    assert texts.day(date.min) == "01/01/0001"


def test_a_tax_number_has_its_punctuation():
    cases = [
        ("52998224725", "529.982.247-25"),
        ("11222333000181", "11.222.333/0001-81"),
        ("12ABC34501DE35", "12.ABC.345/01DE-35"),
        ("***982247**", "***982247**"),
        ("٥٢٩٩٨٢٢٤٧٢٥", "٥٢٩٩٨٢٢٤٧٢٥"),
        ("1", "1"),
        ("", ""),
    ]

    wrong = [(number, text) for number, text in cases if texts.tax_number(number) != text]

    assert wrong == []


def test_every_kind_has_a_name_for_both_directions():
    for kind in MovementKind:
        named = {
            texts.operation(entry(is_pix=False, kind=kind, direction=direction))
            for direction in Direction
        }

        assert len(named) == 2


def test_pix_of_an_unknown_kind_is_called_pix():
    named = texts.operation(entry(is_pix=True, kind=MovementKind.OTHER))

    assert named == "Pix recebido"
