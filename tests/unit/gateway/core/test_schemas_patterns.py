"""What the patterns of the descriptions let through is what the strict readers let through."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.core import schemas, strict
from gateway.payouts import bodies as payout

TEXTS = st.text(st.sampled_from("aZ09.-_/ \n\t\x00\x7f\x9fé😀"), max_size=12)
ALLOWED = {schemas.PLAIN_TEXT: strict.plain_text, schemas.REFERENCE: strict.reference}


def takes(reader: Callable[[str], object], text: str) -> bool:
    try:
        reader(text)
    except strict.Malformed:
        return False
    return True


def fits(pattern: str, text: str) -> bool:
    """Match as JSON Schema does: ``$`` is the very end."""
    return re.search(pattern.removesuffix("$") + r"\Z", text) is not None


@pytest.mark.parametrize("pattern", ALLOWED)
@given(text=TEXTS)
def test_each_pattern_matches_what_its_reader_accepts(pattern: str, text: str):
    assert fits(pattern, text) is takes(ALLOWED[pattern], text)


def test_the_reference_pattern_matches_what_its_reader_accepts():
    cases = ["", ".", "..", "...", "..a", ".a", "a.", "a", "\n", "a\n", "é"]

    wrong = [
        text for text in cases if fits(schemas.REFERENCE, text) is not takes(strict.reference, text)
    ]

    assert wrong == []


@pytest.mark.parametrize(
    ("pattern", "reader"),
    [
        (schemas.BANK_NUMBER, payout._FORMS["bank_number"]),
        (schemas.BRANCH, payout._FORMS["branch"]),
        (schemas.ACCOUNT, payout._FORMS["account"]),
    ],
)
@given(text=st.text(st.sampled_from("0123456789-xA"), max_size=24))
def test_the_coordinate_patterns_match_what_their_readers_accept(
    pattern: str, reader: re.Pattern[str], text: str
):
    assert fits(pattern, text) is (reader.fullmatch(text) is not None)


@pytest.mark.parametrize("text", ["529.982.247-25", "52998224725", "11.222.333/0001-81"])
def test_the_tax_number_pattern_accepts_punctuation(text: str):
    assert fits(schemas.TAX_NUMBER, text)
    assert takes(strict.tax_number, text)


@given(text=TEXTS)
def test_the_name_pattern_refuses_blank_names(text: str):
    named = takes(strict.plain_text, text) and bool(text.strip())

    assert fits(schemas.NAME, text) is named
