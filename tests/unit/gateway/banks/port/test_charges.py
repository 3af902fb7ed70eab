"""Charges: when one can no longer be paid."""

from datetime import timedelta

import pytest

from gateway.banks.port.charges import ChargeOrder, ChargeStatus, ChargeType
from gateway.core.money import Money
from tests.world.charges import charge
from tests.world.standing import NOON

SECOND = timedelta(seconds=1)


def test_an_active_charge_expires_at_its_instant():
    """Contract 2.4: an expired charge cannot be paid; a paid or cancelled one keeps its state."""
    cases = [
        (ChargeStatus.ACTIVE, None, False),
        (ChargeStatus.ACTIVE, NOON + SECOND, False),
        (ChargeStatus.ACTIVE, NOON, True),
        (ChargeStatus.ACTIVE, NOON - SECOND, True),
        (ChargeStatus.PAID, NOON - SECOND, False),
        (ChargeStatus.CANCELED, NOON - SECOND, False),
    ]

    wrong = [
        (status, expires_at, expired)
        for status, expires_at, expired in cases
        if charge(status=status, expires_at=expires_at).is_expired(NOON) is not expired
    ]

    assert wrong == []


def test_charge_status_and_type_have_the_contract_s_values():
    assert [each.value for each in ChargeStatus] == ["Active", "Paid", "Canceled"]
    assert [each.value for each in ChargeType] == ["Static", "Dynamic"]


def test_an_invalid_charge_order_is_refused():
    cases = [{"value": Money(0)}, {"value": Money(-1)}, {"expires_in": 0}, {"expires_in": -1}]

    for wrong in cases:
        plain = {"reference": "r", "type": ChargeType.DYNAMIC, "key": "a@example.com"}

        with pytest.raises(ValueError, match="charge"):
            ChargeOrder(**{**plain, **wrong})  # type: ignore[arg-type]


def test_a_charge_may_have_no_amount_expiry_or_payer():
    order = ChargeOrder(reference="r", type=ChargeType.STATIC, key="a@example.com")

    assert (order.value, order.expires_in, order.payer) == (None, None, None)
