"""Who paid, as far as a bank says it."""

from __future__ import annotations

from gateway.banks.port.charges import Charge, ChargeStatus, ChargeType, Party, Payer
from gateway.core.money import Money
from provider_adapters.kit.payers import payer_of, unpaid_of


def test_a_payer_without_values_is_none():
    assert [payer_of(None, None), payer_of("", "", "")] == [None, None]


def test_known_parts_of_a_payer_are_kept():
    assert payer_of("Maria", None) == Payer(name="Maria")
    assert payer_of(None, "52998224725", "Obrigada") == Payer(
        tax_number="52998224725", message="Obrigada"
    )


def test_an_unpaid_charge_is_a_transaction_without_a_payment():
    charge = Charge(
        reference="r", type=ChargeType.DYNAMIC, key="", value=Money(1050),
        status=ChargeStatus.ACTIVE, emv="", reusable=False, payer=Payer(name="Maria"),
        receiver=Party(), city="", zip_code="", created_at=None, expires_at=None,
    )  # fmt: skip

    shown = unpaid_of(charge)

    assert (shown.reference, shown.value, shown.payer) == ("r", Money(1050), charge.payer)
    assert (shown.paid_at, shown.e2e_id) == (None, "")
