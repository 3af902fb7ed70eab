"""What people type to find something in a list."""

from __future__ import annotations

import pytest

from gateway.core.money import Money
from gateway.core.terms import search_term


@pytest.mark.parametrize(
    ("text", "centavos"),
    [
        *(("203,81", 20_381), ("203.81", 20_381), ("R$ 1.234,56", 123_456), ("-9,90", 990)),
        *(("r$1234", 123_400), ("1,234.56", 123_456), ("R$ 1.234", 123_400)),
        *(("1.234", None), ("1234", None), ("529.982", None), ("12,3", None), ("PED-1", None)),
        *(("", None), ("9" * 40 + ",00", None)),
    ],
)
def test_a_search_term_is_read_as_an_amount_in_either_notation(text: str, centavos: int | None):
    assert search_term(text).centavos == centavos


def test_a_search_term_matches_part_of_a_word_without_case_or_accents():
    assert search_term(" goncalves ").fits([], "E1", "Rafael GONÇALVES")
    assert search_term("").fits([Money(1)])
    assert not search_term("silva").fits([Money(1)], "Rafael")


def test_several_words_of_a_search_term_match_in_one_field():
    assert search_term("maria  conceicao").fits([], "Maria da Conceição")
    assert search_term("conceicao maria").fits([], "E1", "Maria da Conceição")
    assert not search_term("maria conceicao").fits([], "Maria", "Conceição")


def test_an_amount_matches_itself_and_a_text_that_contains_it():
    assert search_term("2,03").fits([Money(1), Money(203)])
    assert search_term("2,03").fits([Money(1)], "parcela 2,03")
    assert not search_term("2,03").fits([Money(20_300)])
