"""Movements: the two directions by name; the rest of the module is data."""

from gateway.domain.statements import Direction


def test_the_directions_have_the_words_of_the_contract():
    """Contract 2.7."""
    assert [each.value for each in Direction] == ["credit", "debit"]
