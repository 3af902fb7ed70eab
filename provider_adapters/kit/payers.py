"""Payers as banks name them, and unpaid charges."""

from __future__ import annotations

from gateway.banks.port.charges import Charge, ChargePayment, Payer
from gateway.core.strict import cleaned_text


def payer_of(name: str | None, tax_number: str | None, message: str | None = None) -> Payer | None:
    """Build a payer; None without data: some banks write an object of nulls."""
    if not (name or tax_number or message):
        return None
    return Payer(
        name=cleaned_text(name), tax_number=cleaned_text(tax_number), message=cleaned_text(message)
    )


def unpaid_of(charge: Charge) -> ChargePayment:
    """Return an unpaid charge as a transaction."""
    return ChargePayment(
        reference=charge.reference,
        value=charge.value,
        created_at=charge.created_at,
        paid_at=None,
        e2e_id="",
        payer=charge.payer,
    )
