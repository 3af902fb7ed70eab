"""A balance is a value: nobody changes one that was read."""

import pytest

from gateway.banks.port.statements import Balance
from gateway.core.money import Money


def test_a_balance_cannot_be_changed():
    """It is as the provider told it at one moment (contract 2.3)."""
    found = Balance(balance=Money(1050), blocked=Money(0), updated_at=None)

    with pytest.raises(AttributeError, match="immutable"):
        found.balance = Money(2000)
