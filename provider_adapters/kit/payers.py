"""Who paid, or is asked to pay, as far as a bank names them."""

from __future__ import annotations

from gateway.domain.bank.charges import Payer
from gateway.domain.kernel.strict import cleaned_text


def payer_of(name: str | None, tax_number: str | None, message: str | None = None) -> Payer | None:
    """Make a payer; None where nothing is said: banks write nobody as an object of nulls, too."""
    if not (name or tax_number or message):
        return None
    return Payer(
        name=cleaned_text(name), tax_number=cleaned_text(tax_number), message=cleaned_text(message)
    )
