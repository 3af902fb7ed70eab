"""Tax numbers, beside published numbers and beside a library that others wrote."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stdnum.br import cnpj, cpf

from gateway.core import strict

PUBLISHED: dict[str, Any] = json.loads(
    (Path(__file__).parents[1] / "vectors" / "identifiers.json").read_text()
)
LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
CPF_BODIES = st.text("0123456789", min_size=9, max_size=9)
CNPJ_BODIES = st.text("0123456789", min_size=12, max_size=12)
CNPJ_BODIES_WITH_LETTERS = st.text(LETTERS, min_size=12, max_size=12)
PUNCTUATION = st.lists(st.tuples(st.integers(0, 14), st.sampled_from("./- ")), max_size=6)


def taken(text: str) -> bool:
    try:
        strict.tax_number(text)
    except ValueError:
        return False
    return True


def checked(number: str) -> bool:
    """Say whether a whole number is one, as the library sees it and we do not."""
    library = cpf.is_valid(number) if len(number) == 11 else cnpj.is_valid(number)
    # The library takes a CPF of one repeated digit, which nobody has.
    return library and len(set(number)) > 1


def test_a_valid_published_number_is_accepted():
    wrong = [
        number
        for number in PUBLISHED["cpf"]["valid"] + PUBLISHED["cnpj"]["valid_numeric"]
        if strict.tax_number(number) != number
    ]

    assert wrong == []


def test_an_invalid_published_number_is_refused():
    wrong = [
        number
        for number in PUBLISHED["cpf"]["invalid"]
        + PUBLISHED["cpf"]["repeated_digits_with_valid_check_digits"]
        + PUBLISHED["cnpj"]["invalid"]
        if taken(number)
    ]

    assert wrong == []


def test_a_cnpj_with_letters_is_accepted_in_either_case():
    """By law since July 2026; the check digits are those of the Receita."""
    for number in PUBLISHED["cnpj"]["valid_alphanumeric"]:
        assert strict.tax_number(number) == number
        assert strict.tax_number(number.lower()) == number
        assert not taken(f"{number[:-2]}{(int(number[-2:]) + 1) % 100:02d}")


@given(CPF_BODIES, st.text("0123456789", min_size=2, max_size=2))
def test_a_cpf_is_accepted_exactly_with_right_check_digits(body: str, end: str):
    number = body + end

    assert taken(number) == checked(number)


@given(CPF_BODIES)
def test_every_cpf_of_the_library_is_accepted(body: str):
    number = body + cpf._calc_check_digits(body)

    assert taken(number) == checked(number)


@given(CNPJ_BODIES)
def test_every_cnpj_of_the_library_is_accepted(body: str):
    number = body + cnpj.calc_check_digits(body)

    assert taken(number) == checked(number)


@given(CNPJ_BODIES_WITH_LETTERS)
def test_every_cnpj_with_letters_of_the_library_is_accepted(body: str):
    number = body + cnpj.calc_check_digits(body)

    assert taken(number) == checked(number)


@given(CNPJ_BODIES_WITH_LETTERS, st.integers(0, 99))
def test_a_cnpj_is_accepted_exactly_with_right_check_digits(body: str, end: int):
    number = f"{body}{end:02d}"

    assert taken(number) == checked(number)


@given(CPF_BODIES, PUNCTUATION)
def test_punctuation_at_any_place_is_ignored(body: str, marks: list[tuple[int, str]]):
    number = body + cpf._calc_check_digits(body)
    spelt = number
    for place, mark in marks:
        spelt = spelt[:place] + mark + spelt[place:]

    assert taken(spelt) == taken(number)
    if taken(number):
        assert strict.tax_number(spelt) == number


def test_digits_of_other_scripts_and_other_punctuation_are_refused():
    text_cases = [
        "",
        "./- ",
        "5299822472",
        "529982247250",
        "1122233300018",
        "112223330001810",
        "529982247２5",
        "5299822472\u0665",
        "529.982.247\u201325",
        "529.982.247_25",
        "529\u00a0982\u00a0247\u00a025",
        "52998224725\n",
        "+52998224725",
        "5299822472X",
        "٥٢٩٩٨٢٢٤٧٢٥",
    ]

    wrong = [text for text in text_cases if taken(text)]

    assert wrong == []


@pytest.mark.parametrize(
    "body", ["\u0665" + "29982247", "11222333\u0660\uff10\u0661\u0661"], ids=ascii
)
def test_a_number_in_another_script_is_refused_with_any_check_digits(body: str):
    assert not any(taken(f"{body}{end:02d}") for end in range(100))
