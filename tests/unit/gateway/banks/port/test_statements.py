"""Movements: the two directions by name; the rest of the module is data."""

import pytest

from gateway.banks.port.charges import Party
from gateway.banks.port.statements import Direction
from tests.world.movements import movement


def test_the_directions_have_the_words_of_the_contract():
    """Contract 2.7."""
    assert [each.value for each in Direction] == ["credit", "debit"]


@pytest.mark.parametrize(
    ("value", "part"), [(movement(), "value"), (Party(), "name")], ids=["a movement", "a party"]
)
def test_what_a_bank_told_does_not_change(value: object, part: str):
    with pytest.raises(AttributeError):
        setattr(value, part, "another")


def test_movements_that_tell_the_same_are_equal():
    """A page read twice is recognised."""
    assert movement() == movement()
    assert movement() != movement(provider_id="trf_8")
